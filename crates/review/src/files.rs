//! Files of reviews, in the work directory of a worktree.

use std::ffi::OsStr;
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use loopgate_api::names::WORK_DIR;
use loopgate_api::provider::ProviderId;
use loopgate_home::{AccessDenied, JsonFile, Sandbox, SandboxedPath};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::state::ReviewState;

/// Work directory of a worktree. Files are opened relative to a sandbox handle, so symlinks in the worktree
/// cannot redirect them. All functions perform blocking I/O.
#[derive(Debug, Clone)]
pub struct ReviewDirectory {
    directory: SandboxedPath,
    worktree: SandboxedPath,
}

impl ReviewDirectory {
    /// Returns the work directory of a worktree. It need not exist.
    ///
    /// # Errors
    /// Fails when the directory is outside the sandbox.
    pub fn of(sandbox: &Sandbox, worktree: &Path) -> Result<Self, AccessDenied> {
        let directory = sandbox.check(worktree.join(WORK_DIR))?;
        Ok(Self { directory, worktree: sandbox.check(worktree)? })
    }

    /// Returns the canonical path of the worktree.
    pub(crate) fn worktree(&self) -> PathBuf {
        self.worktree.canonical().to_owned()
    }

    /// Returns the worktree as a path checked by the sandbox.
    pub(crate) const fn sandboxed_worktree(&self) -> &SandboxedPath {
        &self.worktree
    }

    /// Returns the state file of a provider's review.
    pub(crate) fn state(&self, provider: &ProviderId) -> JsonFile<ReviewState> {
        self.json(&format!("reviewer-review-{provider}.json"))
    }

    /// Returns a JSON file of this name. If it is malformed, the next update renames it and starts a new one.
    pub(crate) fn json<T: Serialize + DeserializeOwned>(&self, name: &str) -> JsonFile<T> {
        JsonFile::in_sandbox(self.directory.clone(), name).moving_malformed_aside()
    }

    /// Truncates the log of a provider's review, creating it if necessary.
    pub(crate) fn clear_log(&self, provider: &ProviderId) -> io::Result<()> {
        self.directory.create_directory()?.replace(OsStr::new(&log_name(provider)), b"")
    }

    /// Appends to the log of a provider's review.
    pub(crate) fn append_log(&self, provider: &ProviderId, bytes: &[u8]) -> io::Result<()> {
        self.directory.create_directory()?.append_file(OsStr::new(&log_name(provider)))?.write_all(bytes)
    }

    /// Returns the last `most` bytes of the log of a provider's review, and its total size. Both are empty if
    /// there is no log.
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

    /// Writes the pid file of a provider's review, which other programs read.
    pub(crate) fn write_pid(&self, provider: &ProviderId, pid: u32) -> io::Result<()> {
        self.directory
            .create_directory()?
            .replace(OsStr::new(&pid_name(provider)), pid.to_string().as_bytes())
    }

    /// Removes the pid file of a provider's review.
    pub(crate) fn remove_pid(&self, provider: &ProviderId) -> io::Result<()> {
        self.remove(&pid_name(provider)).map(drop)
    }

    /// Removes all files of a provider's review. Returns the names of the removed files.
    ///
    /// # Errors
    /// Fails on any I/O error other than a missing file.
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
