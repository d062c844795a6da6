//! One task a loop: follows its process to the end, then works on what the end means.
//!
//! The task owns the loop's reservation. When the runtime stops, the task ends and the process goes
//! on; the next runtime finds both again by the record.

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

/// What a shim that was killed may leave running gets this long to end.
const SWEEP_GRACE: Duration = Duration::from_secs(3);
/// Waits between tries to store the end of a loop, while the disk is full; the last one again and
/// again.
const STORE_RETRY: [Duration; 4] =
    [Duration::from_millis(200), Duration::from_secs(2), Duration::from_secs(10), Duration::from_secs(30)];

/// The process of a loop when its task begins.
pub(crate) enum ProcessState {
    /// The process lives under its shim.
    Running(ShimHandle),
    /// The process is gone.
    Exited(ExitKind),
}

/// Follows loops to their end.
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
    /// Follows a loop to its end and finishes it.
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
                    () = task.services.heartbeat.keep_alive(task.id) => {}
                    () = task.run(state) => {}
                }
            });
            // Aborted with its owner; a panic inside must not take the reservation's release along.
            if let Err(error) = AbortOnDrop(inner).await_it().await {
                tracing::error!(loop_id = %id, %error, "the task of a loop ended unexpectedly");
            }
            drop(reservation);
            tracing::info!(loop_id = %id, "the place of a loop is free");
        });
    }
}

struct AbortOnDrop(tokio::task::JoinHandle<()>);

impl AbortOnDrop {
    async fn await_it(mut self) -> Result<(), tokio::task::JoinError> {
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
                tracing::error!(loop_id = %self.id, %error, "the record of a loop cannot be read");
                return;
            }
        };
        // On the heap: it holds a whole tailer.
        let (ended, summary) = Box::pin(self.to_the_end(&job, begin)).await;
        let mut waits = STORE_RETRY.iter();
        let mut wait = Duration::ZERO;
        let mut failures = FailureStreak::default();
        loop {
            let finished = self.services.finalizer.finish(self.id, &ended, &summary, self.source).await;
            let Err(error) = finished else { return };
            tracing::error!(loop_id = %self.id, %error, "the end of a loop could not be stored");
            if !error.may_pass() {
                return;
            }
            failures.record_failure(&self.services.tokens, self.id, &error).await;
            wait = waits.next().copied().unwrap_or(wait);
            tokio::time::sleep(wait).await;
        }
    }

    /// Follows process and output until both are over.
    async fn to_the_end(&self, job: &Job, begin: ProcessState) -> (ExitKind, StreamSummary) {
        let work_dir = job.work_dir();
        let ended = CancellationToken::new();
        let tailer = self.services.transcripts.follow(job, work_dir.clone(), ended.clone());
        let perf = self.services.perf.follow(job, &work_dir, &ended);
        let process = async {
            let mut how = match begin {
                ProcessState::Running(shim) => self.wait(&shim).await,
                ProcessState::Exited(how) => how,
            };
            while let Some(shim) = self.services.restarts.restart(self.id, &how).await {
                how = self.wait(&shim).await;
            }
            if let Err(error) = self.record_exit(&how).await {
                tracing::error!(loop_id = %self.id, %error, "how a loop ended could not be stored");
            }
            ended.cancel();
            how
        };
        let (how, summary, ()) = tokio::join!(process, tailer, perf);
        (how, summary)
    }

    async fn wait(&self, shim: &ShimHandle) -> ExitKind {
        match shim.wait().await {
            Ok(exit) => ExitKind::Exit { code: exit.code, signal: exit.signal },
            Err(error) => {
                tracing::warn!(loop_id = %self.id, %error, "a loop's shim is gone");
                if matches!(error, ShimError::Lost) {
                    shim::reap(self.id, SWEEP_GRACE).await;
                }
                ExitKind::Lost
            }
        }
    }

    /// Stored before anything else, so that no reader takes a loop that is being finished for one
    /// that vanished.
    async fn record_exit(&self, how: &ExitKind) -> Result<(), StoreError> {
        if let Some(code) = how.exit_code() {
            let signal = how.signal_name();
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
