//! Runs: a provider takes one turn, in a process under a shim, with its output in a file.
//!
//! A run belongs to nobody's connection. One task follows it to its end and stores its output; each client
//! reads the same file at its own pace, so a slow one delays nobody and one that leaves ends nothing. The files
//! of a run are in a private directory until its output is stored, so that the next process finds it again.

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

use loopgate_api::chat_event::ChatEvent;
use loopgate_api::ids::LoopId;
use loopgate_home::{Sandbox, SandboxedPath};
use loopgate_tools::directory_watch::DirectoryWatch;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::programs::Programs;
use loopgate_tools::shim::{self, ProcessRegistry, Shims};
use serde::Serialize;
use serde_json::Value;
use tokio::sync::watch;
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

/// How long a shutdown waits for the tasks that follow runs.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// What runs are built from.
#[derive(Clone)]
pub struct AgentRunsConfig {
    /// Finds the executables.
    pub programs: Arc<Programs>,
    /// Decides about paths.
    pub sandbox: Arc<Sandbox>,
    /// Environment of the programs.
    pub environment: ProcessEnvironment,
    /// Starts the programs.
    pub shims: Shims,
    /// Where living programs are registered, so that they can be stopped by their pid.
    pub processes: ProcessRegistry,
    /// Reports that output was written.
    pub directory_watch: DirectoryWatch,
    /// How often output is read where the file system reports nothing.
    pub poll: Duration,
}

/// A turn, and who stores it.
pub struct RunRequest {
    /// Who takes the turn.
    pub provider: Arc<dyn Provider>,
    /// What is asked.
    pub turn: TurnRequest,
    /// What is asked instead when the first attempt comes to nothing.
    pub fallback: Option<SecondAttempt>,
    /// Where the program works.
    pub directory: SandboxedPath,
    /// Directories that the work is about: who may stop it is decided by them.
    pub about: Vec<PathBuf>,
    /// After so long the program is ended.
    pub time_limit: Duration,
    /// What status events say.
    pub announcement: RunAnnouncement,
    /// The kind of the store, as [`RunStoreFactory::kind`] names it.
    pub kind: &'static str,
    /// What the factory needs to open the store again.
    pub owner: serde_json::Map<String, Value>,
    /// Where the output goes.
    pub store: Box<dyn RunStore>,
}

impl RunRequest {
    /// What a store that is this value records of its owner; `RunStoreFactory::reopen` gets it again.
    ///
    /// # Errors
    /// When it is no JSON object.
    pub fn owner(owner: &impl Serialize) -> io::Result<serde_json::Map<String, Value>> {
        Ok(serde_json::from_value(serde_json::to_value(owner)?)?)
    }
}

/// A second attempt.
#[derive(Debug, Clone)]
pub struct SecondAttempt {
    /// When it is made.
    pub rule: FallbackRule,
    /// What is asked then.
    pub turn: TurnRequest,
}

/// When a run begins anew with its fallback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FallbackRule {
    /// The program failed because it does not know the session, before it said anything.
    SessionMissing,
    /// The program ended within a minute and did nothing.
    NoWork,
}

impl FallbackRule {
    /// Whether no fallback will follow this output.
    fn is_settled(self, output: &TurnOutput) -> bool {
        match self {
            Self::SessionMissing => !output.text.is_empty(),
            Self::NoWork => !output.text.is_empty() || !output.blocks.is_empty(),
        }
    }

    /// Whether clients are not told of an event before it is settled.
    const fn holds(self, event: &ChatEvent) -> bool {
        match self {
            Self::SessionMissing => matches!(event, ChatEvent::Error { .. } | ChatEvent::Result { .. }),
            Self::NoWork => true,
        }
    }
}

/// A run that was begun. Dropping it does nothing to the run.
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
    /// Its events, from the first one.
    ///
    /// # Errors
    /// When the run is over and its files are gone.
    pub async fn stream(&self) -> io::Result<RunStream> {
        let Self { directory, provider, progress, announcement, fallback, .. } = self.clone();
        RunStream::open(directory, provider, progress, announcement, fallback).await
    }

    /// Waits until it is over and its output is stored; `None` when this process stops before.
    pub async fn outcome(&self) -> Option<Arc<RunOutcome>> {
        let mut progress = self.progress.clone();
        progress.wait_for(|progress| progress.outcome.is_some()).await.ok()?.outcome.clone()
    }

    /// Waits until its program runs, and returns the pid; `None` when it never will.
    pub async fn pid(&self) -> Option<u32> {
        let mut progress = self.progress.clone();
        let ready = |progress: &RunProgress| progress.pid.is_some() || progress.outcome.is_some();
        progress.wait_for(ready).await.ok()?.pid
    }

    /// The pid of its program, once it runs.
    #[must_use]
    pub fn current_pid(&self) -> Option<u32> {
        self.progress.borrow().pid
    }

    /// Whether it is over.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.progress.borrow().outcome.is_some()
    }

    /// Ends the program and everything that it started.
    pub fn stop(&self) {
        self.cancel.cancel();
    }
}

/// Starts and follows runs. Clones share everything.
#[derive(Clone)]
pub struct AgentRuns {
    config: AgentRunsConfig,
    tracker: TaskTracker,
    /// Cancelled when this process stops: tasks end, programs go on.
    shutdown: CancellationToken,
}

impl AgentRuns {
    /// Builds the service; starts nothing.
    #[must_use]
    pub fn new(config: AgentRunsConfig) -> Self {
        Self { config, tracker: TaskTracker::new(), shutdown: CancellationToken::new() }
    }

    /// Begins a run. Returns as soon as its files are written; the program starts after that.
    ///
    /// # Errors
    /// When the files of the run cannot be written; nothing is started then.
    pub async fn start(&self, request: RunRequest) -> io::Result<RunHandle> {
        let RunRequest {
            provider,
            turn,
            fallback,
            directory: cwd,
            about,
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
            about,
            owner,
        };
        let directory = RunDirectory(self.runs_dir().join(id.to_string()));
        {
            let (directory, record, prompt) = (directory.clone(), record.clone(), turn.prompt.clone());
            spawn_blocking(move || directory.create(&record, &prompt)).await?;
        }
        let (task, handle) = self.task(id, provider, directory, record, store, announcement);
        let handle = RunHandle { fallback: fallback.as_ref().map(|fallback| fallback.rule), ..handle };
        self.tracker.spawn(task.start(cwd, turn, fallback));
        Ok(handle)
    }

    /// Follows the runs that an earlier process started. Those that nobody wants any more are ended.
    pub fn recover(&self, providers: &ProviderRegistry, factories: &[&dyn RunStoreFactory]) {
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
                self.tracker.spawn(abandon(id, directory));
                continue;
            };
            let owner = record.owner.clone();
            let announcement = RunAnnouncement::default();
            let (task, handle) = self.task(id, provider, directory, record, store, announcement);
            self.tracker.spawn(task.resume());
            factory.recovered(&owner, &handle);
        }
    }

    /// Ends the tasks that follow runs. The programs go on, and the next process finds them again.
    pub async fn shutdown(&self) {
        self.shutdown.cancel();
        self.tracker.close();
        if tokio::time::timeout(SHUTDOWN_TIME, self.tracker.wait()).await.is_err() {
            tracing::warn!("some tasks that follow agents did not end in time");
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
            store: Some(store),
        };
        (task, handle)
    }
}

/// Ends what is left of a run, and removes its files.
async fn abandon(id: Option<Uuid>, directory: RunDirectory) {
    if let Some(id) = id {
        shim::reap(LoopId(id), task::KILL_GRACE).await;
    }
    if let Err(error) = spawn_blocking(move || directory.remove()).await {
        tracing::warn!(%error, "the files of an agent's run cannot be removed");
    }
}

/// Runs blocking work of the file system on a thread that may block.
async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)?
}
