//! Supervision: one task per loop follows its process to the end and then finalizes the loop.
//!
//! The task owns the loop's reservation. On shutdown the task ends and the process keeps running; the next
//! runtime recovers it from the record.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::assistant_stream::StreamSummary;
use loopgate_api::ids::LoopId;
use loopgate_tools::shim::{self, ShimError, ShimHandle};
use tokio_util::sync::CancellationToken;

use crate::delivery::{ExitKind, Finalizer};
use crate::jobs::reservations::Reservation;
use crate::jobs::store::StoreError;
use crate::jobs::{FinalizationSource, Job, Jobs};
use crate::launch::driver_restart::DriverRestarts;
use crate::reporting::failure_streak::FailureStreak;
use crate::reporting::heartbeat::HeartbeatSender;
use crate::reporting::tokens::Tokens;
use crate::tasks::Tasks;
use crate::transcript::perf::PerfEvents;
use crate::transcript::tailer::Transcripts;

/// Grace period for processes that outlive a killed shim.
const SWEEP_GRACE: Duration = Duration::from_secs(3);
/// Delays between attempts to store the end of a loop, for example while the disk is full; the last one
/// repeats.
pub(crate) const STORE_RETRY: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(30)];

/// State of a loop's process when supervision starts.
pub(crate) enum ProcessState {
    /// The process runs under its shim.
    Running(ShimHandle),
    /// The process has exited or was lost.
    Exited(ExitKind),
}

/// Follows loops to their end and finalizes them.
#[derive(Clone)]
pub(crate) struct Supervisor {
    pub jobs: Jobs,
    pub tokens: Tokens,
    pub heartbeat: HeartbeatSender,
    pub transcripts: Transcripts,
    pub perf: PerfEvents,
    pub finalizer: Arc<Finalizer>,
    pub restarts: DriverRestarts,
    pub tasks: Tasks,
}

impl Supervisor {
    /// Spawns the task that follows a loop to its end and finalizes it.
    pub fn follow(
        &self,
        id: LoopId,
        state: ProcessState,
        source: FinalizationSource,
        reservation: Reservation,
    ) {
        let task = SupervisionTask { services: self.clone(), id, source };
        self.tasks.spawn(async move {
            let inner = tokio::spawn(async move {
                let stop = task.services.tasks.stop.clone();
                tokio::select! {
                    () = stop.cancelled() => {}
                    // Never completes; it is dropped with the end of another branch.
                    () = task.services.heartbeat.keep_alive(task.id) => {}
                    () = task.run(state) => {}
                }
            });
            // A panic in the inner task must not skip the release of the reservation below. Dropping the
            // outer task aborts the inner one.
            if let Err(error) = AbortOnDrop(inner).join().await {
                tracing::error!(loop_id = %id, %error, "supervision task failed");
            }
            drop(reservation);
            tracing::info!(loop_id = %id, "loop reservation released");
        });
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl AbortOnDrop {
    async fn join(mut self) -> Result<(), tokio::task::JoinError> {
        (&mut self.0).await
    }
}

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

struct SupervisionTask {
    services: Supervisor,
    id: LoopId,
    source: FinalizationSource,
}

impl SupervisionTask {
    async fn run(&self, begin: ProcessState) {
        let job = match self.services.jobs.store.job(self.id).await {
            Ok(Some(job)) => job,
            Ok(None) => return,
            Err(error) => {
                tracing::error!(loop_id = %self.id, %error, "cannot read the job record");
                return;
            }
        };
        // Boxed because the future contains a whole tailer.
        let (ended, summary) = Box::pin(self.follow_to_end(&job, begin)).await;
        let mut waits = STORE_RETRY.iter();
        let mut wait = Duration::ZERO;
        let mut failures = FailureStreak::default();
        loop {
            let finished = self.services.finalizer.finish(self.id, &ended, &summary, self.source).await;
            let Err(error) = finished else { return };
            tracing::error!(loop_id = %self.id, %error, "cannot store the end of the loop");
            // Retrying an error of the record itself, for example invalid JSON, would never end.
            if !error.is_transient() {
                return;
            }
            failures.record_failure(&self.services.tokens, self.id, &error).await;
            wait = waits.next().copied().unwrap_or(wait);
            tokio::time::sleep(wait).await;
        }
    }

    /// Follows the process and its output until both have ended.
    async fn follow_to_end(&self, job: &Job, begin: ProcessState) -> (ExitKind, StreamSummary) {
        let work_dir = job.work_dir();
        let ended = CancellationToken::new();
        let tailer = self.services.transcripts.follow(job, work_dir.clone(), ended.clone());
        let perf = self.services.perf.follow(job, &work_dir, &ended);
        let process = async {
            let mut exit = match begin {
                ProcessState::Running(shim) => self.wait(&shim).await,
                ProcessState::Exited(exit) => exit,
            };
            // A driver that was killed while it waited may be restarted; the exit of the loop is that of its
            // last process.
            while let Some(shim) = self.services.restarts.restart(self.id, &exit).await {
                exit = self.wait(&shim).await;
            }
            if let Err(error) = self.record_exit(&exit).await {
                tracing::error!(loop_id = %self.id, %error, "cannot store the exit of the loop's process");
            }
            // The tailer and the timing reader stop at the end of their files only after this signal.
            ended.cancel();
            exit
        };
        let (exit, summary, ()) = tokio::join!(process, tailer, perf);
        (exit, summary)
    }

    async fn wait(&self, shim: &ShimHandle) -> ExitKind {
        match shim.wait().await {
            Ok(exit) => ExitKind::Exit { code: exit.code, signal: exit.signal },
            Err(error) => {
                tracing::warn!(loop_id = %self.id, %error, "lost the loop's shim");
                // Processes outlive a shim that was killed. Without it their exit is never recorded, so
                // terminate them.
                if matches!(error, ShimError::Lost) {
                    shim::reap(self.id, SWEEP_GRACE).await;
                }
                ExitKind::Lost
            }
        }
    }

    /// Stores the exit before the loop is finalized, so that readers do not mistake a loop in finalization
    /// for a lost one.
    async fn record_exit(&self, exit: &ExitKind) -> Result<(), StoreError> {
        if let Some(code) = exit.exit_code() {
            let signal = exit.signal_name();
            self.services
                .jobs
                .store
                .update(self.id, |job| {
                    job.run.exit_code.get_or_insert(code);
                    job.run.exit_signal = job.run.exit_signal.take().or(signal);
                })
                .await?;
        }
        Ok(())
    }
}
