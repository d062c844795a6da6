//! The worktree of a ticket and its files.
//!
//! Read-only, but for the traces of a process that a person stopped. The sandbox opens the worktree, and
//! every file is opened below its handle and through no link, because one in a worktree may lead
//! anywhere. Everything here blocks on the disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use loopgate_api::ids::TicketId;
use loopgate_api::names::WORK_DIR;
use loopgate_home::{AccessDenied, Sandbox, SandboxedPath};

use crate::WorktreeLayout;

/// Bytes of a document that is read as a whole.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// The worktree of a ticket, and its files.
#[derive(Debug)]
pub struct TicketFiles {
    pub(super) worktree: SandboxedPath,
}

impl TicketFiles {
    /// Where the work on it lies, else the first of those that the ticket's jobs name.
    /// `None` when there is none.
    ///
    /// # Errors
    /// [`AccessDenied`] for a repository outside the sandbox.
    pub fn find(
        sandbox: &Sandbox,
        places: &WorktreeLayout,
        repository: &str,
        ticket: &TicketId,
        of_jobs: &[PathBuf],
    ) -> Result<Option<Self>, AccessDenied> {
        let repository = sandbox.check(repository)?;
        let usual = places.work_on_ticket(&repository, ticket);
        let named = || of_jobs.iter().filter(|place| place.is_dir()).find_map(|p| sandbox.check(p).ok());
        Ok(usual.or_else(named).map(|worktree| Self { worktree }))
    }

    /// A directory that holds a work directory.
    ///
    /// # Errors
    /// [`AccessDenied`] for a directory outside the sandbox.
    pub fn of_directory(sandbox: &Sandbox, directory: &str) -> Result<Self, AccessDenied> {
        Ok(Self { worktree: sandbox.check(directory)? })
    }

    /// Its directory.
    #[must_use]
    pub fn worktree(&self) -> &Path {
        self.worktree.as_path()
    }

    /// The work directory below it.
    #[must_use]
    pub fn work_dir(&self) -> PathBuf {
        self.worktree.as_path().join(WORK_DIR)
    }

    /// Opens a regular file; one that is missing or is elsewhere is `None`.
    pub(super) fn open(&self, path: &Path) -> io::Result<Option<File>> {
        let Ok(below) = path.strip_prefix(self.worktree()) else { return Ok(None) };
        match self.worktree.open_directory().and_then(|worktree| worktree.open_file(below)) {
            Ok(file) => Ok(Some(file)),
            Err(error)
                if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
                    || loopgate_home::led_away(&error) =>
            {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The text of a file in the work directory; `None` when there is none.
    pub(super) fn text(&self, name: &str) -> io::Result<Option<String>> {
        self.document(name)?.map(|file| text_of(&file, name)).transpose()
    }

    /// A file in the work directory; `None` when there is none.
    pub(super) fn document(&self, name: &str) -> io::Result<Option<File>> {
        self.open(&self.work_dir().join(name))
    }
}

/// The text of a document with this name.
pub(super) fn text_of(file: &File, name: &str) -> io::Result<String> {
    if file.metadata()?.len() > MAX_DOCUMENT {
        return Err(io::Error::other(format!("{name} is too large")));
    }
    let mut bytes = Vec::new();
    file.take(MAX_DOCUMENT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
