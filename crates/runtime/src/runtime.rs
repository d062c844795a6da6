//! Builds the services of the runtime and wires them together.

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
use crate::messages::LoopMessages;
use crate::notifications::Notifications;
use crate::process::stall_detection::{Activities, StallDetector};
use crate::recovery::Recovery;
use crate::reporting::control_plane::ControlPlaneClient;
use crate::reporting::ended_loops::{EndedLoops, stop_ended};
use crate::reporting::heartbeat::HeartbeatSender;
use crate::reporting::outbox::Outbox;
use crate::reporting::pull_requests::PullRequestReports;
use crate::reporting::telemetry::TelemetrySender;
use crate::reporting::tokens::Tokens;
use crate::reporting::worktrees::WorktreeReports;
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

/// Upper bound of a shutdown. The next process resumes interrupted work from the records.
const SHUTDOWN_TIME: Duration = Duration::from_secs(1);

/// Dependencies and settings of a [`Runtime`].
pub struct RuntimeConfig {
    /// Directory of the database (`desktop.db`) and of the shims' sockets (`run`).
    pub data_dir: PathBuf,
    pub settings: Arc<SettingsStore>,
    pub sandbox: Arc<Sandbox>,
    pub repos: Arc<Repos>,
    pub credentials: Arc<Credentials>,
    /// External programs that the runtime starts.
    pub programs: Arc<Programs>,
    /// Origin of the control plane; overrides the one in the settings.
    pub api_origin: Option<String>,
    /// Path of this executable, from which shims and loop drivers are started.
    pub loopgate_exe: PathBuf,
    /// Directory with one folder per plugin; PLAN and EXECUTE need the folder `code`.
    pub plugin_dirs: PathBuf,
    pub timing: RuntimeTiming,
}

/// Error that prevents the runtime from opening.
#[derive(Debug, Error)]
pub enum RuntimeError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot create the directory for the shims' sockets: {0}")]
    Io(#[from] std::io::Error),
}

/// The services of the runtime.
pub struct Runtime {
    pub jobs: Jobs,
    /// Progress of commands from the control plane.
    pub command_log: CommandLogTable,
    pub control_plane: ControlPlaneClient,
    /// Job records combined with the state of processes and files.
    pub snapshots: Snapshots,
    pub launcher: Arc<Launcher>,
    /// Terminates loops and other processes that Loopgate started.
    pub stopper: Arc<Stopper>,
    /// Accepts messages to running loops.
    pub messages: LoopMessages,
    /// Recovers the loops of an earlier process.
    pub recovery: Arc<Recovery>,
    /// Detects loops that are stuck.
    pub stall_detector: StallDetector,
    pub notifications: Arc<Notifications>,
    /// Determines the paths of worktrees.
    pub worktree_layout: WorktreeLayout,
    /// Removes worktrees that are no longer needed.
    pub worktree_gc: WorktreeGc,
    /// Work that was saved before its worktree was removed.
    pub saved_work: SavedWorkStore,
    /// Launches the loop scripts of tickets.
    pub tickets: Arc<TicketLauncher>,
    /// PLAN loops that a page starts and registers with the control plane.
    pub plan_loops: PlanLoops,
    pub commit_texts: CommitTextWriter,
    /// Prepares the programs that learnings need.
    pub learning_programs: Arc<PreparedPrograms>,
    /// Collects diagnostics of loops for support reports.
    pub support_reports: SupportReports,
    /// Diagnostics for the control plane.
    pub telemetry: TelemetrySender,
    /// Reports the standing of the loops' pull requests.
    pub pull_requests: PullRequestReports,
    /// Reports deployments and findings of the loops' worktrees.
    pub worktree_reports: WorktreeReports,
    /// Detects the MCP servers that loops expect; clones share its cache.
    pub mcp: Detector,
    /// Starts and finds programs, for services other than loops.
    pub process_services: ProcessServices,
    tasks: Tasks,
}

/// Services that start programs under shims and follow them; clones share state.
#[derive(Clone)]
pub struct ProcessServices {
    /// Environment in which programs are started.
    pub environment: ProcessEnvironment,
    pub shims: Shims,
    /// Running programs by pid; [`Stopper`] terminates them.
    pub processes: ProcessRegistry,
    /// Notifies when a program writes a file.
    pub directory_watch: DirectoryWatch,
}

impl Runtime {
    /// Opens the database and builds the services; starts and recovers no loops.
    ///
    /// # Errors
    /// Fails with [`RuntimeError`] when the database or the socket directory cannot be opened.
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
            timing,
        } = config;
        let sockets = data_dir.join("run");
        loopgate_home::files::create_private_dir(&sockets)?;
        let store = JobStore::open(&data_dir.join("desktop.db"), credentials.clone()).await?;
        // Earlier versions stored launch requests and the command log in files.
        store.import_launch_requests(&data_dir.join("queue")).await?;
        let command_log = CommandLogTable::open(store.clone(), &data_dir.join("commands.jsonl")).await?;

        let tasks = Tasks::default();
        let woken = watch::Sender::default();
        let telemetry = TelemetrySender::default();
        let reservations = Reservations::default();
        let processes = ProcessRegistry::default();
        let activities = Activities::default();
        let directory_watch = DirectoryWatch::default();

        let cloud = ControlPlaneClient::new(settings.clone(), api_origin, credentials.clone());
        let tokens = Tokens::new(store.clone(), cloud.clone());
        let (ended, ended_ids) = EndedLoops::new();
        let git = Git::new(programs.clone(), sandbox.clone());
        let code_host = CodeHost::new(programs.clone(), git.clone());
        let pull_requests = PullRequestReports::new(cloud.clone(), code_host.clone());
        let outbox = Outbox::new(
            store.clone(),
            cloud.clone(),
            tokens.clone(),
            timing,
            tasks.clone(),
            ended.clone(),
            pull_requests.clone(),
        );
        let heartbeat = HeartbeatSender::new(
            cloud.clone(),
            tokens.clone(),
            telemetry.clone(),
            timing,
            woken.clone(),
            ended,
        );
        let jobs = Jobs::new(store.clone(), {
            let outbox = outbox.clone();
            move |id| outbox.wake(id)
        });

        let mcp = Detector::new(programs.clone(), sandbox.clone());
        let environment = ProcessEnvironment::new(programs.clone(), git.clone(), sandbox.clone());
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
        let worktree_reports = WorktreeReports::new(cloud.clone(), jobs.clone());
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
            bootstrap: AgentBootstrap::new(
                jobs.clone(),
                environment.clone(),
                shims.exe.clone(),
                timing.bootstrap,
            ),
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

        let (stop, ended_stopper) = (tasks.stop.clone(), stopper.clone());
        // Boxed because stopping a loop may contain its whole supervision.
        let stop_ended = Box::pin(stop_ended(ended_ids, ended_stopper));
        tasks.spawn(async move { stop.run_until_cancelled(stop_ended).await });

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
            messages: LoopMessages { jobs: jobs.clone() },
            jobs,
            launcher,
            stopper,
            recovery,
            worktree_layout: layout,
            worktree_gc,
            saved_work,
            tickets,
            telemetry,
            pull_requests,
            worktree_reports,
            mcp,
            process_services,
            tasks,
        }))
    }

    /// Stops the runtime's tasks. Loops keep running under their shims; the next process recovers them.
    pub async fn shutdown(&self) {
        if tokio::time::timeout(SHUTDOWN_TIME, self.tasks.shut_down()).await.is_err() {
            tracing::warn!("runtime tasks did not stop within the shutdown timeout");
        }
    }
}

/// Loads the queue of the previous process and deletes launch requests of loops that are no longer pending.
async fn load_queue(store: &JobStore, reservations: &Reservations) -> Result<QueueEntries, StoreError> {
    let active = store.active().await?;
    let requests = store.loops_with_launch_request().await?;
    let entries = QueueEntries::load(&active, &requests, reservations);
    // A launch request contains the runner token, so it is deleted as soon as no start can use it.
    let unstarted =
        active.iter().filter(|job| matches!(job.status(), JobStatus::Queued | JobStatus::Starting));
    store.retain_launch_requests(&unstarted.map(|job| job.id).collect::<Vec<_>>()).await?;
    Ok(entries)
}
