//! The worktree of a ticket and its files.
//!
//! Read-only, except for the cleanup after the user stopped a process. The sandbox opens the worktree, and
//! every file is opened relative to its handle without following links, because the content of a worktree is
//! untrusted. All functions perform blocking I/O.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use loopgate_api::ids::TicketId;
use loopgate_api::names::WORK_DIR;
use loopgate_home::{AccessDenied, Sandbox, SandboxedPath};

use crate::WorktreeLayout;

/// Size limit of a document in bytes.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// The worktree of a ticket, and its files.
#[derive(Debug)]
pub struct TicketFiles {
    pub(super) worktree: SandboxedPath,
}

impl TicketFiles {
    /// Finds the worktree with the work on a ticket, otherwise the first existing one of its jobs; `None`
    /// when there is none.
    ///
    /// # Errors
    /// Fails with [`AccessDenied`] for a repository outside the sandbox.
    pub fn find(
        sandbox: &Sandbox,
        places: &WorktreeLayout,
        repository: &str,
        ticket: &TicketId,
        of_jobs: &[PathBuf],
    ) -> Result<Option<Self>, AccessDenied> {
        let repository = sandbox.check(repository)?;
        let usual = places.work_on_ticket(&repository, ticket);
        let recorded = || of_jobs.iter().filter(|place| place.is_dir()).find_map(|p| sandbox.check(p).ok());
        Ok(usual.or_else(recorded).map(|worktree| Self { worktree }))
    }

    /// Opens a directory that contains a work directory.
    ///
    /// # Errors
    /// Fails with [`AccessDenied`] for a directory outside the sandbox.
    pub fn of_directory(sandbox: &Sandbox, directory: &str) -> Result<Self, AccessDenied> {
        Ok(Self { worktree: sandbox.check(directory)? })
    }

    /// Returns the path of the worktree.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        self.worktree.as_path()
    }

    /// Returns the path of the work directory.
    #[must_use]
    pub fn work_dir(&self) -> PathBuf {
        self.worktree.as_path().join(WORK_DIR)
    }

    /// Opens a regular file; returns `None` when it is missing or outside the worktree.
    pub(super) fn open(&self, path: &Path) -> io::Result<Option<File>> {
        let Ok(below) = path.strip_prefix(self.worktree()) else { return Ok(None) };
        match self.worktree.open_directory().and_then(|worktree| worktree.open_file(below)) {
            Ok(file) => Ok(Some(file)),
            Err(error)
                // A path through a link counts as missing.
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                    || loopgate_home::escaped_via_symlink(&error) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// Returns the text of a file in the work directory; `None` when it is missing.
    pub(super) fn text(&self, name: &str) -> io::Result<Option<String>> {
        self.document(name)?.map(|file| text_of(&file, name)).transpose()
    }

    /// Opens a file in the work directory; returns `None` when it is missing.
    pub(super) fn document(&self, name: &str) -> io::Result<Option<File>> {
        self.open(&self.work_dir().join(name))
    }
}

/// Reads a document as text; the name is for the error message.
pub(super) fn text_of(file: &File, name: &str) -> io::Result<String> {
    if file.metadata()?.len() > MAX_DOCUMENT {
        return Err(io::Error::other(format!("{name} is too large")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
