//! Runs: a provider executes one turn in a process under a shim, with its output in a file.
//!
//! Runs are independent of client connections. One task follows a run to its end and stores its output; each
//! client tails the same file at its own pace. The files of a run are in a private directory until its output
//! is stored, so that the next process can recover it after a restart.

mod failure;
mod output;
mod progress;
mod record;
mod store;
mod stream;
mod task;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_home::{Sandbox, SandboxedPath};
use loopgate_tools::directory_watch::DirectoryWatch;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::programs::Programs;
use loopgate_tools::shim::{self, ProcessRegistry, Shims};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

pub use progress::{RunEnd, RunOutcome};
pub(crate) use record::CHAT_KIND;
pub use store::{NoStore, RunStore, RunStoreFactory};
pub use stream::{EventStream, RunAnnouncement, RunStream};

use progress::RunProgress;
use record::{ProviderRun, RunDirectory};
use task::RunTask;

use crate::provider::{Provider, TurnOutput, TurnRequest};
use crate::registry::ProviderRegistry;

/// Time for the tasks that follow runs to end on shutdown.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// Configuration and dependencies of [`AgentRuns`].
#[derive(Clone)]
pub struct AgentRunsConfig {
    /// Resolves the paths of executables.
    pub programs: Arc<Programs>,
    /// Checks paths that are reopened.
    pub sandbox: Arc<Sandbox>,
    /// Base environment of the programs.
    pub environment: ProcessEnvironment,
    /// Starts and supervises the programs.
    pub shims: Shims,
    /// Registry of running programs, by which the user can stop them by pid.
    pub processes: ProcessRegistry,
    /// Notifies of changed output files.
    pub directory_watch: DirectoryWatch,
    /// Interval of reading output when the file system sends no notifications.
    pub poll: Duration,
}

/// A turn to execute, and the store of its output.
pub struct RunRequest {
    /// Provider that executes the turn.
    pub provider: Arc<dyn Provider>,
    /// Input of the turn.
    pub turn: TurnRequest,
    /// Second attempt if the first one matches its rule.
    pub fallback: Option<SecondAttempt>,
    /// Working directory of the program.
    pub directory: SandboxedPath,
    /// Directories that the run concerns; access to them is required for stopping it.
    pub directories: Vec<PathBuf>,
    /// Time after which the program is terminated.
    pub time_limit: Duration,
    /// Content of the status events.
    pub announcement: RunAnnouncement,
    /// Kind of the store, see [`RunStoreFactory::kind`].
    pub kind: &'static str,
    /// Data with which the factory reopens the store after a restart.
    pub owner: serde_json::Map<String, Value>,
    /// Store that receives the output.
    pub store: Box<dyn RunStore>,
}

impl RunRequest {
    /// Serializes the data with which [`RunStoreFactory::reopen`] reopens a store.
    ///
    /// # Errors
    /// Fails when the value is not serialized as a JSON object.
    pub fn owner(owner: &impl Serialize) -> io::Result<serde_json::Map<String, Value>> {
        Ok(serde_json::from_value(serde_json::to_value(owner)?)?)
    }
}

/// A second attempt of a run.
#[derive(Debug, Clone)]
pub struct SecondAttempt {
    /// Condition under which it is started.
    pub rule: FallbackRule,
    /// Input of the turn.
    pub turn: TurnRequest,
}

/// Condition under which a run is restarted with its fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallbackRule {
    /// The program failed because of an unknown session, before it produced any text.
    SessionMissing,
    /// The program exited within a minute without producing any output.
    NoWork,
}

impl FallbackRule {
    /// Returns whether this output rules out a fallback.
    fn is_settled(self, output: &TurnOutput) -> bool {
        match self {
            Self::SessionMissing => !output.text.is_empty(),
            Self::NoWork => !output.text.is_empty() || !output.blocks.is_empty(),
        }
    }

    /// Returns whether events are withheld from clients until a fallback is ruled out.
    const fn holds(self) -> bool {
        match self {
            Self::SessionMissing => false,
            Self::NoWork => true,
        }
    }
}

/// Handle of a started run. Dropping it does not affect the run.
#[derive(Clone)]
pub struct RunHandle {
    provider: Arc<dyn Provider>,
    directory: RunDirectory,
    announcement: RunAnnouncement,
    fallback: Option<FallbackRule>,
    progress: watch::Receiver<RunProgress>,
    cancel: CancellationToken,
}

impl RunHandle {
    /// Streams the events of the run from the first one.
    ///
    /// # Errors
    /// Fails when the run has ended and its files were removed.
    pub async fn stream(&self) -> io::Result<RunStream> {
        let Self { directory, provider, progress, announcement, fallback, .. } = self.clone();
        RunStream::open(directory, provider, progress, announcement, fallback).await
    }

    /// Waits until the run has ended and its output is stored; `None` if this process shuts down before.
    pub async fn outcome(&self) -> Option<Arc<RunOutcome>> {
        let mut progress = self.progress.clone();
        progress.wait_for(|progress| progress.outcome.is_some()).await.ok()?.outcome.clone()
    }

    /// Waits until the program runs, and returns its pid; `None` if it never does.
    pub async fn pid(&self) -> Option<u32> {
        let mut progress = self.progress.clone();
        let ready = |progress: &RunProgress| progress.pid.is_some() || progress.outcome.is_some();
        progress.wait_for(ready).await.ok()?.pid
    }

    /// Returns the pid of the program, once it runs.
    #[must_use]
    pub fn current_pid(&self) -> Option<u32> {
        self.progress.borrow().pid
    }

    /// Returns whether the run has ended.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.progress.borrow().outcome.is_some()
    }

    /// Terminates the program and all its descendants.
    pub fn stop(&self) {
        self.cancel.cancel();
    }
}

/// Starts, follows and recovers runs. Clones share their state.
#[derive(Clone)]
pub struct AgentRuns {
    config: AgentRunsConfig,
    tracker: TaskTracker,
    /// Cancelled on shutdown: tasks end, programs continue.
    shutdown: CancellationToken,
}

impl AgentRuns {
    /// Creates the service. Starts no tasks.
    #[must_use]
    pub fn new(config: AgentRunsConfig) -> Self {
        Self { config, tracker: TaskTracker::new(), shutdown: CancellationToken::new() }
    }

    /// Starts a run. Returns as soon as its files are written; the program is started afterwards.
    ///
    /// # Errors
    /// Fails when the files of the run cannot be written; no process is started then.
    pub async fn start(&self, request: RunRequest) -> io::Result<RunHandle> {
        let RunRequest {
            provider,
            turn,
            fallback,
            directory: cwd,
            directories,
            time_limit,
            announcement,
            kind,
            owner,
            store,
        } = request;
        let id = Uuid::new_v4();
        let seconds = i64::try_from(time_limit.as_secs()).unwrap_or(i64::MAX);
        let record = ProviderRun {
            provider: provider.id().clone(),
            kind: kind.to_owned(),
            deadline: jiff::Timestamp::now().as_second().saturating_add(seconds),
            directories,
            owner,
        };
        let directory = RunDirectory(self.runs_dir().join(id.to_string()));
        // Concurrent with writing the files: it examines the checkout, for which git is started.
        let environment = tokio::spawn({
            let (environment, cwd) = (self.config.environment.clone(), cwd.clone());
            async move { environment.guarded(&[cwd.canonical()]).await }
        });
        {
            let (directory, record, prompt) = (directory.clone(), record.clone(), turn.prompt.clone());
            spawn_blocking(move || directory.create(&record, &prompt)).await?;
        }
        let (task, handle) = self.task(id, provider, directory, record, store, announcement);
        let handle = RunHandle { fallback: fallback.as_ref().map(|fallback| fallback.rule), ..handle };
        self.tracker.spawn(task.start(cwd, turn, fallback, environment));
        Ok(handle)
    }

    /// Recovers the runs of an earlier process. Runs that no factory accepts are terminated.
    pub fn recover(&self, providers: &ProviderRegistry, factories: &[&dyn RunStoreFactory]) {
        // The directory does not exist before the first run.
        let Ok(entries) = std::fs::read_dir(self.runs_dir()) else { return };
        for path in entries.flatten().map(|entry| entry.path()) {
            let directory = RunDirectory(path);
            let id = directory.path().file_name().and_then(|name| name.to_str()?.parse::<Uuid>().ok());
            let run = directory.read_record().and_then(|record| {
                let factory = factories.iter().find(|factory| factory.kind() == record.kind)?;
                let provider = factory.provider(providers, &record.provider, &record.owner)?;
                let store = factory.reopen(record.owner.clone())?;
                Some((record, factory, provider, store))
            });
            let (Some(id), Some((record, factory, provider, store))) = (id, run) else {
                // The record is not valid, or its provider or kind no longer exists.
                self.tracker.spawn(abandon(id, directory));
                continue;
            };
            let owner = record.owner.clone();
            let announcement = RunAnnouncement::default();
            let (task, handle) = self.task(id, provider, directory, record, store, announcement);
            self.tracker.spawn(task.resume());
            factory.on_recovery(&owner, &handle);
        }
    }

    /// Ends the tasks that follow runs. The programs continue, and the next process recovers them.
    pub async fn shutdown(&self) {
        self.shutdown.cancel();
        self.tracker.close();
        if tokio::time::timeout(SHUTDOWN_TIME, self.tracker.wait()).await.is_err() {
            tracing::warn!("timed out waiting for the tasks that follow runs");
        }
    }

    fn runs_dir(&self) -> PathBuf {
        self.config.shims.records("chats")
    }

    fn task(
        &self,
        id: Uuid,
        provider: Arc<dyn Provider>,
        directory: RunDirectory,
        record: ProviderRun,
        store: Box<dyn RunStore>,
        announcement: RunAnnouncement,
    ) -> (RunTask, RunHandle) {
        let (progress, receiver) = watch::channel(RunProgress::default());
        let cancel = CancellationToken::new();
        let handle = RunHandle {
            provider: provider.clone(),
            directory: directory.clone(),
            announcement,
            fallback: None,
            progress: receiver,
            cancel: cancel.clone(),
        };
        let task = RunTask {
            config: self.config.clone(),
            shutdown: self.shutdown.clone(),
            cancel,
            id,
            directory,
            record,
            progress,
            reader: provider.reader(),
            provider,
            attempt: 0,
            output: TurnOutput::default(),
            unstored: Vec::new(),
            output_exceeded: false,
            session_stored: false,
            store_at: None,
            last_output_at: Instant::now(),
            store: Some(store),
        };
        (task, handle)
    }
}

/// Terminates the processes of a run, and removes its files.
async fn abandon(id: Option<Uuid>, directory: RunDirectory) {
    if let Some(id) = id {
        // All processes of the run carry its id in their environment, so they are found without the record.
        shim::reap(LoopId(id), task::KILL_GRACE).await;
    }
    if let Err(error) = spawn_blocking(move || directory.remove()).await {
        tracing::warn!(%error, "failed to remove the files of a run");
    }
}

/// Runs blocking file system work on the blocking thread pool.
async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
