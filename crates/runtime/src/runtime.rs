//! The parts of the runtime in one place: what they are made of, how a change is stored and told.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::{LoopId, TicketId};
use loopgate_api::job::JobStatus;
use loopgate_home::{Credentials, Repos, Sandbox, SettingsStore};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::Git;
use loopgate_tools::mcp::Detector;
use loopgate_tools::programs::Programs;
use thiserror::Error;
use tokio::sync::{Notify, Semaphore, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::jobs::Job;
use crate::jobs::reservations::Reservations;
use crate::jobs::store::{JobUpdate, OutboxMessage, Store, StoreError};
use crate::launch::launch_requests::LaunchRequests;
use crate::launch::queue::Queue;
use crate::notifications::MAX_CONCURRENT;
use crate::process::owners::Processes;
use crate::process::stall_detection::Activities;
use crate::reporting::control_plane::ControlPlane;
use crate::reporting::outbox::Outbox;
use crate::reporting::telemetry::Reporter;
use crate::reporting::tokens::Tokens;
use crate::timing::Timing;
use crate::transcript::directory_watch::DirectoryWatch;
use crate::workspace::worktree_layout::WorktreeLayout;

/// How long a shutdown waits for the runtime's tasks.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);
/// Variables that tell an assistant that it runs inside another one; a loop never does.
const OF_AN_OUTER_SESSION: [&str; 4] =
    ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_CHILD_SESSION", "CLAUDE_CODE_SESSION_ID"];

/// What a runtime is made of.
pub struct RuntimeConfig {
    /// Directory of the database and of the shims' sockets.
    pub data_dir: PathBuf,
    /// Settings.
    pub settings: Arc<SettingsStore>,
    /// The sandbox.
    pub sandbox: Arc<Sandbox>,
    /// Managed repositories.
    pub repos: Arc<Repos>,
    /// Identity and keys.
    pub credentials: Arc<Credentials>,
    /// The five programs.
    pub programs: Arc<Programs>,
    /// Origin of the control plane; the settings' one when absent.
    pub api_origin: Option<String>,
    /// This program: what shims and loop drivers are started from.
    pub loopgate_exe: PathBuf,
    /// Directory with one folder a plugin; `code` must be there for PLAN and EXECUTE.
    pub plugin_dirs: PathBuf,
    /// Version of this program.
    pub version: String,
    /// Waits.
    pub timing: Timing,
}

/// Why a runtime cannot be opened.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The directory of the sockets.
    #[error("the data directory cannot be used: {0}")]
    Io(#[from] std::io::Error),
    /// The client for the control plane.
    #[error("the client for the control plane cannot be made: {0}")]
    Client(#[from] reqwest::Error),
}

/// The runtime.
pub struct Runtime {
    pub(crate) store: Store,
    pub(crate) cloud: ControlPlane,
    pub(crate) tokens: Tokens,
    pub(crate) outbox: Outbox,
    pub(crate) layout: WorktreeLayout,
    pub(crate) git: Git,
    pub(crate) code_host: CodeHost,
    pub(crate) programs: Arc<Programs>,
    pub(crate) mcp: Detector,
    pub(crate) repos: Arc<Repos>,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) settings: Arc<SettingsStore>,
    pub(crate) credentials: Arc<Credentials>,
    pub(crate) loopgate_exe: PathBuf,
    pub(crate) plugin_dirs: PathBuf,
    pub(crate) sockets: PathBuf,
    pub(crate) timing: Timing,
    pub(crate) reservations: Reservations,
    pub(crate) launch_requests: LaunchRequests,
    pub(crate) queue: Queue,
    pub(crate) activities: Activities,
    /// Signalled when a record holds something that its person has yet to hear.
    pub(crate) pending_notifications: Notify,
    /// Turns of those that are told.
    pub(crate) notification_permits: Semaphore,
    pub(crate) processes: Processes,
    pub(crate) reporter: Reporter,
    pub(crate) directory_watch: DirectoryWatch,
    /// Cancelled when the process ends: tasks stop, loops go on.
    pub(crate) stop: CancellationToken,
    /// Tells that a person asked some loop to end.
    pub(crate) stop_requests: watch::Sender<()>,
    /// Counts how often the machine woke up; whoever must do something then listens.
    pub(crate) woken: watch::Sender<u64>,
    /// Every task of the runtime.
    pub(crate) tasks: TaskTracker,
}

impl Runtime {
    /// Opens the database and makes everything ready; starts nothing.
    ///
    /// # Errors
    /// [`OpenError`].
    pub async fn open(config: RuntimeConfig) -> Result<Arc<Self>, OpenError> {
        let sockets = config.data_dir.join("run");
        loopgate_home::files::create_private_dir(&sockets)?;
        let store = Store::open(&config.data_dir.join("desktop.db"), config.credentials.clone()).await?;
        let cloud =
            ControlPlane::new(config.settings.clone(), config.api_origin, config.credentials.clone())?;
        let tokens = Tokens::new(store.clone(), cloud.clone());
        let reservations = Reservations::default();
        let (launch_requests, active) =
            (LaunchRequests::open(config.data_dir.join("queue"))?, store.active().await?);
        let queue = Queue::load(&active, |id| launch_requests.has(id), &reservations);
        let unbegun =
            active.iter().filter(|job| matches!(job.status(), JobStatus::Queued | JobStatus::Starting));
        launch_requests.retain(&unbegun.map(|job| job.id).collect::<Vec<_>>())?;
        let (stop, tasks) = (CancellationToken::new(), TaskTracker::new());
        let outbox = Outbox::new(
            store.clone(),
            cloud.clone(),
            tokens.clone(),
            config.timing,
            tasks.clone(),
            stop.clone(),
        );
        let git = Git::new(config.programs.clone(), config.sandbox.clone());
        Ok(Arc::new(Self {
            layout: WorktreeLayout::new(config.repos.clone(), config.sandbox.clone()),
            code_host: CodeHost::new(config.programs.clone(), git.clone()),
            git,
            store,
            cloud,
            tokens,
            outbox,
            mcp: Detector::new(config.programs.clone(), config.sandbox.clone()),
            programs: config.programs,
            repos: config.repos,
            sandbox: config.sandbox,
            settings: config.settings,
            credentials: config.credentials,
            loopgate_exe: config.loopgate_exe,
            plugin_dirs: config.plugin_dirs,
            sockets,
            timing: config.timing,
            reservations,
            launch_requests,
            queue,
            activities: Activities::default(),
            pending_notifications: Notify::new(),
            notification_permits: Semaphore::new(MAX_CONCURRENT),
            processes: Processes::default(),
            reporter: Reporter::default(),
            directory_watch: DirectoryWatch::default(),
            stop,
            stop_requests: watch::Sender::default(),
            woken: watch::Sender::default(),
            tasks,
        }))
    }

    /// Where worktrees lie.
    #[must_use]
    pub const fn layout(&self) -> &WorktreeLayout {
        &self.layout
    }

    /// Finds the MCP servers that loops expect; clones share what it knows.
    #[must_use]
    pub const fn mcp_detector(&self) -> &Detector {
        &self.mcp
    }

    /// Whether a control plane is configured.
    #[must_use]
    pub fn has_control_plane(&self) -> bool {
        self.cloud.origin().is_some()
    }

    /// The record of a loop as it is stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn job(&self, id: LoopId) -> Result<Option<Job>, StoreError> {
        self.store.job(id).await
    }

    /// Every record, active ones first, then the ended ones, the newest of each first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn jobs(&self) -> Result<Vec<Job>, StoreError> {
        self.store.jobs().await
    }

    /// The records that belong to a ticket, active ones first. Loops that were ordered with a
    /// document belong to the document's slug, and each loop to its own id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn jobs_of_ticket(&self, ticket: &TicketId) -> Result<Vec<Job>, StoreError> {
        let wanted = Some(ticket.as_str());
        let mut jobs = self.store.jobs().await?;
        jobs.retain(|job| {
            job.facts.ticket_id.as_deref() == wanted
                || job.facts.artifact_slug.as_deref() == wanted
                || job.facts.artifact_id.as_deref() == wanted
                || job.id.to_string() == ticket.as_str()
        });
        Ok(jobs)
    }

    /// Ends the runtime's tasks. Loops keep running and are found again by the next process.
    pub async fn shutdown(&self) {
        self.stop.cancel();
        self.tasks.close();
        if tokio::time::timeout(SHUTDOWN_TIME, self.tasks.wait()).await.is_err() {
            tracing::warn!("some tasks of the runtime did not end in time");
        }
    }

    /// Changes a record, and lets the world know what came of it.
    pub(crate) async fn change(
        &self,
        id: LoopId,
        change: impl FnOnce(&mut JobUpdate<'_>) -> Result<(), StoreError> + Send,
    ) -> Result<Job, StoreError> {
        let mut before = None;
        let job = self
            .store
            .change(id, |now| {
                before = Some(now.job.status());
                change(now)
            })
            .await?;
        if before != Some(job.status()) {
            tracing::info!(loop_id = %id, status = ?job.status(), "job");
            if job.is_cancelled() {
                self.stop_requests.send_replace(());
            }
        }
        if !job.facts.notifications.is_empty() {
            self.pending_notifications.notify_one();
        }
        self.outbox.wake(id);
        Ok(job)
    }

    /// Queues an event for the control plane.
    pub(crate) async fn enqueue_event(&self, id: LoopId, event: &LoopEvent) -> Result<Job, StoreError> {
        self.change(id, |now| {
            now.send(OutboxMessage::event(event));
            Ok(())
        })
        .await
    }

    /// The environment of a loop's programs: that of every program, outside of any session.
    pub(crate) async fn child_environment(&self) -> BTreeMap<OsString, OsString> {
        let mut environment = self.programs.environment().await;
        for name in OF_AN_OUTER_SESSION {
            environment.remove(&OsString::from(name));
        }
        environment
    }
}
