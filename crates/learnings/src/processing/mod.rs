//! Processing: the script of the self-learning plugin merges the pending learnings of a worktree.
//!
//! The script runs on its own and outlives this process. It writes `processing-status.json`; what ends
//! without a result is noted as failed here.

mod batch;
mod merge;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use loopgate_tools::process::{self, Command, DetachedProcess, Limits, Output, StartError};
use tokio::task::spawn_blocking;
use tokio::time::{Instant, sleep, timeout};

pub use batch::{Batch, BatchStart};
pub use merge::process;

use crate::jobs::{BackgroundJob, BackgroundJobs, ended};
use crate::pending::Pending;
use crate::programs::{LearningPrograms, PluginDirs};
use crate::status::{ProcessingStatus, State, StatusFile as _};
use crate::worktree::Worktree;

const LOG: &str = "process-learnings.log";
const PLUGIN_MISSING: &str = "The self-learning plugin is not installed";
/// How long the processing of one worktree may take.
const TIME: Duration = Duration::from_secs(15 * 60);
/// How long a script may go on after it has written its result.
const EXIT_TIME: Duration = Duration::from_secs(10);
/// Pause between two checks whether a detached process is alive.
const POLL_PAUSE: Duration = Duration::from_millis(100);
const KILL_GRACE: Duration = Duration::from_secs(2);

/// What became of a request to process a worktree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProcessingStart {
    /// Nothing to do, and why.
    Skipped(&'static str),
    /// The script runs.
    Started {
        /// Its process.
        pid: u32,
        /// Where it prints to.
        log: PathBuf,
    },
    /// No plugin has the script; the status says so.
    NoScript,
}

/// Processing of worktrees, at most one job a work directory. Clones share them.
#[derive(Clone)]
pub struct Processing {
    programs: Option<Arc<dyn LearningPrograms>>,
    plugins: PluginDirs,
    /// Each publishes the pid of its process once it has one.
    jobs: BackgroundJobs<Option<u32>>,
}

impl Processing {
    pub(crate) fn new(programs: Option<Arc<dyn LearningPrograms>>, plugins: PluginDirs) -> Self {
        Self { programs, plugins, jobs: BackgroundJobs::default() }
    }

    /// How the processing stands. Blocks on the disk.
    #[must_use]
    pub fn status(&self, work_dir: &Path) -> ProcessingStatus {
        ProcessingStatus::read(work_dir, self.jobs.get(work_dir).is_some())
    }

    /// Begins to process the pending learnings of a worktree, unless that goes on already.
    ///
    /// # Errors
    /// When the log cannot be written, or the script does not start.
    pub async fn start(&self, worktree: Worktree) -> Result<ProcessingStart, StartError> {
        let log = worktree.work_dir.join(LOG);
        let job = match self.begin(&worktree.work_dir).await {
            Ok(job) => job,
            Err(pid) => return Ok(ProcessingStart::Started { pid, log }),
        };
        let command = match self.prepare(&worktree).await {
            Ok(command) => command,
            Err(nothing_started) => return Ok(nothing_started),
        };
        let (work_dir, log_file) = (worktree.work_dir.clone(), log.clone());
        let spawning = spawn_blocking(move || {
            ProcessingStatus::at(State::Processing, None).note(&work_dir);
            let spawned = command.spawn_detached(&log_file);
            if let Err(error) = &spawned {
                ProcessingStatus::at(State::Error, Some(error.to_string())).note(&work_dir);
            }
            spawned
        });
        let process = spawning.await.map_err(|error| StartError::Refused {
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

    /// Begins to process once `ready` is done. The status is `waiting` until then, and ends as `completed` or
    /// `error` in any case, because clients wait for it.
    pub async fn start_after(&self, worktree: Worktree, ready: impl Future<Output = ()> + Send + 'static) {
        let work_dir = worktree.work_dir.clone();
        note(&work_dir, ProcessingStatus::at(State::Waiting, None)).await;
        let processing = self.clone();
        tokio::spawn(async move {
            ready.await;
            // A failure and a missing script are in the status already.
            if let Ok(ProcessingStart::Skipped(_)) = processing.start(worktree).await {
                let nothing =
                    ProcessingStatus { processed: Some(0), ..ProcessingStatus::at(State::Completed, None) };
                note(&work_dir, nothing).await;
            }
        });
    }

    /// Takes the work directory; the pid of the process that works on it when one does.
    ///
    /// A script that has written its result and not exited yet is waited for: what became pending after that
    /// is for the next one.
    async fn begin(&self, work_dir: &Path) -> Result<BackgroundJob<Option<u32>>, u32> {
        loop {
            let mut other = match self.jobs.begin(work_dir, None) {
                Ok(job) => return Ok(job),
                Err(other) => other,
            };
            let Ok(Some(pid)) = other.wait_for(Option::is_some).await.map(|pid| *pid) else { continue };
            let directory = work_dir.to_owned();
            let status = spawn_blocking(move || ProcessingStatus::read(&directory, true).status).await;
            let goes_on = status.is_ok_and(|status| status == State::Processing);
            if goes_on || timeout(EXIT_TIME, ended(other)).await.is_err() {
                return Err(pid);
            }
        }
    }

    /// The command of the script, when there is something to process.
    async fn prepare(&self, worktree: &Worktree) -> Result<Command, ProcessingStart> {
        let (plugins, work_dir) = (self.plugins.clone(), worktree.work_dir.clone());
        let looking = spawn_blocking(move || {
            let pending = Pending::of(&work_dir);
            if !pending.exists() {
                return Err(ProcessingStart::Skipped("No pending learnings directory"));
            }
            if pending.names().is_empty() {
                return Err(ProcessingStart::Skipped("No pending learning files"));
            }
            plugins.processing_script().ok_or(ProcessingStart::NoScript)
        });
        let script = looking.await.unwrap_or(Err(ProcessingStart::NoScript));
        match (script, &self.programs) {
            (Ok(script), Some(programs)) => Ok(programs.script(&script, worktree).await),
            (Err(skipped @ ProcessingStart::Skipped(_)), _) => Err(skipped),
            _ => {
                let missing = ProcessingStatus::at(State::Error, Some(PLUGIN_MISSING.to_owned()));
                note(&worktree.work_dir, missing).await;
                Err(ProcessingStart::NoScript)
            }
        }
    }

    /// Processes a worktree to its end, after whatever works on it now.
    async fn run(
        &self,
        worktree: &Worktree,
        script: &Path,
        programs: &dyn LearningPrograms,
    ) -> Result<Output, StartError> {
        let job = loop {
            match self.jobs.begin(&worktree.work_dir, Some(std::process::id())) {
                Ok(job) => break job,
                Err(other) => ended(other).await,
            }
        };
        note(&worktree.work_dir, ProcessingStatus::at(State::Processing, None)).await;
        let output = programs.script(script, worktree).await.run(Limits::time(TIME)).await;
        finish(worktree.work_dir.clone()).await;
        drop(job);
        output
    }
}

async fn note(work_dir: &Path, status: ProcessingStatus) {
    let work_dir = work_dir.to_owned();
    let _ = spawn_blocking(move || status.note(&work_dir)).await;
}

/// Waits until a detached process has exited; kills it when it takes too long.
async fn wait_for_exit(process: DetachedProcess) {
    let Some(started) = process.started else { return };
    let deadline = Instant::now() + TIME;
    while process::alive(process.pid, started) {
        if Instant::now() > deadline {
            process::kill_group(process.pid, started, KILL_GRACE).await;
            return;
        }
        sleep(POLL_PAUSE).await;
    }
}

/// Sees to it that a status is there after the script.
async fn finish(work_dir: PathBuf) {
    let noting = spawn_blocking(move || {
        if ProcessingStatus::read(&work_dir, true).status == State::Processing {
            let message = "The program ended without a result; its log says more";
            ProcessingStatus::at(State::Error, Some(message.to_owned())).note(&work_dir);
        }
    });
    let _ = noting.await;
}
