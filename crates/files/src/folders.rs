//! The folders in a directory, for a person who picks one.

use std::cmp::Reverse;
use std::io;
use std::path::Path;

use loopgate_home::{Denied, Directory, Kind, Sandbox, SandboxedPath};
use thiserror::Error;

/// Folders in one answer.
const MOST_FOLDERS: usize = 2000;
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
    Denied(#[from] Denied),
    /// It cannot be read. The text names no path.
    #[error("{}", plain_text(.0))]
    Io(#[from] io::Error),
}

/// The visible folders in a directory, repositories first; none in a directory that does not
/// exist. Blocks on the disk.
///
/// # Errors
/// See [`FoldersError`].
pub fn folders(sandbox: &Sandbox, given: &str) -> Result<Vec<Folder>, FoldersError> {
    let directory = sandbox.check(given)?;
    let opened = match directory.open_directory() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    let parent = shown_parent(given, &directory);
    let mut folders = Vec::new();
    for entry in opened.entries()? {
        let name = entry.name.to_string_lossy();
        let is_git_repo = match entry.kind {
            _ if name.starts_with('.') => None,
            Kind::Directory => Some(opened.kind(&Path::new(&entry.name).join(GIT)).is_some()),
            Kind::Link => repository_behind(sandbox, &directory, &entry.name),
            Kind::File | Kind::Other => None,
        };
        folders.extend(is_git_repo.map(|is_git_repo| Folder {
            path: joined(&parent, &name),
            name: name.into_owned(),
            is_git_repo,
        }));
    }
    folders.sort_by_cached_key(|folder| {
        (Reverse(folder.is_git_repo), folder.name.to_lowercase(), folder.name.clone())
    });
    folders.truncate(MOST_FOLDERS);
    Ok(folders)
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

/// What an error says to a person, without paths and numbers.
#[must_use]
pub fn plain_text(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "not found".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::NotADirectory => "not a directory".to_owned(),
        io::ErrorKind::IsADirectory => "is a directory".to_owned(),
        io::ErrorKind::StorageFull => "no space left".to_owned(),
        _ if loopgate_home::led_away(error) => "the path changed meanwhile".to_owned(),
        _ => "it could not be read".to_owned(),
    }
}
