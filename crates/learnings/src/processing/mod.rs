//! Processing: the script of the self-learning plugin merges the pending learnings of a worktree.
//!
//! The script is detached from this process and outlives it. It writes `processing-status.json`; if it exits
//! without a result, this module records the failure.

mod batch;
mod merge;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_tools::process::{self, Command, DetachedProcess, Limits, Output, StartError};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

pub use batch::{Batch, BatchStart};
pub use merge::{PendingBatch, process};

use crate::jobs::{BackgroundJob, BackgroundJobs, ended};
use crate::pending::Pending;
use crate::programs::{LearningPrograms, PluginDirs};
use crate::status::{ProcessingStatus, State, StatusFile as _};
use crate::worktree::LearningCheckout;

const LOG: &str = "process-learnings.log";
const PLUGIN_MISSING: &str = "The self-learning plugin is not installed";
/// Timeout for one worktree: a classification request has a timeout of 5 minutes, and there can be several.
const TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Grace period for the script to exit after it has written its result.
const EXIT_GRACE: Duration = Duration::from_secs(10);
/// Interval at which a detached process is polled; it is not a child of this process, so there is no exit
/// notification.
const POLL_PAUSE: Duration = Duration::from_millis(100);
// Between SIGTERM and SIGKILL.
const KILL_GRACE: Duration = Duration::from_secs(2);

/// Result of a request to process a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessingStart {
    /// There is nothing to process, for the given reason.
    Skipped(&'static str),
    /// The script is running.
    Started {
        /// Pid of the script.
        pid: u32,
        /// Log file with the script's output.
        log: PathBuf,
    },
    /// No plugin provides the script; also recorded in the status.
    NoScript,
}

/// Processing jobs, at most one per work directory. Clones share them.
#[derive(Clone)]
pub struct Processing {
    programs: Option<Arc<dyn LearningPrograms>>,
    plugins: PluginDirs,
    /// Each job publishes its pid once the process is started.
    jobs: BackgroundJobs<Option<u32>>,
}

impl Processing {
    pub(crate) fn new(programs: Option<Arc<dyn LearningPrograms>>, plugins: PluginDirs) -> Self {
        Self { programs, plugins, jobs: BackgroundJobs::default() }
    }

    /// Returns the status of the processing. Performs blocking I/O.
    #[must_use]
    pub fn status(&self, work_dir: &Path) -> ProcessingStatus {
        ProcessingStatus::read(work_dir, self.jobs.get(work_dir).is_some())
    }

    /// Starts processing the pending learnings of a worktree, unless a job is running.
    ///
    /// # Errors
    /// Fails when the log cannot be written or the script cannot be started.
    pub async fn start(&self, worktree: LearningCheckout) -> Result<ProcessingStart, StartError> {
        let log = worktree.work_dir.join(LOG);
        let job = match self.begin(&worktree.work_dir).await {
            Ok(job) => job,
            Err(pid) => return Ok(ProcessingStart::Started { pid, log }),
        };
        let command = match self.prepare(&worktree).await {
            Ok(command) => command,
            Err(not_started) => return Ok(not_started),
        };
        let (work_dir, log_file) = (worktree.work_dir.clone(), log.clone());
        let spawn = spawn_blocking(move || {
            // Before the spawn: written later, it could overwrite the status of a fast script.
            ProcessingStatus::at(State::Processing, None).write_or_log(&work_dir);
            let spawned = command.spawn_detached(&log_file);
            if let Err(error) = &spawned {
                ProcessingStatus::at(State::Error, Some(error.to_string())).write_or_log(&work_dir);
            }
            spawned
        });
        let process = spawn.await.map_err(|error| StartError::Refused {
            program: LOG.to_owned(),
            source: std::io::Error::other(error),
        })??;
        job.publish(Some(process.pid));
        tokio::spawn(async move {
            wait_for_exit(process).await;
            finish(worktree.work_dir).await;
            drop(job);
        });
        Ok(ProcessingStart::Started { pid: process.pid, log })
    }

    /// Starts processing when `ready` completes. The status is `waiting` until then, and always becomes
    /// `completed` or `error` eventually, because clients poll for it.
    pub async fn start_after(
        &self,
        worktree: LearningCheckout,
        ready: impl Future<Output = ()> + Send + 'static,
    ) {
        let work_dir = worktree.work_dir.clone();
        write_status(&work_dir, ProcessingStatus::at(State::Waiting, None)).await;
        let processing = self.clone();
        tokio::spawn(async move {
            ready.await;
            // Errors and a missing script are already recorded in the status.
            if let Ok(ProcessingStart::Skipped(_)) = processing.start(worktree).await {
                let completed =
                    ProcessingStatus { processed: Some(0), ..ProcessingStatus::at(State::Completed, None) };
                write_status(&work_dir, completed).await;
            }
        });
    }

    /// Registers a job for the work directory; returns the pid of the running script when there is one.
    ///
    /// Waits for a script that has written its result but not exited: it does not process learnings that were
    /// added since, so a new script is needed for them.
    async fn begin(&self, work_dir: &Path) -> Result<BackgroundJob<Option<u32>>, u32> {
        loop {
            let mut running = match self.jobs.begin(work_dir, None) {
                Ok(job) => return Ok(job),
                Err(running) => running,
            };
            // The other job ended before it had a pid: try again.
            let Ok(Some(pid)) = running.wait_for(Option::is_some).await.map(|pid| *pid) else { continue };
            let directory = work_dir.to_owned();
            let status = spawn_blocking(move || ProcessingStatus::read(&directory, true).status).await;
            let is_running = status.is_ok_and(|status| status == State::Processing);
            if is_running || timeout(EXIT_GRACE, ended(running)).await.is_err() {
                return Err(pid);
            }
        }
    }

    /// Returns the script's command, if there are pending learnings.
    async fn prepare(&self, worktree: &LearningCheckout) -> Result<Command, ProcessingStart> {
        let (plugins, work_dir) = (self.plugins.clone(), worktree.work_dir.clone());
        let check = spawn_blocking(move || {
            let pending = Pending::of(&work_dir);
            if !pending.exists() {
                return Err(ProcessingStart::Skipped("No pending learnings directory"));
            }
            if pending.names().is_empty() {
                return Err(ProcessingStart::Skipped("No pending learning files"));
            }
            plugins.processing_script().ok_or(ProcessingStart::NoScript)
        });
        let script = check.await.unwrap_or(Err(ProcessingStart::NoScript));
        match (script, &self.programs) {
            (Ok(script), Some(programs)) => Ok(programs.script(&script, worktree).await),
            (Err(skipped @ ProcessingStart::Skipped(_)), _) => Err(skipped),
            _ => {
                let error = ProcessingStatus::at(State::Error, Some(PLUGIN_MISSING.to_owned()));
                write_status(&worktree.work_dir, error).await;
                Err(ProcessingStart::NoScript)
            }
        }
    }

    /// Processes a worktree to completion, after any job that is running in it.
    async fn run(
        &self,
        worktree: &LearningCheckout,
        script: &Path,
        programs: &dyn LearningPrograms,
    ) -> Result<Output, StartError> {
        let job = loop {
            match self.jobs.begin(&worktree.work_dir, Some(std::process::id())) {
                Ok(job) => break job,
                Err(running) => ended(running).await,
            }
        };
        write_status(&worktree.work_dir, ProcessingStatus::at(State::Processing, None)).await;
        let output = programs.script(script, worktree).await.run(Limits::time(TIMEOUT)).await;
        finish(worktree.work_dir.clone()).await;
        drop(job);
        output
    }
}

async fn write_status(work_dir: &Path, status: ProcessingStatus) {
    let work_dir = work_dir.to_owned();
    // Fails only when the runtime shuts down; errors of the write itself are logged.
    let _ = spawn_blocking(move || status.write_or_log(&work_dir)).await;
}

/// Waits until a detached process has exited; kills its process group after the timeout.
async fn wait_for_exit(process: DetachedProcess) {
    // Without a start time, a reused pid could not be distinguished from the script.
    let Some(started) = process.started else { return };
    let deadline = Instant::now() + TIMEOUT;
    while process::alive(process.pid, started) {
        if Instant::now() > deadline {
            process::kill_group(process.pid, started, KILL_GRACE).await;
            return;
        }
        sleep(POLL_PAUSE).await;
    }
}

/// Records a failure if the script has exited without writing a result.
async fn finish(work_dir: PathBuf) {
    let write = spawn_blocking(move || {
        // Read as if the job were still running (`true`): an old timestamp must not hide that the result is
        // missing.
        if ProcessingStatus::read(&work_dir, true).status == State::Processing {
            let message = "The program exited without a result; see its log";
            ProcessingStatus::at(State::Error, Some(message.to_owned())).write_or_log(&work_dir);
        }
    });
    let _ = write.await;
}
