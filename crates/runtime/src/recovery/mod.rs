//! Recovery after a start: finds every loop that an earlier process left, follows or finalizes it, and
//! resumes unsent reports.
//!
//! The state of a loop is derived from, in this order: its live shim, the shim's exit file, the loop's state
//! file, its outputs. A state file that is older than the run belongs to another loop and is ignored.

mod clock_watch;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::assistant_record::RecordKind;
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

/// Grace period between SIGTERM and SIGKILL for processes that outlive a killed shim.
const SWEEP_GRACE: Duration = Duration::from_secs(3);

/// Limit of start attempts. A start that crashes Loopgate must not crash it again after every restart.
const MAX_START_ATTEMPTS: u32 = 3;

/// State in which an earlier process left a loop.
enum RecoveredLoop {
    /// A live process, or the exit of one.
    Started(ProcessState),
    /// The process was never started.
    NotStarted,
    /// The loop has a terminal status.
    Ended,
}

/// Recovers loops that no task follows.
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
    /// Recovers the loops of an earlier process. Returns when every loop has a task; the tasks continue in
    /// the background.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn recover(self: &Arc<Self>) -> Result<(), StoreError> {
        self.tickets.recover().await;
        for job in self.jobs.store.active().await?.iter().filter(|job| job.is_announced_only()) {
            plan_loop::close_unstarted(&self.jobs, job.id).await?;
        }
        // Running loops come first: the user may want to see or stop them.
        self.recover_unfollowed().await?;
        for job in self.jobs.store.unreported().await? {
            if self.jobs.store.next_message(job.id).await?.is_none() {
                // All messages were acknowledged, but the process crashed before it recorded that.
                self.jobs.store.mark_reported(job.id).await?;
            }
        }
        for id in self.jobs.store.loops_with_messages().await? {
            self.outbox.wake(id);
        }
        // Tokens before workspaces: a cleanup reserves its loop like a launch does, and reserved loops keep
        // their tokens.
        self.drop_orphan_tokens().await?;
        self.clean_up_workspaces().await
    }

    /// Follows every active loop without a task: an earlier process left it, its task panicked, or it was
    /// accepted and never started.
    async fn recover_unfollowed(self: &Arc<Self>) -> Result<(), StoreError> {
        for job in self.jobs.store.active().await? {
            if !job.is_announced_only() {
                self.recover_job(job);
            }
        }
        Ok(())
    }

    /// Follows loops without a task and retries cleanups that failed, for example because the disk was full.
    pub(crate) async fn tick(self: &Arc<Self>) -> Result<(), StoreError> {
        self.recover_unfollowed().await?;
        self.clean_up_workspaces().await
    }

    /// Cleans up workspaces of ended loops whose cleanup was interrupted.
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
            // Another live loop may use the same directory by now.
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
        // Conflicts are ignored: the loop already works in these directories.
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
            let state = tokio::select! {
                () = stop.cancelled() => return,
                state = recovery.find_process(&job) => state,
            };
            let result = match state {
                Ok(RecoveredLoop::Started(state)) => {
                    recovery.queue.delete_request(id).await;
                    let source = FinalizationSource::BootRecovery;
                    recovery.supervisor.follow(id, state, source, reservation);
                    Ok(())
                }
                Ok(RecoveredLoop::NotStarted) => recovery.queue.requeue(id, reservation).await,
                Ok(RecoveredLoop::Ended) => Ok(()),
                Err(error) => Err(error),
            };
            if let Err(error) = result {
                tracing::error!(loop_id = %id, %error, "cannot recover the loop");
            }
        });
    }

    /// Determines the state of a loop of an earlier process.
    async fn find_process(&self, job: &Job) -> Result<RecoveredLoop, StoreError> {
        // The loop may have ended between the query and the reservation.
        let now = self.jobs.store.job(job.id).await?.filter(|now| !now.status().is_terminal());
        let Some(job) = &now else { return Ok(RecoveredLoop::Ended) };
        let process = job.run.process.clone();
        if let Some(process) = process.as_ref().filter(|process| process.kind == ProcessKind::Main) {
            let (socket, exit) = (PathBuf::from(&process.socket), PathBuf::from(&process.exit_file));
            let shim = match job.status() {
                // A shim that was spawned right before the crash may not listen on its socket yet.
                JobStatus::Starting => shim::attach_starting(job.id, &socket, &exit).await,
                _ => shim::attach(&socket, &exit).await,
            };
            if let Some(shim) = shim {
                self.record_alive(job, &shim).await?;
                return Ok(RecoveredLoop::Started(ProcessState::Running(shim)));
            }
        }
        if self.can_restart(job).await? {
            tracing::info!(loop_id = %job.id, "loop was not started before the shutdown; requeuing it");
            return Ok(RecoveredLoop::NotStarted);
        }
        let ended = exit_of(job).await;
        if ended == ExitKind::Lost {
            // Processes of a killed shim would keep running unsupervised.
            let reaped = shim::reap(job.id, SWEEP_GRACE).await;
            tracing::info!(loop_id = %job.id, processes = reaped.running, "loop left no exit status; terminated its processes");
        }
        self.jobs
            .change(job.id, |now| {
                // The state machine accepts an exit only after `Spawned`, and the crash prevented that
                // record.
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

    /// Returns whether the process was never started and can be: its launch request is still stored.
    async fn can_restart(&self, job: &Job) -> Result<bool, StoreError> {
        // Records of versions that did not count attempts are not restarted.
        let tries = job.run.start_attempt.map_or(MAX_START_ATTEMPTS, |start_attempt| start_attempt.tries);
        let Some(process) = job.run.process.clone() else { return Ok(false) };
        if job.status() != JobStatus::Starting || tries >= MAX_START_ATTEMPTS {
            return Ok(false);
        }
        // A shim that hangs before it begins must not start the program later, in parallel with the next
        // attempt.
        shim::reap(job.id, SWEEP_GRACE).await;
        if !self.jobs.store.loops_with_launch_request().await?.contains(&job.id) {
            return Ok(false);
        }
        let check = tokio::task::spawn_blocking(move || {
            !shim::has_started(Path::new(&process.socket), Path::new(&process.exit_file))
        });
        Ok(check.await.unwrap_or(false))
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
            // The cancellation was recorded, but the previous process terminated before it killed the loop.
            let (shim, grace) = (shim.clone(), self.timing.kill_grace);
            self.tasks.spawn(async move {
                if let Err(error) = shim.kill(grace).await {
                    tracing::warn!(%error, "cannot kill a loop that was cancelled before the restart");
                }
            });
        }
        Ok(())
    }

    /// Deletes tokens of loops that have ended and are completely reported.
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

/// Determines the exit of a loop without a process from its files.
async fn exit_of(job: &Job) -> ExitKind {
    let job = job.clone();
    tokio::task::spawn_blocking(move || exit_from_files(&job)).await.unwrap_or(ExitKind::Lost)
}

fn exit_from_files(job: &Job) -> ExitKind {
    // Recorded by the previous process before it terminated.
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
        // The process has ended, so no answer of the user could reach it.
        Some("COMPLETED" | "AWAITING_USER") => return ExitKind::Done,
        Some("FAILED") => return ExitKind::ReportedFailure,
        Some("STOPPED" | "CANCELLED") => return ExitKind::ReportedStop,
        _ => {}
    }
    if left_results(job, &directory) { ExitKind::Done } else { ExitKind::Lost }
}

/// Returns whether this run wrote valid results: for EXECUTE its result file, otherwise all required outputs
/// and a stream that reports success.
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
    let outputs = OutputPaths::of(job);
    let missing = |output| !written_since(job, &outputs.path(output));
    job.command != LoopCommand::Execute
        && spec.required_outputs().next().is_some()
        && !spec.required_outputs().any(missing)
        && stream_file::resolve_live(directory).is_some_and(|stream| ends_in_success(&stream))
}

/// Returns whether the last records of a stream report a successful turn.
pub(crate) fn ends_in_success(stream: &Path) -> bool {
    let tail = stream_file::tail(stream);
    let mut records = stream_file::records(&tail);
    records.any(|record| matches!(record.kind, RecordKind::Result(result) if result.is_success()))
}
