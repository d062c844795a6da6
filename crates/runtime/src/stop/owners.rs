//! Ownership of processes: which pids Loopgate started and may therefore terminate.
//!
//! A process is only terminated through its shim, which detects a reused pid and includes all descendants.
//! Processes of loops are found by their records.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_tools::process::{ProcessStart, alive, identity};
use loopgate_tools::shim::{ShimError, ShimHandle};
use thiserror::Error;

use super::{StopMode, StopOutcome, Stopper};
use crate::jobs::Job;
use crate::jobs::store::StoreError;

/// Grace period between SIGTERM and SIGKILL for a process that the user stops.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// Owner of a pid.
#[derive(Debug)]
pub enum ProcessOwner {
    /// A process that Loopgate started.
    Loopgate(OwnedProcess),
    /// No process has this pid.
    None,
    /// A process that Loopgate did not start.
    Other,
}

/// A process that Loopgate may terminate.
#[derive(Debug)]
pub struct OwnedProcess(OwnerKind);

impl OwnedProcess {
    /// Returns whether the process belongs to a different loop.
    pub(crate) fn is_of_another(&self, id: LoopId) -> bool {
        matches!(self.0, OwnerKind::Loop(owner) if owner != id)
    }
}

#[derive(Debug)]
enum OwnerKind {
    Run(ShimHandle),
    Loop(LoopId),
}

/// Error of terminating a process.
#[derive(Debug, Error)]
pub enum StopError {
    /// The shim failed or did not respond.
    #[error(transparent)]
    Shim(#[from] ShimError),
    /// The record of the loop could not be changed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Stopper {
    /// Returns the owner of a pid. A pid that another program reuses does not belong to Loopgate; the last
    /// pid of a loop in finalization does.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn owner_of(&self, pid: u32) -> Result<ProcessOwner, StoreError> {
        if let Some(shim) = self.processes.by_pid(pid) {
            return Ok(ProcessOwner::Loopgate(OwnedProcess(OwnerKind::Run(shim))));
        }
        let jobs = self.jobs.store.jobs().await?;
        let owned = |job: &Job| ProcessOwner::Loopgate(OwnedProcess(OwnerKind::Loop(job.id)));
        if let Some(job) = jobs.iter().find(|job| live_pid(job) == Some(pid)) {
            return Ok(owned(job));
        }
        if identity(pid).is_some() {
            return Ok(ProcessOwner::Other);
        }
        // The process has exited, and the work of the loop is being delivered.
        let delivered = jobs.iter().find(|job| is_under_way(job) && job.run.pid == Some(pid));
        Ok(delivered.map_or(ProcessOwner::None, owned))
    }

    /// Returns the directories in which a process of Loopgate works; empty for any other pid.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn directories_of(&self, pid: u32) -> Result<Vec<PathBuf>, StoreError> {
        if let Some(about) = self.processes.directories(pid) {
            return Ok(about);
        }
        let jobs = self.jobs.store.jobs().await?;
        let of_pid = jobs.iter().filter(|job| job.run.pid == Some(pid));
        Ok(of_pid.flat_map(|job| job.workspace.directories()).collect())
    }

    /// Terminates a process and its descendants; returns false when it had already exited.
    ///
    /// # Errors
    /// Fails with [`StopError`].
    pub async fn stop(&self, OwnedProcess(kind): OwnedProcess) -> Result<bool, StopError> {
        match kind {
            OwnerKind::Run(shim) => match shim.kill(GRACE).await {
                Ok(_) => Ok(true),
                Err(ShimError::Lost) => Ok(false),
                Err(error) => Err(error.into()),
            },
            OwnerKind::Loop(id) => match self.stop_loop(id, StopMode::Stop, GRACE).await? {
                StopOutcome::Stopped => Ok(true),
                StopOutcome::AlreadyEnded => Ok(false),
                StopOutcome::StillRunning | StopOutcome::Busy => Err(ShimError::Unresponsive.into()),
            },
        }
    }

    /// Returns the script or loop that works in a worktree, with its pid, independent of the files there.
    /// Includes a loop whose work is being delivered.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn process_in_worktree(
        &self,
        worktree: &Path,
    ) -> Result<Option<(u32, OwnedProcess)>, StoreError> {
        if let Some(run) = self.processes.by_worktree(worktree) {
            return Ok(Some((run.pid, OwnedProcess(OwnerKind::Run(run.shim)))));
        }
        let jobs = self.jobs.store.active().await?;
        let is_here = |job: &Job| job.workspace.worktree_dir.as_deref().map(Path::new) == Some(worktree);
        let mut here = jobs.into_iter().filter(|job| is_here(job) && is_under_way(job));
        Ok(here.find_map(|job| Some((job.run.pid?, OwnedProcess(OwnerKind::Loop(job.id))))))
    }
}

/// Returns whether a loop was started and has no terminal status yet.
const fn is_under_way(job: &Job) -> bool {
    !job.status().is_terminal() && job.run.process.is_some()
}

/// Returns the pid of a job's process while that process is alive; `None` once the pid is reused.
pub(crate) fn live_pid(job: &Job) -> Option<u32> {
    let started = job.run.pid_started_at.map(ProcessStart)?;
    job.run.pid.filter(|pid| alive(*pid, started))
}
