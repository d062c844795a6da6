//! The processes of conversations, reviews and tickets' scripts that this Loopgate started and that are alive.
//! Those of loops are in their records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use uuid::Uuid;

use super::ShimHandle;

/// A process that is alive.
#[derive(Debug, Clone)]
pub struct RegisteredProcess {
    /// Pid of its program.
    pub pid: u32,
    /// By which it is ended.
    pub shim: ShimHandle,
    /// The worktree that is its own; a chat has none.
    pub worktree: Option<PathBuf>,
    /// Directories that its work is about.
    pub about: Vec<PathBuf>,
}

/// The living ones, by the id of their run.
#[derive(Debug, Clone, Default)]
pub struct ProcessRegistry(Arc<Mutex<HashMap<Uuid, RegisteredProcess>>>);

impl ProcessRegistry {
    /// Registers a process under the id of its run.
    pub fn add(&self, id: Uuid, run: RegisteredProcess) {
        self.known().insert(id, run);
    }

    /// Forgets the process of a run, once it has ended.
    pub fn remove(&self, id: Uuid) {
        self.known().remove(&id);
    }

    /// The shim of the process with this pid.
    pub fn by_pid(&self, pid: u32) -> Option<ShimHandle> {
        self.known().values().find(|run| run.pid == pid).map(|run| run.shim.clone())
    }

    /// The directories that the work of this process is about.
    pub fn about(&self, pid: u32) -> Option<Vec<PathBuf>> {
        self.known().values().find(|run| run.pid == pid).map(|run| run.about.clone())
    }

    /// The one whose worktree it is.
    pub fn at(&self, worktree: &Path) -> Option<RegisteredProcess> {
        self.known().values().find(|run| run.worktree.as_deref() == Some(worktree)).cloned()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Uuid, RegisteredProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
