//! Files that git ignores and that a new worktree needs nevertheless, such as `.env`.
//!
//! The file `.worktreeinclude` at the root of a clone names them, in the syntax of `.gitignore`. The assistant's own
//! worktrees follow it as well.

use std::ffi::OsStr;
use std::io::{self, Read as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use loopgate_home::{Directory, EntryKind, Repository};

use super::outgoing::listing;
use super::{Git, GitError};

/// Name of the file.
const INCLUDE: &str = ".worktreeinclude";
/// Upper bound of the size of all copies in bytes. Dependencies and build output are created by a set-up script instead.
const MAX_BYTES: u64 = 100 * 1024 * 1024;
/// Permission bits of a file that are copied.
const PERMISSIONS: u32 = 0o777;

impl Git {
    /// Copies the files that `.worktreeinclude` of the clone names into a new worktree: regular files that git ignores there
    /// and that the worktree does not have, up to 100 MiB. Symbolic links are not followed. Returns the paths of files that were
    /// not copied.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot list the files.
    pub async fn copy_included_files(&self, worktree: &Path) -> Result<Vec<PathBuf>, GitError> {
        let target = self.repository(worktree).await?;
        let source = self.repository(target.clone_root()).await?;
        if source.bare || source.handles.root.kind(Path::new(INCLUDE)) != Some(EntryKind::File) {
            return Ok(Vec::new());
        }
        let exclude_from = format!("--exclude-from={INCLUDE}");
        let args = ["ls-files", "--others", "--ignored", &exclude_from, "-z", "--", ".", ":!.loopgate"];
        let named = listing(self.reader_of(&source).await?.args(args), "ls-files").await?;
        let named: Vec<Vec<u8>> =
            named.split(|byte| *byte == 0).filter(|path| !path.is_empty()).map(<[u8]>::to_vec).collect();
        // The worktree decides, because a file that only the clone ignores would be delivered. The last matching rule may
        // be an exception.
        let rules = self.ignore_rules(&target.root, &named).await?;
        let is_ignored = |path: &Vec<u8>| rules.get(path).is_some_and(|rule| !rule.pattern.starts_with('!'));
        let paths: Vec<PathBuf> =
            named.iter().filter(|path| is_ignored(path)).map(|path| OsStr::from_bytes(path).into()).collect();
        let copied = tokio::task::spawn_blocking(move || copy_all(&source, &target, paths)).await;
        Ok(copied.unwrap_or_default())
    }
}

fn copy_all(source: &Arc<Repository>, target: &Arc<Repository>, paths: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut remaining = MAX_BYTES;
    let mut copy_one = |path: &PathBuf| {
        let copied = copy(&source.handles.root, &target.handles.root, path, remaining);
        if let Err(error) = &copied {
            tracing::info!(path = %path.display(), %error, "cannot copy a file into a new worktree");
        }
        copied.map(|bytes| remaining -= bytes).is_err()
    };
    paths.into_iter().filter(|path| copy_one(path)).collect()
}

/// Copies a regular file with its permissions and returns its size. Does nothing if the target exists.
fn copy(source: &Directory, target: &Directory, path: &Path, limit: u64) -> io::Result<u64> {
    if target.exists(path) {
        return Ok(0);
    }
    let file = source.open_file(path)?;
    let metadata = file.metadata()?;
    if metadata.len() > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let parent = target.create_directory(path.parent().unwrap_or(Path::new("")))?;
    let mut copy = parent.create_file(path.file_name().unwrap_or_default())?;
    // Bounded, because the file may grow while it is copied.
    let bytes = io::copy(&mut file.take(metadata.len()), &mut copy)?;
    copy.set_permissions(std::fs::Permissions::from_mode(metadata.permissions().mode() & PERMISSIONS))?;
    Ok(bytes)
}
