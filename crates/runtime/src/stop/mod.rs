//! Stops loops for the user: records the request first, then kills the process through its shim.
//!
//! Never signals a pid directly. The supervision task finalizes the loop; for a loop without such a task, one
//! is started here.

mod owners;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_tools::shim;
use serde_json::Value;

use crate::delivery::ExitKind;
pub(crate) use owners::GRACE;
pub use owners::{OwnedProcess, ProcessOwner, StopError};

use crate::error::LoopRequestError;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::{ReservationPhase, Reservations};
use crate::jobs::store::StoreError;
use crate::jobs::{FinalizationSource, Job, Jobs};
use crate::launch::launch_queue::LaunchQueue;
use crate::request;
use crate::supervision::{ProcessState, Supervisor};
use crate::timing::RuntimeTiming;
use loopgate_tools::shim::ProcessRegistry;

/// Outcome of killing a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKillOutcome {
    /// This process supervised the loop.
    Terminated,
    /// The loop was only known from its record.
    TerminatedAfterRestart,
    /// The loop was queued and had no process.
    LeftQueue,
    /// The loop was in preparation and had no process.
    NotStarted,
}

impl LoopKillOutcome {
    /// Returns the text of the response.
    #[must_use]
    pub const fn message(self) -> &'static str {
        match self {
            Self::Terminated => "Loop process terminated",
            Self::LeftQueue => "Loop removed from the queue",
            Self::NotStarted => "Loop cancelled before it started",
            Self::TerminatedAfterRestart => "Loop process terminated (restart fallback)",
        }
    }
}

/// Scope of a stop request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopMode {
    /// Cancels the loop, which ends as `CANCELLED`.
    Cancel,
    /// Stops only its process; the loop ends as `STOPPED`.
    Stop,
}

/// Outcome of stopping a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopOutcome {
    /// The loop had already ended.
    AlreadyEnded,
    /// All its processes have ended.
    Stopped,
    /// Some processes are still running.
    StillRunning,
    /// Another task is starting or recovering the loop.
    Busy,
}

/// Stops loops and other processes that Loopgate started.
pub struct Stopper {
    pub(crate) jobs: Jobs,
    pub(crate) reservations: Reservations,
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) supervisor: Supervisor,
    pub(crate) processes: ProcessRegistry,
    pub(crate) timing: RuntimeTiming,
}

impl Stopper {
    /// Kills the loop that a request body names.
    ///
    /// # Errors
    /// Returns 400 for an invalid body, 404 when the loop has no process here, and 409 while it is being
    /// launched or recovered.
    pub async fn kill_loop(&self, body: &[u8]) -> Result<LoopKillOutcome, LoopRequestError> {
        let members = request::members(body)?;
        let id = members.get("loopId").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| LoopRequestError::missing_field("loopId is required"))?;
        let unknown = || LoopRequestError::new(404, "No running process found for this loop");
        let initializing = || LoopRequestError::new(409, "Loop is still initializing, retry shortly");
        let id: LoopId = id.parse().map_err(|_| unknown())?;
        // A queued loop has neither a process nor a task; it only has to leave the queue.
        if self.queue.cancel(id).await? {
            return Ok(LoopKillOutcome::LeftQueue);
        }
        let outcome = match self.reservations.phase(id) {
            // The queue is changing the phase of the loop at this moment.
            Some(ReservationPhase::Waiting) => return Err(initializing()),
            Some(ReservationPhase::Preparing) => LoopKillOutcome::NotStarted,
            Some(ReservationPhase::Running) => LoopKillOutcome::Terminated,
            None => match self.jobs.store.job(id).await? {
                Some(job) if job.run.process.is_some() => LoopKillOutcome::TerminatedAfterRestart,
                _ => return Err(unknown()),
            },
        };
        match self.stop_loop(id, StopMode::Cancel, self.timing.kill_grace).await? {
            StopOutcome::AlreadyEnded => Err(unknown()),
            StopOutcome::Stopped | StopOutcome::StillRunning => Ok(outcome),
            StopOutcome::Busy => Err(initializing()),
        }
    }

    /// Records the stop request and kills the process through its shim. Cancels the preparation of a loop. A
    /// loop without a supervision task gets one, which finalizes it.
    pub(crate) async fn stop_loop(
        &self,
        id: LoopId,
        mode: StopMode,
        grace: Duration,
    ) -> Result<StopOutcome, StoreError> {
        if self.queue.cancel(id).await? {
            return Ok(StopOutcome::Stopped);
        }
        if self.reservations.cancel_preparation(id) {
            return self.stop_preparation(id, mode, grace).await;
        }
        // Without a task, for example because recovery has not reached the loop: reserve it here and start
        // one below.
        let reservation = match self.reservations.phase(id) {
            Some(_) => None,
            None => match self.reservations.reserve(id) {
                Some(reservation) => Some(reservation),
                None => return Ok(StopOutcome::Busy),
            },
        };
        let Some(job) = self.record_stop_request(id, mode).await? else {
            return Ok(StopOutcome::AlreadyEnded);
        };
        let released = self.reservations.free(id);
        let stopped = self.stop_process(&job, grace).await;
        // A delivery ends its push; until then, the work may still reach the code host.
        if reservation.is_none() && job.run.exit_code.is_some() {
            let _ = tokio::time::timeout(grace, released).await;
        }
        if let Some(reservation) = reservation {
            reservation.running();
            let begin = ProcessState::Exited(ExitKind::Lost);
            self.supervisor.follow(id, begin, FinalizationSource::BootRecovery, reservation);
        }
        Ok(if stopped { StopOutcome::Stopped } else { StopOutcome::StillRunning })
    }

    /// Records a stop request; returns `None` when the loop has already ended.
    async fn record_stop_request(&self, id: LoopId, mode: StopMode) -> Result<Option<Job>, StoreError> {
        let mut active = false;
        let job = self.jobs.change(id, |now| {
            active = !now.job.status().is_terminal();
            if active {
                now.job.run.stopped_by_person = mode == StopMode::Stop && !now.job.is_cancelled();
                now.apply(JobEvent::CancelRequested)?;
            }
            Ok(())
        });
        let job = job.await?;
        Ok(active.then_some(job))
    }

    /// Waits until the preparation of a loop is cancelled. Records the request as well, for the next process
    /// and for a loop whose process is being started at this moment.
    async fn stop_preparation(
        &self,
        id: LoopId,
        mode: StopMode,
        grace: Duration,
    ) -> Result<StopOutcome, StoreError> {
        let released = self.reservations.free(id);
        let stopped = match self.record_stop_request(id, mode).await {
            Ok(Some(job)) => self.stop_process(&job, grace).await,
            // The record does not exist yet, or is that of an earlier run.
            Ok(None) | Err(StoreError::NoJob) => true,
            Err(error) => return Err(error),
        };
        let released = tokio::time::timeout(grace, released).await.is_ok();
        Ok(if stopped && released { StopOutcome::Stopped } else { StopOutcome::StillRunning })
    }

    /// Kills the processes of a loop; returns whether all of them have ended.
    async fn stop_process(&self, job: &Job, grace: Duration) -> bool {
        let Some(process) = &job.run.process else { return true };
        let (socket, exit) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
        // The processes that a killed shim left behind are terminated by the supervision task.
        let Some(shim) = shim::attach(&socket, &exit).await else { return true };
        match shim.kill(grace).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(loop_id = %job.id, %error, "shim did not respond; killing its processes");
                // Without the shim, its processes are found by the loop id in their environment.
                shim::reap(job.id, grace).await.all_ended()
            }
        }
    }
}
