//! Folder listing for a directory picker.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use loopgate_home::{AccessDenied, Directory, EntryKind, Sandbox, SandboxedPath};
use thiserror::Error;

use crate::plain_text::plain_text;

/// Maximum number of folders in a response.
const MAX_FOLDERS: usize = 2000;
/// Entry that marks a repository: a directory, or a file in a worktree.
const DOT_GIT: &str = ".git";

/// A directory, or a symbolic link to a directory that the sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// File name, with invalid UTF-8 replaced.
    pub name: String,
    /// Path with a leading `~` if the requested path had one, else absolute.
    pub path: String,
    /// Whether the folder is a clone or a worktree.
    pub is_git_repo: bool,
}

/// Why folders cannot be listed.
#[derive(Debug, Error)]
pub enum FoldersError {
    /// The directory is outside of the sandbox.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// The directory cannot be read. The message contains no path.
    #[error("{}", plain_text(.0))]
    Io(#[from] io::Error),
}

/// Lists the visible folders in a directory, repositories first, at most 2000. A missing directory has none.
/// Blocks on disk I/O.
///
/// # Errors
/// Fails with [`FoldersError`] when the directory is outside of the sandbox or cannot be read.
pub fn folders(sandbox: &Sandbox, requested: &str) -> Result<Vec<Folder>, FoldersError> {
    let directory = sandbox.check(requested)?;
    let handle = match directory.open_directory() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        opened => opened?,
    };
    let mut folders = Vec::new();
    for entry in handle.entries()? {
        let is_git_repo = match entry.kind {
            _ if entry.name.as_encoded_bytes().starts_with(b".") => None,
            EntryKind::Directory => Some(handle.exists(&Path::new(&entry.name).join(DOT_GIT))),
            EntryKind::Link => is_link_to_repository(sandbox, &directory, &entry.name),
            EntryKind::File | EntryKind::Other => None,
        };
        let Some(is_git_repo) = is_git_repo else { continue };
        let name = entry.name.to_string_lossy().into_owned();
        folders.push((Reverse(is_git_repo), name.to_lowercase(), name));
    }
    // Partial selection first: only the folders that are returned need sorting.
    if folders.len() > MAX_FOLDERS {
        folders.select_nth_unstable(MAX_FOLDERS);
        folders.truncate(MAX_FOLDERS);
    }
    folders.sort_unstable();
    let parent = display_parent(requested, &directory);
    let folder = |(Reverse(is_git_repo), _, name): (Reverse<bool>, String, String)| Folder {
        path: joined(&parent, &name),
        name,
        is_git_repo,
    };
    Ok(folders.into_iter().map(folder).collect())
}

/// Returns whether a symbolic link points to a repository; `None` when it does not point to an allowed
/// directory.
fn is_link_to_repository(
    sandbox: &Sandbox,
    directory: &SandboxedPath,
    name: &std::ffi::OsStr,
) -> Option<bool> {
    // A link may point out of the sandbox, so its target is checked like a path of a request.
    let target = sandbox.check(directory.canonical().join(name)).ok()?;
    let target: Directory = target.open_directory().ok()?;
    Some(target.kind(Path::new(DOT_GIT)).is_some())
}

/// Formats the directory as the caller wrote it, with a leading `~` preserved.
fn display_parent(requested: &str, directory: &SandboxedPath) -> String {
    let absolute = directory.as_path();
    let in_home = || absolute.strip_prefix(loopgate_home::expand_home("~")).ok();
    match in_home().filter(|_| requested.starts_with('~')) {
        Some(rest) => joined("~", &rest.to_string_lossy()),
        None => absolute.to_string_lossy().into_owned(),
    }
}

fn joined(parent: &str, name: &str) -> String {
    match name {
        "" => parent.to_owned(),
        _ => format!("{}/{name}", parent.trim_end_matches('/')),
    }
}
