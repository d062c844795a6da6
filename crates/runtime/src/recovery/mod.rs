//! After a start: every loop that an earlier process left is found again, followed or finished, and
//! what was never reported is reported.
//!
//! A loop is judged by what is on disk, in this order: its living shim, the exit that the shim
//! wrote, the state that the loop itself wrote, the results it left. A state file that is older
//! than the loop is another loop's.

mod clock_watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::command::LoopCommand;
use loopgate_api::job::JobStatus;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_home::untrusted;
use loopgate_tools::shim::{self, Exit};
use tokio::sync::watch;

use crate::delivery::{ExitKind, OutputPaths};
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::Reservations;
use crate::jobs::store::StoreError;
use crate::jobs::{FinalizationSource, Job, Jobs, ProcessKind};
use crate::launch::launch_queue::LaunchQueue;
use crate::reporting::outbox::Outbox;
use crate::supervision::{ProcessState, Supervisor};
use crate::tasks::Tasks;
use crate::tickets::launch::TicketLauncher;
use crate::tickets::plan_loop;
use crate::timing::RuntimeTiming;
use crate::transcript::state_file::{self, written_since};
use crate::transcript::stream_file;
use crate::workspace::Workspaces;

const SWEEP_GRACE: Duration = Duration::from_secs(3);

/// Processes of Loopgate that may die while they start a loop, before it is given up: the start itself
/// may be what kills them.
const MAX_START_ATTEMPTS: u32 = 3;

/// What an earlier process left of a loop.
enum RecoveredLoop {
    /// A process that runs, or its end.
    Started(ProcessState),
    /// Nothing yet: its process was never started.
    NotStarted,
    /// Nothing more: it is over in every respect.
    Ended,
}

/// Takes over the loops that no task follows.
pub struct Recovery {
    pub(crate) jobs: Jobs,
    pub(crate) reservations: Reservations,
    pub(crate) queue: Arc<LaunchQueue>,
    pub(crate) supervisor: Supervisor,
    pub(crate) workspaces: Workspaces,
    pub(crate) tickets: Arc<TicketLauncher>,
    pub(crate) outbox: Outbox,
    pub(crate) woken: watch::Sender<u64>,
    pub(crate) timing: RuntimeTiming,
    pub(crate) tasks: Tasks,
}

impl Recovery {
    /// Recovers everything that an earlier process left. Returns when every loop is followed by a
    /// task of its own; those go on in the background.
    ///
    /// # Errors
    /// [`StoreError`] when the records cannot be read.
    pub async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        self.tickets.recover().await;
        for job in self.jobs.store.active().await?.iter().filter(|job| job.is_announced_only()) {
            plan_loop::close_unstarted(&self.jobs, job.id).await?;
        }
        // Running loops come first: the user may want to see or stop them.
        self.recover_unfollowed().await?;
        for job in self.jobs.store.unreported().await? {
            if self.jobs.store.next_message(job.id).await?.is_none() {
                // Nothing is left to say: only the mark of it was lost.
                self.jobs.store.mark_reported(job.id).await?;
            }
        }
        for id in self.jobs.store.loops_with_messages().await? {
            self.outbox.wake(id);
        }
        // First the tokens: a loop whose workspace is being cleaned up is reserved, as one that is being started.
        self.drop_orphan_tokens().await?;
        self.clean_up_workspaces().await
    }

    /// Follows every loop that is recorded as active and that no task follows: an earlier process
    /// left it, its task ended unexpectedly, or it was ordered and never came to run.
    async fn recover_unfollowed(self: &Arc<Self>) -> Result<(), StoreError> {
        for job in self.jobs.store.active().await? {
            if !job.is_announced_only() {
                self.recover_job(job);
            }
        }
        Ok(())
    }

    /// Follows loops that no task follows, and cleans up what could not be cleaned up: the disk may have been full.
    pub(crate) async fn tick(self: &Arc<Self>) -> Result<(), StoreError> {
        self.recover_unfollowed().await?;
        self.clean_up_workspaces().await
    }

    /// Clears what loops that had ended left when the program died before it could.
    async fn clean_up_workspaces(&self) -> Result<(), StoreError> {
        for job in self.jobs.store.needing_cleanup().await? {
            let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| &peer.dir);
            let test_run = job.test_run().map(|run| run.worktree.as_path());
            let dirs = job.workspace.temp_dir.iter().chain(peers).map(Path::new);
            let dirs: Vec<&Path> = dirs.chain(test_run).collect();
            let Some(reservation) = self.reservations.reserve(job.id).filter(|_| !dirs.is_empty()) else {
                continue;
            };
            reservation.running();
            // A loop that lives may work in the same place by now.
            if dirs.into_iter().all(|dir| reservation.claim(dir).is_ok()) {
                let workspaces = self.workspaces.clone();
                self.tasks.spawn(async move {
                    workspaces.clean_up(&job).await;
                    drop(reservation);
                });
            }
        }
        Ok(())
    }

    fn recover_job(self: &Arc<Self>, job: Job) {
        let Some(reservation) = self.reservations.reserve(job.id) else { return };
        if let Some(worktree) = &job.workspace.worktree_dir {
            let _ = reservation.claim(Path::new(worktree));
        }
        let peers = job.workspace.additional_worktree_dirs.iter().map(|peer| &peer.dir);
        for dir in job.workspace.temp_dir.iter().chain(peers) {
            let _ = reservation.claim(Path::new(dir));
        }
        reservation.running();
        let recovery = self.clone();
        self.tasks.spawn(async move {
            let (id, stop) = (job.id, recovery.tasks.stop.clone());
            let begin = tokio::select! {
                () = stop.cancelled() => return,
                begin = recovery.find_process(&job) => begin,
            };
            let taken = match begin {
                Ok(RecoveredLoop::Started(begin)) => {
                    recovery.queue.delete_request(id).await;
                    let source = FinalizationSource::BootRecovery;
                    recovery.supervisor.follow(id, begin, source, reservation);
                    Ok(())
                }
                Ok(RecoveredLoop::NotStarted) => recovery.queue.requeue(id, reservation).await,
                Ok(RecoveredLoop::Ended) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = taken {
                tracing::error!(loop_id = %id, %error, "a loop could not be taken up again");
            }
        });
    }

    /// How a loop of an earlier process is.
    async fn find_process(&self, job: &Job) -> Result<RecoveredLoop, StoreError> {
        // It may have ended between the look at the records and the reservation.
        let now = self.jobs.store.job(job.id).await?.filter(|now| !now.status().is_terminal());
        let Some(job) = &now else { return Ok(RecoveredLoop::Ended) };
        let process = job.run.process.clone();
        if let Some(process) = process.as_ref().filter(|process| process.kind == ProcessKind::Main) {
            let (socket, exit) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
            let shim = match job.status() {
                JobStatus::Starting => shim::attach_young(job.id, &socket, &exit).await,
                _ => shim::attach(&socket, &exit).await,
            };
            if let Some(shim) = shim {
                self.record_alive(job, &shim).await?;
                return Ok(RecoveredLoop::Started(ProcessState::Running(shim)));
            }
        }
        if self.can_restart(job).await? {
            tracing::info!(loop_id = %job.id, "a loop had not begun when Loopgate ended");
            return Ok(RecoveredLoop::NotStarted);
        }
        let ended = exit_of(job).await;
        if ended == ExitKind::Lost {
            // Whatever a killed shim left running would work on without anybody watching.
            let swept = shim::reap(job.id, SWEEP_GRACE).await;
            tracing::info!(loop_id = %job.id, found = swept.found, "a loop left no word of its end");
        }
        self.jobs
            .change(job.id, |now| {
                let can_end = matches!(now.job.status(), JobStatus::Queued | JobStatus::Starting);
                if can_end && ended != ExitKind::Lost {
                    now.apply(JobEvent::Spawned)?;
                }
                now.job.progress.live_activity =
                    Some("Boot recovery took ownership of finalization".to_owned());
                Ok(())
            })
            .await?;
        Ok(RecoveredLoop::Started(ProcessState::Exited(ended)))
    }

    /// Whether a loop's process was never started, though everything is there to start it.
    async fn can_restart(&self, job: &Job) -> Result<bool, StoreError> {
        let tries = job.run.start_attempt.map_or(MAX_START_ATTEMPTS, |start_attempt| start_attempt.tries);
        let Some(process) = job.run.process.clone() else { return Ok(false) };
        if job.status() != JobStatus::Starting || tries >= MAX_START_ATTEMPTS {
            return Ok(false);
        }
        // What hangs before it has begun must not come after the one that is started next.
        shim::reap(job.id, SWEEP_GRACE).await;
        if !self.jobs.store.loops_with_launch_request().await?.contains(&job.id) {
            return Ok(false);
        }
        let look = tokio::task::spawn_blocking(move || {
            !shim::has_begun(Path::new(&process.socket), Path::new(&process.exit_file))
        });
        Ok(look.await.unwrap_or(false))
    }

    async fn record_alive(&self, job: &Job, shim: &shim::ShimHandle) -> Result<(), StoreError> {
        let state = shim.state().await.ok();
        self.jobs
            .change(job.id, |now| {
                if matches!(now.job.status(), JobStatus::Queued | JobStatus::Starting) {
                    now.apply(JobEvent::Spawned)?;
                }
                if let Some(state) = &state {
                    now.job.run.pid = Some(state.pid);
                    now.job.run.pid_started_at = state.started.map(|started| started.0);
                }
                now.job.progress.live_activity =
                    Some("Boot recovery reattached after desktop restart".to_owned());
                Ok(())
            })
            .await?;
        if job.is_cancelled() {
            // The wish was recorded and its process died before it was carried out.
            let (shim, grace) = (shim.clone(), self.timing.kill_grace);
            self.tasks.spawn(async move {
                if let Err(error) = shim.kill(grace).await {
                    tracing::warn!(%error, "a loop that was cancelled before the restart did not end");
                }
            });
        }
        Ok(())
    }

    /// Deletes tokens of loops that have ended and are reported.
    async fn drop_orphan_tokens(&self) -> Result<(), StoreError> {
        for id in self.jobs.store.loops_with_token().await? {
            let orphan: bool = self.jobs.store.is_reported(id).await?.unwrap_or(true);
            if orphan && self.reservations.phase(id).is_none() {
                self.jobs.store.delete_token(id).await?;
            }
        }
        Ok(())
    }
}

/// How a dead loop ended, by what it left.
async fn exit_of(job: &Job) -> ExitKind {
    let job = job.clone();
    tokio::task::spawn_blocking(move || exit_from_files(&job)).await.unwrap_or(ExitKind::Lost)
}

fn exit_from_files(job: &Job) -> ExitKind {
    if let Some(code) = job.run.exit_code {
        return ExitKind::Exit { code: Some(code), signal: None };
    }
    let directory = job.work_dir();
    let main_exit = directory.join(loopgate_api::names::EXIT_FILE);
    if let Some(exit) = Exit::read(&main_exit) {
        return ExitKind::Exit { code: exit.code, signal: exit.signal };
    }
    let state = state_file::of_run(job, &directory);
    let status = state.as_ref().and_then(|state| state.get("status")?.as_str()).map(str::to_uppercase);
    match status.as_deref() {
        Some("COMPLETED" | "AWAITING_USER") => return ExitKind::Done,
        Some("FAILED") => return ExitKind::ReportedFailure,
        Some("STOPPED" | "CANCELLED") => return ExitKind::ReportedStop,
        _ => {}
    }
    if left_results(job, &directory) { ExitKind::Done } else { ExitKind::Lost }
}

/// Whether the required files are there, made by this run, and the assistant said that it is done.
fn left_results(job: &Job, directory: &Path) -> bool {
    let result = directory.join(EXECUTION_RESULT);
    if job.command == LoopCommand::Execute && written_since(job, &result) {
        let document = untrusted::read_json(&result);
        let name = job.workspace.primary_repo_full_name.as_deref();
        if document.is_some_and(|document| {
            loopgate_api::execution_result::ExecutionResult::parse(&document, name).is_ok()
        }) {
            return true;
        }
    }
    let spec = job.command.spec();
    let places = OutputPaths::of(job);
    let missing = |output| !written_since(job, &places.path(output));
    job.command != LoopCommand::Execute
        && spec.required_outputs().next().is_some()
        && !spec.required_outputs().any(missing)
        && stream_file::resolve_live(directory).is_some_and(|stream| ends_in_success(&stream))
}

/// Whether the last records of a stream say that the turn succeeded.
pub(crate) fn ends_in_success(stream: &Path) -> bool {
    let tail = stream_file::tail(stream);
    let mut records = stream_file::records(&tail);
    records.any(|record| record["type"] == "result" && record["subtype"] == "success")
}
