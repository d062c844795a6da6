//! Builds the services of the runtime and hands them to each other.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::job::JobStatus;
use loopgate_home::{Credentials, Repos, Sandbox, SettingsStore};
use loopgate_tools::code_host::CodeHost;
use loopgate_tools::git::Git;
use loopgate_tools::mcp::Detector;
use loopgate_tools::programs::Programs;
use thiserror::Error;
use tokio::sync::watch;

use crate::commands::bootstrap::AgentBootstrap;
use crate::delivery::Finalizer;
use crate::jobs::Jobs;
use crate::jobs::reservations::Reservations;
use crate::jobs::store::{CommandLogTable, JobStore, StoreError};
use crate::launch::Launcher;
use crate::launch::driver_restart::DriverRestarts;
use crate::launch::launch_queue::LaunchQueue;
use crate::launch::queue::QueueEntries;
use crate::notifications::Notifications;
use crate::process::stall_detection::{Activities, StallDetector};
use crate::recovery::Recovery;
use crate::reporting::control_plane::ControlPlaneClient;
use crate::reporting::heartbeat::HeartbeatSender;
use crate::reporting::outbox::Outbox;
use crate::reporting::telemetry::TelemetrySender;
use crate::reporting::tokens::Tokens;
use crate::snapshot::Snapshots;
use crate::stop::Stopper;
use crate::supervision::Supervisor;
use crate::support_report::SupportReports;
use crate::tasks::Tasks;
use crate::tickets::commit_text::CommitTextWriter;
use crate::tickets::launch::TicketLauncher;
use crate::tickets::learning_programs::PreparedPrograms;
use crate::tickets::plan_loop::PlanLoops;
use crate::timing::RuntimeTiming;
use crate::transcript::perf::PerfEvents;
use crate::transcript::tailer::Transcripts;
use crate::workspace::Workspaces;
use crate::workspace::repository::Repositories;
use crate::workspace::saved_work::SavedWorkStore;
use crate::workspace::worktree::Worktrees;
use crate::workspace::worktree_gc::WorktreeGc;
use crate::workspace::worktree_layout::WorktreeLayout;
use loopgate_tools::directory_watch::DirectoryWatch;
use loopgate_tools::environment::ProcessEnvironment;
use loopgate_tools::shim::ProcessRegistry;
use loopgate_tools::shim::Shims;

/// How long a shutdown waits for the runtime's tasks.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// What the runtime is built from.
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
    pub timing: RuntimeTiming,
}

/// Why a runtime cannot be opened.
#[derive(Debug, Error)]
pub enum RuntimeError {
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

/// The services of the runtime.
pub struct Runtime {
    /// Records of loops.
    pub jobs: Jobs,
    /// Progress of the control plane's commands.
    pub command_log: CommandLogTable,
    /// The control plane.
    pub control_plane: ControlPlaneClient,
    /// Records together with what processes and files say at this moment.
    pub snapshots: Snapshots,
    /// Starts loops.
    pub launcher: Arc<Launcher>,
    /// Ends loops and other processes.
    pub stopper: Arc<Stopper>,
    /// Takes over what an earlier process left.
    pub recovery: Arc<Recovery>,
    /// Detects loops that are stuck.
    pub stall_detector: StallDetector,
    /// Notifies the person.
    pub notifications: Arc<Notifications>,
    /// Decides where worktrees are.
    pub worktree_layout: WorktreeLayout,
    /// Removes worktrees that are not needed any more.
    pub worktree_gc: WorktreeGc,
    /// Work that was saved before its worktree was removed.
    pub saved_work: SavedWorkStore,
    /// Launches the loop scripts of tickets.
    pub tickets: Arc<TicketLauncher>,
    /// Plans that a page agrees on with the control plane.
    pub plan_loops: PlanLoops,
    /// Writes commit messages.
    pub commit_texts: CommitTextWriter,
    /// Prepares the programs that learnings need.
    pub learning_programs: Arc<PreparedPrograms>,
    /// Diagnoses loops for a report.
    pub support_reports: SupportReports,
    /// Diagnostics for the control plane.
    pub telemetry: TelemetrySender,
    /// Finds the MCP servers that loops expect; clones share what it knows.
    pub mcp: Detector,
    /// How programs are started and found again, for services beside loops.
    pub process_services: ProcessServices,
    tasks: Tasks,
}

/// What starts programs under shims and follows them; clones share everything.
#[derive(Clone)]
pub struct ProcessServices {
    /// Environment of the programs.
    pub environment: ProcessEnvironment,
    /// Starts them.
    pub shims: Shims,
    /// Living programs by their pid, which [`Stopper`] ends.
    pub processes: ProcessRegistry,
    /// Reports that a program wrote a file.
    pub directory_watch: DirectoryWatch,
}

impl Runtime {
    /// Opens the database and builds the services; starts nothing.
    ///
    /// # Errors
    /// [`RuntimeError`].
    pub async fn open(config: RuntimeConfig) -> Result<Arc<Self>, RuntimeError> {
        let RuntimeConfig {
            data_dir,
            settings,
            sandbox,
            repos,
            credentials,
            programs,
            api_origin,
            loopgate_exe,
            plugin_dirs,
            version: _,
            timing,
        } = config;
        let sockets = data_dir.join("run");
        loopgate_home::files::create_private_dir(&sockets)?;
        let store = JobStore::open(&data_dir.join("desktop.db"), credentials.clone()).await?;
        store.import_launch_requests(&data_dir.join("queue")).await?;
        let command_log = CommandLogTable::open(store.clone(), &data_dir.join("commands.jsonl")).await?;

        let tasks = Tasks::default();
        let woken = watch::Sender::default();
        let telemetry = TelemetrySender::default();
        let reservations = Reservations::default();
        let processes = ProcessRegistry::default();
        let activities = Activities::default();
        let directory_watch = DirectoryWatch::default();

        let cloud = ControlPlaneClient::new(settings.clone(), api_origin, credentials.clone())?;
        let tokens = Tokens::new(store.clone(), cloud.clone());
        let outbox = Outbox::new(store.clone(), cloud.clone(), tokens.clone(), timing, tasks.clone());
        let heartbeat =
            HeartbeatSender::new(cloud.clone(), tokens.clone(), telemetry.clone(), timing, woken.clone());
        let jobs = Jobs::new(store.clone(), {
            let outbox = outbox.clone();
            move |id| outbox.wake(id)
        });

        let git = Git::new(programs.clone(), sandbox.clone());
        let code_host = CodeHost::new(programs.clone(), git.clone());
        let mcp = Detector::new(programs.clone(), sandbox.clone());
        let environment = ProcessEnvironment::new(programs.clone(), git.clone());
        let shims = Shims::new(loopgate_exe, sockets);
        let learning_programs =
            Arc::new(PreparedPrograms::new(programs.clone(), environment.clone(), shims.clone()));

        let layout = WorktreeLayout::new(repos.clone(), sandbox.clone());
        let repositories = Repositories::new(
            repos.clone(),
            sandbox.clone(),
            settings.clone(),
            git.clone(),
            code_host.clone(),
        );
        let workspaces = Workspaces::new(Worktrees::new(
            jobs.clone(),
            git.clone(),
            code_host.clone(),
            layout.clone(),
            sandbox.clone(),
            reservations.clone(),
            environment.clone(),
        ));
        let worktree_gc = WorktreeGc::new(
            store.clone(),
            repos.clone(),
            layout.clone(),
            git.clone(),
            settings.clone(),
            reservations.clone(),
        );
        let saved_work = SavedWorkStore::new(repos, layout.clone(), git.clone());

        let transcripts = Transcripts::new(
            jobs.clone(),
            tokens.clone(),
            directory_watch.clone(),
            timing,
            tasks.stop.clone(),
        );
        let perf =
            PerfEvents::new(store.clone(), telemetry.clone(), directory_watch.clone(), tasks.stop.clone());
        let finalizer = Arc::new(Finalizer {
            jobs: jobs.clone(),
            outbox: outbox.clone(),
            telemetry: telemetry.clone(),
            workspaces: workspaces.clone(),
            git: git.clone(),
            code_host,
            layout: layout.clone(),
            sandbox: sandbox.clone(),
            settings: settings.clone(),
            credentials: credentials.clone(),
            environment: environment.clone(),
            shims: shims.clone(),
            timing,
        });
        let supervisor = Supervisor {
            jobs: jobs.clone(),
            tokens: tokens.clone(),
            heartbeat: heartbeat.clone(),
            transcripts,
            perf,
            finalizer,
            restarts: DriverRestarts {
                jobs: jobs.clone(),
                shims: shims.clone(),
                environment: environment.clone(),
                credentials: credentials.clone(),
                settings: settings.clone(),
            },
            tasks: tasks.clone(),
        };

        let queue = Arc::new(LaunchQueue {
            entries: load_queue(&store, &reservations).await?,
            jobs: jobs.clone(),
            reservations: reservations.clone(),
            settings: settings.clone(),
            heartbeat,
            tasks: tasks.clone(),
        });
        let launcher = Arc::new(Launcher {
            queue: queue.clone(),
            jobs: jobs.clone(),
            cloud: cloud.clone(),
            tokens,
            outbox: outbox.clone(),
            telemetry: telemetry.clone(),
            reservations: reservations.clone(),
            repositories,
            workspaces: workspaces.clone(),
            supervisor: supervisor.clone(),
            shims: shims.clone(),
            environment: environment.clone(),
            bootstrap: AgentBootstrap::new(jobs.clone(), environment.clone(), timing.bootstrap),
            programs: programs.clone(),
            mcp: mcp.clone(),
            settings: settings.clone(),
            credentials: credentials.clone(),
            data_dir,
            plugin_dirs,
            timing,
            tasks: tasks.clone(),
        });
        let stopper = Arc::new(Stopper {
            jobs: jobs.clone(),
            reservations: reservations.clone(),
            queue: queue.clone(),
            supervisor: supervisor.clone(),
            processes: processes.clone(),
            timing,
        });

        let process_services = ProcessServices {
            environment: environment.clone(),
            shims: shims.clone(),
            processes: processes.clone(),
            directory_watch,
        };
        let tickets = Arc::new(TicketLauncher {
            layout: layout.clone(),
            git: git.clone(),
            sandbox: sandbox.clone(),
            reservations: reservations.clone(),
            processes,
            stopper: stopper.clone(),
            shims,
            programs: programs.clone(),
            environment: environment.clone(),
            tasks: tasks.clone(),
        });
        let recovery = Arc::new(Recovery {
            jobs: jobs.clone(),
            reservations: reservations.clone(),
            queue: queue.clone(),
            supervisor,
            workspaces,
            tickets: tickets.clone(),
            outbox,
            woken,
            timing,
            tasks: tasks.clone(),
        });
        Ok(Arc::new(Self {
            snapshots: Snapshots {
                store: store.clone(),
                reservations: reservations.clone(),
                queue,
                activities: activities.clone(),
            },
            stall_detector: StallDetector::new(jobs.clone(), activities, timing, tasks.stop.clone()),
            notifications: Arc::new(Notifications::new(
                jobs.clone(),
                settings,
                environment.clone(),
                tasks.clone(),
            )),
            control_plane: cloud.clone(),
            plan_loops: PlanLoops {
                jobs: jobs.clone(),
                cloud,
                credentials,
                git: git.clone(),
                layout: layout.clone(),
                sandbox,
                reservations,
                stopper: stopper.clone(),
            },
            commit_texts: CommitTextWriter::new(git, programs, environment, tasks.stop.clone()),
            learning_programs,
            command_log,
            support_reports: SupportReports { store },
            jobs,
            launcher,
            stopper,
            recovery,
            worktree_layout: layout,
            worktree_gc,
            saved_work,
            tickets,
            telemetry,
            mcp,
            process_services,
            tasks,
        }))
    }

    /// Ends the runtime's tasks. Loops keep running and are found again by the next process.
    pub async fn shutdown(&self) {
        if tokio::time::timeout(SHUTDOWN_TIME, self.tasks.shut_down()).await.is_err() {
            tracing::warn!("some tasks of the runtime did not end in time");
        }
    }
}

/// Restores the queue of the previous process; orphaned launch requests are deleted.
async fn load_queue(store: &JobStore, reservations: &Reservations) -> Result<QueueEntries, StoreError> {
    let active = store.active().await?;
    let requests = store.loops_with_launch_request().await?;
    let entries = QueueEntries::load(&active, &requests, reservations);
    let unstarted =
        active.iter().filter(|job| matches!(job.status(), JobStatus::Queued | JobStatus::Starting));
    store.retain_launch_requests(&unstarted.map(|job| job.id).collect::<Vec<_>>()).await?;
    Ok(entries)
}
