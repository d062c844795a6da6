//! The folders in a directory, for a person who picks one.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use loopgate_home::{AccessDenied, Directory, EntryKind, Sandbox, SandboxedPath};
use thiserror::Error;

use crate::plain_text::plain_text;

/// Folders in one answer.
const MAX_FOLDERS: usize = 2000;
/// What makes a folder a repository; a directory, or a file in a worktree.
const GIT: &str = ".git";

/// A folder, or a link to one that the sandbox allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Its name.
    pub name: String,
    /// Its path, in the form in which the directory was named: with `~` or absolute.
    pub path: String,
    /// Whether it is a repository or a worktree.
    pub is_git_repo: bool,
}

/// Why there is no list.
#[derive(Debug, Error)]
pub enum FoldersError {
    /// Outside the sandbox.
    #[error(transparent)]
    Denied(#[from] AccessDenied),
    /// It cannot be read. The text names no path.
    #[error("{}", plain_text(.0))]
    Io(#[from] io::Error),
}

/// The visible folders in a directory, repositories first, at most 2000; none in a directory that does
/// not exist. Blocks on the disk.
///
/// # Errors
/// See [`FoldersError`].
pub fn folders(sandbox: &Sandbox, given: &str) -> Result<Vec<Folder>, FoldersError> {
    let directory = sandbox.check(given)?;
    let opened = match directory.open_directory() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Vec::new());
        }
        opened => opened?,
    };
    let mut found = Vec::new();
    for entry in opened.entries()? {
        let is_git_repo = match entry.kind {
            _ if entry.name.as_encoded_bytes().starts_with(b".") => None,
            EntryKind::Directory => Some(opened.holds(&Path::new(&entry.name).join(GIT))),
            EntryKind::Link => repository_behind(sandbox, &directory, &entry.name),
            EntryKind::File | EntryKind::Other => None,
        };
        let Some(is_git_repo) = is_git_repo else { continue };
        let name = entry.name.to_string_lossy().into_owned();
        found.push((Reverse(is_git_repo), name.to_lowercase(), name));
    }
    // Of many, only those that are shown are put in order.
    if found.len() > MAX_FOLDERS {
        found.select_nth_unstable(MAX_FOLDERS);
        found.truncate(MAX_FOLDERS);
    }
    found.sort_unstable();
    let parent = shown_parent(given, &directory);
    let folder = |(Reverse(is_git_repo), _, name): (Reverse<bool>, String, String)| Folder {
        path: joined(&parent, &name),
        name,
        is_git_repo,
    };
    Ok(found.into_iter().map(folder).collect())
}

/// Whether a link leads to a repository; `None` when it leads to no allowed directory.
fn repository_behind(sandbox: &Sandbox, directory: &SandboxedPath, name: &std::ffi::OsStr) -> Option<bool> {
    let target = sandbox.check(directory.canonical().join(name)).ok()?;
    let target: Directory = target.open_directory().ok()?;
    Some(target.kind(Path::new(GIT)).is_some())
}

/// The directory as the caller named it: the `~` stays.
fn shown_parent(given: &str, directory: &SandboxedPath) -> String {
    let absolute = directory.as_path();
    let in_home = || absolute.strip_prefix(loopgate_home::expand_home("~")).ok();
    match in_home().filter(|_| given.starts_with('~')) {
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
