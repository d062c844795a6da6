//! What git would follow in a git directory, or not accept as one.
//!
//! Git follows symbolic links in its own directory when it writes: it appends to the file behind `logs/HEAD` and truncates
//! the one behind `FETCH_HEAD`. A link as a directory of `objects` makes it read the objects of another repository. A pipe
//! makes it wait forever. Git creates none of them, so a repository with one is refused.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use super::{MAX_POINTER, Repository, RepositoryError, read, refused};
use crate::sandbox::{Directory, EntryKind};

/// Upper bound of the entries of a git directory that are examined.
const MAX_ENTRIES: usize = 1_000_000;
/// Entries of a git directory that may be links: git follows them only in a repository that the user trusts, and the
/// check for trust reads them.
const HOOKS: &str = "hooks";
/// Directories that are not entered. Submodules are checked as repositories of their own, before git enters them, and
/// neither git nor git-lfs reads the others.
const NOT_ENTERED: [&str; 4] = [HOOKS, "modules", "annex", "sl"];
/// Socket of git's own file system monitor, one for each worktree. Git does not use it for Loopgate.
const MONITOR_SOCKET: &str = "fsmonitor--daemon.ipc";
/// Directories whose subdirectories contain single objects.
const OBJECTS: [&str; 2] = ["objects", "lfs/objects"];

impl Repository {
    /// Checks that git accepts the git directory, and that it and the common directory contain no links and special files
    /// that git would open. Required before git is started. Reads the disk.
    ///
    /// # Errors
    /// Fails with [`RepositoryError`] when one of these does not hold, or a directory cannot be read.
    pub fn check_layout(&self) -> Result<(), RepositoryError> {
        let (git_dir, common_dir) = (&self.handles.git_dir, &self.handles.common_dir);
        check_tree(common_dir, is_entered)?;
        if self.git_dir != self.common_dir {
            check_tree(git_dir, is_entered)?;
        }
        // A program that starts git searches for another repository above, which nothing has checked.
        let head = read(git_dir, "HEAD", MAX_POINTER)?;
        if !head.is_some_and(|head| is_head(&head)) || !common_dir.exists(Path::new("refs")) {
            return refused("its git directory has no valid HEAD or no refs");
        }
        Ok(())
    }
}

/// Returns whether git accepts the content of a file HEAD: a ref, or a hash.
fn is_head(content: &[u8]) -> bool {
    match content.strip_prefix(b"ref:") {
        Some(name) => name.trim_ascii_start().starts_with(b"refs/"),
        None => content.get(..40).is_some_and(|hash| hash.iter().all(u8::is_ascii_hexdigit)),
    }
}

/// Checks a directory with objects that is not part of a git directory.
pub(super) fn check_objects(objects: &Directory) -> Result<(), RepositoryError> {
    check_tree(objects, |path| !is_hash_prefix(path.as_os_str()))
}

/// Returns whether a directory is examined, by its path in the git directory. Directories of single objects are not: git
/// finds an object by its hash, which the author of a link would have to know.
fn is_entered(path: &Path) -> bool {
    let is_objects = path.parent().is_some_and(|parent| OBJECTS.iter().any(|name| parent == Path::new(name)));
    let is_object_directory = is_objects && path.file_name().is_some_and(is_hash_prefix);
    let is_skipped = is_object_directory || NOT_ENTERED.iter().any(|name| path == Path::new(name));
    !is_skipped
}

/// Returns whether git opens no file of this name. Emacs creates a link `.#COMMIT_EDITMSG` while a user edits a message.
fn is_editor_lock(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(b".#")
}

fn is_hash_prefix(name: &OsStr) -> bool {
    let bytes = name.as_encoded_bytes();
    bytes.len() == 2 && bytes.iter().all(u8::is_ascii_hexdigit)
}

fn check_tree(root: &Directory, is_entered: impl Fn(&Path) -> bool) -> Result<(), RepositoryError> {
    let mut pending = vec![PathBuf::new()];
    let mut count = 0;
    while let Some(at) = pending.pop() {
        let entries = match root.directory(&at).and_then(|directory| directory.entries()) {
            // Git removes empty directories and temporary files at any time.
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => {
                return refused(format!("/{} in its git directory cannot be read: {error}", at.display()));
            }
            Ok(entries) => entries,
        };
        count += entries.len();
        if count > MAX_ENTRIES {
            return refused(format!("its git directory has more than {MAX_ENTRIES} files"));
        }
        for entry in entries {
            let path = at.join(&entry.name);
            let is_allowed = match entry.kind {
                EntryKind::File => true,
                EntryKind::Directory => {
                    if is_entered(&path) {
                        pending.push(path.clone());
                    }
                    true
                }
                EntryKind::Link => path == Path::new(HOOKS) || is_editor_lock(&entry.name),
                EntryKind::Other => entry.name == MONITOR_SOCKET,
            };
            if !is_allowed {
                return refused(format!(
                    "{} in its git directory is neither a file nor a directory",
                    path.display()
                ));
            }
        }
    }
    Ok(())
}
