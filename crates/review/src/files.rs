//! The files of reviews, in the work directory of a worktree.

use std::ffi::OsStr;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_api::provider::ProviderId;
use loopgate_home::{AccessDenied, JsonFile, Sandbox, SandboxedPath};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state::ReviewState;

/// The work directory of a worktree. Its files are opened through the sandbox's handle, so no link in the
/// worktree leads them away. Everything here blocks on the disk.
#[derive(Debug, Clone)]
pub struct ReviewDirectory {
    directory: SandboxedPath,
    worktree: SandboxedPath,
}

impl ReviewDirectory {
    /// The work directory of this worktree, which may not be there yet.
    ///
    /// # Errors
    /// A directory that leads out of the sandbox.
    pub fn of(sandbox: &Sandbox, worktree: &Path) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self { directory, worktree: sandbox.check(worktree)? })
    }

    /// The worktree, with links resolved.
    pub(crate) fn worktree(&self) -> PathBuf {
        self.worktree.canonical().to_owned()
    }

    /// The worktree, as the sandbox checked it.
    pub(crate) const fn sandboxed_worktree(&self) -> &SandboxedPath {
        &self.worktree
    }

    /// The state of the review by a provider.
    pub(crate) fn state(&self, provider: &ProviderId) -> JsonFile<ReviewState> {
        self.json(&format!("reviewer-review-{provider}.json"))
    }

    /// A JSON file of that name. A malformed one is moved aside when it is changed.
    pub(crate) fn json<T: Serialize + DeserializeOwned>(&self, name: &str) -> JsonFile<T> {
        JsonFile::in_sandbox(self.directory.clone(), name).moving_malformed_aside()
    }

    /// Empties the log of a provider's review.
    pub(crate) fn clear_log(&self, provider: &ProviderId) -> io::Result<()> {
        self.directory.make_directory()?.replace(OsStr::new(&log_name(provider)), b"")
    }

    /// Adds to the log of a provider's review.
    pub(crate) fn append_log(&self, provider: &ProviderId, bytes: &[u8]) -> io::Result<()> {
        self.directory.make_directory()?.append_file(OsStr::new(&log_name(provider)))?.write_all(bytes)
    }

    /// The end of the log of a provider's review, of at most so many bytes, and the size of the whole. Both
    /// are empty when there is none.
    pub(crate) fn log_end(&self, provider: &ProviderId, most: u64) -> io::Result<(Vec<u8>, u64)> {
        let opened =
            self.directory.open_directory().and_then(|dir| dir.open_file(Path::new(&log_name(provider))));
        let mut file = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Vec::new(), 0)),
            opened => opened?,
        };
        let size = file.metadata()?.len();
        file.seek(SeekFrom::Start(size.saturating_sub(most)))?;
        let mut end = Vec::new();
        file.take(most).read_to_end(&mut end)?;
        Ok((end, size))
    }

    /// Writes the pid of a provider's review, for other programs.
    pub(crate) fn write_pid(&self, provider: &ProviderId, pid: u32) -> io::Result<()> {
        self.directory.make_directory()?.replace(OsStr::new(&pid_name(provider)), pid.to_string().as_bytes())
    }

    /// Removes the file with the pid of a provider's review.
    pub(crate) fn remove_pid(&self, provider: &ProviderId) -> io::Result<()> {
        self.remove(&pid_name(provider)).map(drop)
    }

    /// Removes everything about the review by a provider. Returns the names of what was there.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove_review(&self, provider: &ProviderId) -> io::Result<Vec<String>> {
        let state = format!("reviewer-review-{provider}.json");
        let findings = format!("review-findings-{provider}.json");
        let mut removed = Vec::new();
        for name in [state, log_name(provider), pid_name(provider), findings] {
            if self.remove(&name)? {
                removed.push(name);
            }
        }
        Ok(removed)
    }

    fn remove(&self, name: &str) -> io::Result<bool> {
        match self.directory.open_directory().and_then(|directory| directory.remove_file(OsStr::new(name))) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn log_name(provider: &ProviderId) -> String {
    format!("reviewer-review-{provider}.log")
}

fn pid_name(provider: &ProviderId) -> String {
    format!("reviewer-review-{provider}.pid")
}
