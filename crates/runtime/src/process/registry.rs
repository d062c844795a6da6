//! The processes of chats and of tickets' scripts that this Loopgate started and that are alive. Those of
//! loops stand in their records.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_tools::shim::ShimHandle;
use uuid::Uuid;

/// A process that is alive.
#[derive(Debug, Clone)]
pub(crate) struct LoopProcess {
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
pub(crate) struct ProcessRegistry(Arc<Mutex<HashMap<Uuid, LoopProcess>>>);

impl ProcessRegistry {
    pub(crate) fn add(&self, id: Uuid, run: LoopProcess) {
        self.known().insert(id, run);
    }

    pub(crate) fn remove(&self, id: Uuid) {
        self.known().remove(&id);
    }

    pub(crate) fn by_pid(&self, pid: u32) -> Option<ShimHandle> {
        self.known().values().find(|run| run.pid == pid).map(|run| run.shim.clone())
    }

    pub(crate) fn about(&self, pid: u32) -> Option<Vec<PathBuf>> {
        self.known().values().find(|run| run.pid == pid).map(|run| run.about.clone())
    }

    /// The one whose worktree it is.
    pub(crate) fn at(&self, worktree: &Path) -> Option<LoopProcess> {
        self.known().values().find(|run| run.worktree.as_deref() == Some(worktree)).cloned()
    }

    fn known(&self) -> MutexGuard<'_, HashMap<Uuid, LoopProcess>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
