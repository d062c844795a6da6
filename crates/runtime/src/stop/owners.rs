//! Which processes Loopgate started and may therefore end.
//!
//! A process is only ever ended through its shim, which tells it from any other that has the same
//! pid, and takes everything with it that it started. Loops are in their records.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_tools::process::{ProcessStart, alive, identity};
use loopgate_tools::shim::{ShimError, ShimHandle};
use thiserror::Error;

use super::{StopMode, StopOutcome, Stopper};
use crate::jobs::Job;
use crate::jobs::store::StoreError;

/// What a process gets that a person wants to end.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

/// Who has a pid.
#[derive(Debug)]
pub enum ProcessOwner {
    /// A process of ours.
    Loopgate(OwnedProcess),
    /// Nobody.
    None,
    /// Somebody whom Loopgate did not start.
    Other,
}

/// A process of ours that may be ended.
#[derive(Debug)]
pub struct OwnedProcess(OwnerKind);

impl OwnedProcess {
    /// Whether it belongs to another loop than this one.
    pub(crate) fn is_of_another(&self, id: LoopId) -> bool {
        matches!(self.0, OwnerKind::Loop(owner) if owner != id)
    }
}

#[derive(Debug)]
enum OwnerKind {
    Run(ShimHandle),
    Loop(LoopId),
}

/// Why a process could not be ended.
#[derive(Debug, Error)]
pub enum StopError {
    /// Its shim does not do what it should.
    #[error(transparent)]
    Shim(#[from] ShimError),
    /// The record of its loop.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Stopper {
    /// Who has a pid. One that a process of somebody else has by now is never ours; the last one of a
    /// loop that is being finished is.
    ///
    /// # Errors
    /// When the records cannot be read.
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
        // Its process is gone, and its work is being delivered.
        let delivered = jobs.iter().find(|job| is_under_way(job) && job.run.pid == Some(pid));
        Ok(delivered.map_or(ProcessOwner::None, owned))
    }

    /// The directories that the process with this pid works in, when it is ours.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub async fn directories_of(&self, pid: u32) -> Result<Vec<PathBuf>, StoreError> {
        if let Some(about) = self.processes.about(pid) {
            return Ok(about);
        }
        let jobs = self.jobs.store.jobs().await?;
        let of_pid = jobs.iter().filter(|job| job.run.pid == Some(pid));
        Ok(of_pid.flat_map(|job| job.workspace.directories()).collect())
    }

    /// Ends a process and everything that it started; `false` when it had ended meanwhile.
    ///
    /// # Errors
    /// [`StopError`].
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
                StopOutcome::StillRunning | StopOutcome::Busy => Err(ShimError::Silent.into()),
            },
        }
    }

    /// The script or the loop that works in a worktree, with its pid, whatever the files there say. A
    /// loop whose work is being delivered works there, too.
    ///
    /// # Errors
    /// When the records cannot be read.
    pub async fn working_at(&self, worktree: &Path) -> Result<Option<(u32, OwnedProcess)>, StoreError> {
        if let Some(run) = self.processes.at(worktree) {
            return Ok(Some((run.pid, OwnedProcess(OwnerKind::Run(run.shim)))));
        }
        let jobs = self.jobs.store.active().await?;
        let is_here = |job: &Job| job.workspace.worktree_dir.as_deref().map(Path::new) == Some(worktree);
        let mut here = jobs.into_iter().filter(|job| is_here(job) && is_under_way(job));
        Ok(here.find_map(|job| Some((job.run.pid?, OwnedProcess(OwnerKind::Loop(job.id))))))
    }
}

/// Whether a loop was started, and its end is not recorded yet.
const fn is_under_way(job: &Job) -> bool {
    !job.status().is_terminal() && job.run.process.is_some()
}

/// The pid of a job's process, while it is that process that has it.
pub(crate) fn live_pid(job: &Job) -> Option<u32> {
    let started = job.run.pid_started_at.map(ProcessStart)?;
    job.run.pid.filter(|pid| alive(*pid, started))
}
