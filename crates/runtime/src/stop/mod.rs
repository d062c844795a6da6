//! Ends a loop because a person wants it: recorded first, then its shim is asked.
//!
//! No pid is ever signalled here. Who follows the loop does the rest; when nobody does, the loop is
//! taken up for that.

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

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoopKillOutcome {
    /// The loop ran here.
    Terminated,
    /// It was known from its record only.
    TerminatedAfterRestart,
    /// It waited for a place, and had no process yet.
    LeftQueue,
    /// It was being prepared, and had no process yet.
    NotStarted,
}

impl LoopKillOutcome {
    /// The text of the answer.
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

/// What a person asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopMode {
    /// The loop.
    Cancel,
    /// Its process.
    Stop,
}

/// What became of the process of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopOutcome {
    /// The loop had ended before.
    AlreadyEnded,
    /// It is gone.
    Stopped,
    /// It does not end.
    StillRunning,
    /// Another task starts or recovers the loop at this moment.
    Busy,
}

/// Ends loops, and the other processes that Loopgate started.
pub struct Stopper {
    pub(crate) jobs: Jobs,
    pub(crate) reservations: Reservations,
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) supervisor: Supervisor,
    pub(crate) processes: ProcessRegistry,
    pub(crate) timing: RuntimeTiming,
}

impl Stopper {
    /// Ends the loop that a body names.
    ///
    /// # Errors
    /// 400 for a bad body, 404 when nothing of this loop runs, 409 while it is being taken up.
    pub async fn kill_loop(&self, body: &[u8]) -> Result<LoopKillOutcome, LoopRequestError> {
        let members = request::members(body)?;
        let id = members.get("loopId").and_then(Value::as_str).filter(|id| !id.is_empty());
        let id = id.ok_or_else(|| LoopRequestError::missing_field("loopId is required"))?;
        let unknown = || LoopRequestError::new(404, "No running process found for this loop");
        let initializing = || LoopRequestError::new(409, "Loop is still initializing, retry shortly");
        let id: LoopId = id.parse().map_err(|_| unknown())?;
        if self.queue.cancel(id).await? {
            return Ok(LoopKillOutcome::LeftQueue);
        }
        let outcome = match self.reservations.phase(id) {
            // It is being put into the queue, or taken out of it, at this moment.
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

    /// Records what a person wants and asks the shim. A loop that is being prepared is not started. A
    /// loop that no task follows, because recovery has not reached it or gave it back, is taken up for
    /// that.
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
        let unfollowed = match self.reservations.phase(id) {
            Some(_) => None,
            None => match self.reservations.reserve(id) {
                Some(reservation) => Some(reservation),
                None => return Ok(StopOutcome::Busy),
            },
        };
        let Some(job) = self.record_stop_request(id, mode).await? else {
            return Ok(StopOutcome::AlreadyEnded);
        };
        let gone = self.stop_process(&job, grace).await;
        if let Some(reservation) = unfollowed {
            reservation.running();
            let begin = ProcessState::Exited(ExitKind::Lost);
            self.supervisor.follow(id, begin, FinalizationSource::BootRecovery, reservation);
        }
        Ok(if gone { StopOutcome::Stopped } else { StopOutcome::StillRunning })
    }

    /// Records what a person wants of a loop; `None` when it is over.
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

    /// Waits until the preparation of a loop is cancelled; its task was signalled. Recorded all
    /// the same, for the next process, and for a loop whose process is started at this moment.
    async fn stop_preparation(
        &self,
        id: LoopId,
        mode: StopMode,
        grace: Duration,
    ) -> Result<StopOutcome, StoreError> {
        let given_up = self.reservations.free(id);
        let gone = match self.record_stop_request(id, mode).await {
            Ok(Some(job)) => self.stop_process(&job, grace).await,
            // Its record is only about to be made, over that of an earlier run.
            Ok(None) | Err(StoreError::NoJob) => true,
            Err(error) => return Err(error),
        };
        let given_up = tokio::time::timeout(grace, given_up).await.is_ok();
        Ok(if gone && given_up { StopOutcome::Stopped } else { StopOutcome::StillRunning })
    }

    /// Whether everything that the loop started is gone.
    async fn stop_process(&self, job: &Job, grace: Duration) -> bool {
        let Some(process) = &job.run.process else { return true };
        let (socket, exit) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
        let Some(shim) = shim::attach(&socket, &exit).await else { return true };
        match shim.kill(grace).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(loop_id = %job.id, %error, "a loop's shim did not answer; its processes are ended");
                shim::reap(job.id, grace).await.left == 0
            }
        }
    }
}
