//! Attachments of a ticket, in the work directory of its worktree.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_home::{AccessDenied, Sandbox, SandboxedPath};
use thiserror::Error;

use crate::plain_text::plain_text;

const DIRECTORY: &str = "attachments";

/// Attachments directory of a ticket; it need not exist.
#[derive(Debug, Clone)]
pub struct Attachments(SandboxedPath);

#[derive(Debug, Error)]
pub enum OpenAttachmentError {
    /// The path is outside of the attachments directory, lexically or through a symbolic link.
    #[error("Invalid path")]
    Escapes,
    /// The attachment does not exist.
    #[error("File not found")]
    Missing,
    /// The attachment cannot be read. The message contains no path.
    #[error("{}", plain_text(.0))]
    Io(io::Error),
}

impl Attachments {
    /// Returns the attachments of a worktree. Reads the disk.
    ///
    /// # Errors
    /// Fails with [`AccessDenied`] when a symbolic link places the directory outside of the sandbox.
    pub fn of(sandbox: &Sandbox, worktree: &SandboxedPath) -> Result<Self, AccessDenied> {
        sandbox.check(worktree.as_path().join(WORK_DIR).join(DIRECTORY)).map(Self)
    }

    /// Returns the path of the attachments directory.
    #[must_use]
    pub const fn directory(&self) -> &SandboxedPath {
        &self.0
    }

    /// Opens an attachment for reading. Blocks on disk I/O.
    ///
    /// # Errors
    /// Fails with [`OpenAttachmentError`] when the path is outside of the directory, or the file is missing
    /// or unreadable.
    pub fn open(&self, sandbox: &Sandbox, path: &str) -> Result<File, OpenAttachmentError> {
        let relative = inside(path)?;
        let file =
            sandbox.check(self.0.as_path().join(relative)).map_err(|_| OpenAttachmentError::Escapes)?;
        // The sandbox check alone is not enough: a link could point to another file in the sandbox.
        if !file.canonical().starts_with(self.0.canonical()) {
            return Err(OpenAttachmentError::Escapes);
        }
        file.open_file().map_err(|error| match error.kind() {
            _ if loopgate_home::escaped_via_symlink(&error) => OpenAttachmentError::Escapes,
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
                OpenAttachmentError::Missing
            }
            _ => OpenAttachmentError::Io(error),
        })
    }
}

/// Normalizes a relative path lexically. Fails when it leaves its base.
fn inside(path: &str) -> Result<PathBuf, OpenAttachmentError> {
    let mut clean = PathBuf::new();
    // No file name contains a NUL: report an invalid path instead of a missing file.
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
    fn path_is_normalized_and_stays_inside() {
        for (path, expected) in [
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
            assert_eq!(inside(path).ok(), expected.map(PathBuf::from), "{path}");
        }
    }
}
