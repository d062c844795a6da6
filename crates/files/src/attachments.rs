//! Files that belong to a ticket, in the work directory of its worktree.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_home::{AccessDenied, Sandbox, SandboxedPath};
use thiserror::Error;

use crate::plain_text::plain_text;

/// Their directory in the work directory.
const DIRECTORY: &str = "attachments";

/// Where a ticket's attachments lie, whether the directory is there or not.
#[derive(Debug, Clone)]
pub struct Attachments(SandboxedPath);

/// Why an attachment is not opened.
#[derive(Debug, Error)]
pub enum OpenAttachmentError {
    /// Its path leads, as it is written or through a link, to somewhere else.
    #[error("Invalid path")]
    Escapes,
    /// There is no such file.
    #[error("File not found")]
    Missing,
    /// It cannot be read. The text names no path.
    #[error("{}", plain_text(.0))]
    Io(io::Error),
}

impl Attachments {
    /// Those of a worktree. Looks at the disk.
    ///
    /// # Errors
    /// [`AccessDenied`] when a link leads them out of the sandbox.
    pub fn of(sandbox: &Sandbox, worktree: &SandboxedPath) -> Result<Self, AccessDenied> {
        sandbox.check(worktree.as_path().join(WORK_DIR).join(DIRECTORY)).map(Self)
    }

    /// The directory.
    #[must_use]
    pub const fn directory(&self) -> &SandboxedPath {
        &self.0
    }

    /// Opens one of them for reading. Its real path is in the real directory. Blocks on the disk.
    ///
    /// # Errors
    /// See [`OpenAttachmentError`].
    pub fn open(&self, sandbox: &Sandbox, path: &str) -> Result<File, OpenAttachmentError> {
        let relative = inside(path)?;
        let file =
            sandbox.check(self.0.as_path().join(relative)).map_err(|_| OpenAttachmentError::Escapes)?;
        if !file.canonical().starts_with(self.0.canonical()) {
            return Err(OpenAttachmentError::Escapes);
        }
        file.open_file().map_err(|error| match error.kind() {
            _ if loopgate_home::led_away(&error) => OpenAttachmentError::Escapes,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                OpenAttachmentError::Missing
            }
            _ => OpenAttachmentError::Io(error),
        })
    }
}

/// A path that, as it is written, stays below where it begins.
fn inside(path: &str) -> Result<PathBuf, OpenAttachmentError> {
    let mut clean = PathBuf::new();
    if path.contains('\0') {
        return Err(OpenAttachmentError::Escapes);
    }
    for component in Path::new(path).components() {
        match component {
            Component::Normal(name) => clean.push(name),
            Component::CurDir => {}
            Component::ParentDir if clean.pop() => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => {
                return Err(OpenAttachmentError::Escapes);
            }
        }
    }
    Ok(clean)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn written_path_stays_inside() {
        for (path, wanted) in [
            ("a.png", Some("a.png")),
            ("a/b.png", Some("a/b.png")),
            ("a/../b.png", Some("b.png")),
            ("./a", Some("a")),
            ("%2e%2e/a", Some("%2e%2e/a")),
            ("..", None),
            ("../a", None),
            ("a/../../b", None),
            ("/etc/passwd", None),
            ("a\0", None),
        ] {
            assert_eq!(inside(path).ok(), wanted.map(PathBuf::from), "{path}");
        }
    }
}
