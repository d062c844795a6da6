//! What a ticket's or loop's worktree tells: state, logs and plan, read from its files.
//!
//! Read-only, but for the traces of a process that a person stopped. Every file passes the sandbox and is opened by it, because a link in a worktree may
//! lead anywhere. Everything here blocks on the disk.

pub(crate) mod agents;
pub(crate) mod judges;
pub(crate) mod logs;
pub(crate) mod plan;
mod remembered;
pub(crate) mod state;
pub(crate) mod status;
pub(crate) mod stopped;
mod stream;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::ids::TicketId;
use loopgate_api::names::WORK_DIR;
use loopgate_home::{Sandbox, SandboxedPath};
use loopgate_runtime::Places;

use crate::answer::Failure;

/// Bytes of a document that is read as a whole.
const MAX_DOCUMENT: u64 = 16 * 1024 * 1024;

/// The worktree of a ticket, and its files.
pub(crate) struct TicketFiles<'a> {
    sandbox: &'a Sandbox,
    worktree: SandboxedPath,
}

impl<'a> TicketFiles<'a> {
    /// The worktree in its usual place, else the first of those that the ticket's jobs name.
    /// `None` when there is none.
    ///
    /// # Errors
    /// 403 for a repository outside the sandbox.
    pub(crate) fn find(
        sandbox: &'a Sandbox,
        places: &Places,
        repository: &str,
        ticket: &TicketId,
        of_jobs: &[PathBuf],
    ) -> Result<Option<Self>, Failure> {
        let repository = sandbox.check(repository)?;
        let usual = places.ticket_worktree(&repository, ticket);
        let named = || of_jobs.iter().filter(|place| place.is_dir()).find_map(|p| sandbox.check(p).ok());
        Ok(usual.or_else(named).map(|worktree| Self { sandbox, worktree }))
    }

    /// A directory that holds a work directory.
    ///
    /// # Errors
    /// 403 for a directory outside the sandbox.
    pub(crate) fn of_directory(sandbox: &'a Sandbox, directory: &str) -> Result<Self, Failure> {
        let worktree = sandbox.check(directory)?;
        Ok(Self { sandbox, worktree })
    }

    pub(crate) fn worktree(&self) -> &Path {
        self.worktree.as_path()
    }

    pub(crate) fn work_dir(&self) -> PathBuf {
        self.worktree.as_path().join(WORK_DIR)
    }

    /// Opens a regular file; one that is missing or lies elsewhere is `None`.
    fn open(&self, path: &Path) -> io::Result<Option<File>> {
        let Ok(allowed) = self.sandbox.check(path) else { return Ok(None) };
        match allowed.open_file() {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::NotFound || loopgate_home::led_away(&error) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The text of a file in the work directory; `None` when there is none.
    fn text(&self, name: &str) -> io::Result<Option<String>> {
        self.document(name)?.map(|file| text_of(&file, name)).transpose()
    }

    /// A file in the work directory; `None` when there is none.
    fn document(&self, name: &str) -> io::Result<Option<File>> {
        self.open(&self.work_dir().join(name))
    }
}

/// The text of a document with this name.
fn text_of(mut file: &File, name: &str) -> io::Result<String> {
    if file.metadata()?.len() > MAX_DOCUMENT {
        return Err(io::Error::other(format!("{name} is too large")));
    }
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
