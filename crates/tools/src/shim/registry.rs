//! The running processes of conversations, reviews and tickets' scripts that this Loopgate process started.
//! Those of loops are in the job records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::ShimHandle;

/// A process that is running.
#[derive(Debug, Clone)]
pub struct RegisteredProcess {
    /// Pid of the program, not of its shim.
    pub pid: u32,
    /// The shim through which the process is terminated.
    pub shim: ShimHandle,
    /// The worktree that the process uses exclusively; `None` for a chat.
    pub worktree: Option<PathBuf>,
    /// The directories that the process works on.
    pub directories: Vec<PathBuf>,
}

/// A map of running processes by the id of their run. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct ProcessRegistry(Arc<Mutex<HashMap<Uuid, RegisteredProcess>>>);

impl ProcessRegistry {
    /// Registers a process under the id of its run.
    pub fn add(&self, id: Uuid, run: RegisteredProcess) {
        self.lock().insert(id, run);
    }

    /// Removes the process of a run that has ended.
    pub fn remove(&self, id: Uuid) {
        self.lock().remove(&id);
    }

    /// Returns the shim of the process with this pid.
    pub fn by_pid(&self, pid: u32) -> Option<ShimHandle> {
        self.lock().values().find(|run| run.pid == pid).map(|run| run.shim.clone())
    }

    /// Returns the directories that the process with this pid works on.
    pub fn directories(&self, pid: u32) -> Option<Vec<PathBuf>> {
        self.lock().values().find(|run| run.pid == pid).map(|run| run.directories.clone())
    }

    /// Returns the process that uses this worktree exclusively.
    pub fn by_worktree(&self, worktree: &Path) -> Option<RegisteredProcess> {
        self.lock().values().find(|run| run.worktree.as_deref() == Some(worktree)).cloned()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Uuid, RegisteredProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
