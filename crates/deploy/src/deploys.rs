//! The runs on this machine: starting and monitoring them, and their records. A worktree has at most one run.
//! Runs outlive Loopgate; their records let the next Loopgate process resume monitoring.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopgate_api::shell::quoted;
use loopgate_home::{
    Directory, JsonFile, JsonFileError, SandboxedPath, TrustStore, copy_environment_files, trust_command,
};
use loopgate_tools::process::{ProcessStart, StartError, identity};
use loopgate_tools::programs::Programs;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::blocking::blocking;
use crate::engine::{self, EngineError, needs_engine};
use crate::loopback::LoopbackUrl;
use crate::markers::{DeployFailure, FailedCommand, Markers};
use crate::ports::{any_free, is_free};
use crate::run::{self, DeployPhase, DeployRun, DirectoryError, Survivors, end_process, working_directory};
use crate::settings::Deployment;

// Uncommitted files with environment variables, which servers in a worktree need as well.
const ENVIRONMENT_FILES: [&str; 5] =
    [".env", ".env.local", ".env.development.local", ".env.test.local", ".env.production.local"];

// Attempts to get a port from the kernel that is not allocated to another run.
const PORT_TRIES: usize = 20;

// Environment variables that a run inherits: the user, and the locations of toolchains and their caches. A
// version manager on the PATH (rustup, nvm, pyenv) fails without the variable that names its directory.
// Variables that can contain credentials are not inherited, because a deployment runs the code of a
// repository.
const INHERITED: [&str; 34] = [
    "PATH",
    "HOME",
    "USER",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_STATE_HOME",
    "ASDF_DATA_DIR",
    "ASDF_DIR",
    "BUN_INSTALL",
    "CARGO_HOME",
    "COREPACK_HOME",
    "DENO_DIR",
    "FNM_DIR",
    "FNM_MULTISHELL_PATH",
    "GEM_HOME",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "GRADLE_USER_HOME",
    "JAVA_HOME",
    "MISE_DATA_DIR",
    "NVM_BIN",
    "NVM_DIR",
    "PNPM_HOME",
    "PYENV_ROOT",
    "RBENV_ROOT",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "RYE_HOME",
    "SDKMAN_DIR",
    "UV_CACHE_DIR",
    "VOLTA_HOME",
];

/// Time limits of a run.
#[derive(Debug, Clone, Copy)]
pub struct DeployTimeouts {
    /// Time limit of the install command.
    pub install: Duration,
    /// Time from the start command to the first successful health check.
    pub health: Duration,
    /// Time without a change after which the ports on which a run listens are checked, when its port is not
    /// configured. Servers of a run may start one after the other.
    pub settled: Duration,
}

impl Default for DeployTimeouts {
    fn default() -> Self {
        Self {
            install: Duration::from_secs(600),
            health: Duration::from_secs(300),
            settled: Duration::from_secs(5),
        }
    }
}

/// A request to start a run.
#[derive(Debug, Clone)]
pub struct DeployRequest {
    /// Root of the clone, to which the user's consent applies.
    pub clone: PathBuf,
    /// The clone from which missing environment files are copied into the worktree.
    pub repository: SandboxedPath,
    /// The worktree, in which `directory` of the settings is the working directory of the commands.
    pub worktree: SandboxedPath,
    /// Commands, port and health check.
    pub deployment: Deployment,
}

/// A run that has been started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeployHandle {
    /// Process id of the leader of the run's process group.
    pub pid: u32,
    /// File with the output of the install and start commands.
    pub log: PathBuf,
    /// The allocated port; `None` when the settings contain no port.
    pub port: Option<u16>,
}

/// The reason why a run was not started.
#[derive(Debug, Error)]
pub enum DeployError {
    /// The user has not agreed to the commands.
    #[error(transparent)]
    NotAgreed(#[from] NotAgreed),
    /// The deployment needs containers, which cannot be run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// No free port was found.
    #[error("no port of this machine is free")]
    NoPort,
    /// The commands cannot run in the directory of the settings.
    #[error(transparent)]
    Directory(#[from] DirectoryError),
    /// The previous run of the worktree could not be stopped.
    #[error(
        "the previous deployment of this worktree could not be stopped ({0}); stop its processes and deploy again"
    )]
    StillRunning(Survivors),
    /// A file could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The shell did not start.
    #[error(transparent)]
    Start(#[from] StartError),
}

impl From<JsonFileError> for DeployError {
    fn from(error: JsonFileError) -> Self {
        Self::Io(error.into())
    }
}

/// Commands of a repository that the user has not agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "you have not agreed to {}; review it, and agree with: {}",
    .commands.iter().map(|command| format!("`{command}`")).collect::<Vec<_>>().join(", "),
    agreement(.clone, .commands)
)]
pub struct NotAgreed {
    /// Root of the clone.
    pub clone: PathBuf,
    /// The commands, in the order in which they would run.
    pub commands: Vec<String>,
}

/// Returns the command with which the user agrees to commands of a repository.
#[must_use]
pub fn agreement(clone: &Path, commands: &[String]) -> String {
    let options: String = commands.iter().map(|command| format!(" --deploy {}", quoted(command))).collect();
    trust_command(clone) + &options
}

/// The content of `deploys.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
struct DeployRecords {
    // By worktree, of which each has at most one run.
    #[serde(default)]
    runs: BTreeMap<PathBuf, DeployRun>,
}

/// A handle to all runs. Clones share them.
#[derive(Clone)]
pub struct Deploys(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) programs: Arc<Programs>,
    pub(crate) timing: DeployTimeouts,
    trust: TrustStore,
    records: JsonFile<DeployRecords>,
    // Private directory with the notes that the shells of the runs write, outside the untrusted worktrees.
    notes: PathBuf,
    // Monitors in this process, by the id of the run.
    monitors: Mutex<HashMap<Uuid, Monitor>>,
    // Held while a run starts, so that two concurrent starts do not choose the same port.
    starting: tokio::sync::Mutex<()>,
    // Wakes subscribers after each change of a record.
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct Monitor {
    stop: CancellationToken,
    // The reason why the last health check failed.
    unhealthy: Option<String>,
}

impl Deploys {
    /// Opens the records in a private directory.
    #[must_use]
    pub fn open(data_dir: &Path, programs: Arc<Programs>, timing: DeployTimeouts) -> Self {
        Self(Arc::new(Inner {
            programs,
            timing,
            trust: TrustStore::new(data_dir),
            records: JsonFile::private(data_dir.join("deploys.json")).moving_malformed_aside(),
            notes: data_dir.join("deploys"),
            monitors: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
            changed: watch::Sender::default(),
        }))
    }

    pub(crate) fn inner(&self) -> &Arc<Inner> {
        &self.0
    }

    /// Returns whether a container engine is on the PATH. Its daemon may not be running.
    pub async fn has_engine(&self) -> bool {
        engine::find(&self.0.programs).await.is_some()
    }

    /// Subscribes to changes of the runs' [states](Self::states).
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<()> {
        self.0.changed.subscribe()
    }

    /// Monitors the runs that a previous Loopgate process has started.
    pub async fn resume(&self) {
        let this = self.clone();
        let records = blocking(move || this.0.all()).await;
        for run in records.unwrap_or_default() {
            if run.phase < DeployPhase::Ended {
                self.monitor(run);
            }
        }
    }

    /// Starts a run after stopping the previous run of the worktree.
    ///
    /// # Errors
    /// Fails with [`DeployError`] when the previous run cannot be stopped or the new one cannot be started.
    pub async fn start(&self, request: DeployRequest) -> Result<DeployHandle, DeployError> {
        let _starting = self.0.starting.lock().await;
        let deployment = request.deployment.completed();
        self.require_agreed(&request.clone, deployment.commands()).await?;
        if needs_engine(&deployment) {
            engine::check(&self.0.programs, &deployment).await?;
        }
        let worktree = request.worktree.canonical().to_owned();
        let (tree, path) = (worktree.clone(), deployment.directory.clone());
        let directory = blocking(move || working_directory(&tree, path.as_deref())).await??;
        self.end_run(&worktree, run::GRACE).await?.map_err(DeployError::StillRunning)?;
        let environment = self.environment().await;
        let this = self.clone();
        let spawn = blocking(move || {
            let repository = request.repository.canonical();
            let run = this.0.spawn(repository, &worktree, &directory, &deployment, environment)?;
            let recorded = this.0.record(&run);
            Ok::<_, DeployError>((run, recorded))
        });
        let (run, recorded) = spawn.await??;
        if let Err(error) = recorded {
            // Without a record, no request could stop the processes.
            let _ = self.0.end(&run, run::GRACE).await;
            return Err(error.into());
        }
        let handle =
            DeployHandle { pid: run.pid, log: Markers::of(request.worktree.as_path()).log(), port: run.port };
        self.monitor(run);
        Ok(handle)
    }

    /// Checks that the user has agreed to commands, which a repository contains or any program in the sandbox may have
    /// stored.
    pub(crate) async fn require_agreed(
        &self,
        clone: &Path,
        commands: impl Iterator<Item = &str>,
    ) -> Result<(), DeployError> {
        let (store, path) = (self.0.trust.clone(), clone.to_owned());
        let agreed = blocking(move || store.deploy_commands(&path)).await?;
        let commands: Vec<String> =
            commands.filter(|command| !agreed.contains(*command)).map(str::to_owned).collect();
        if commands.is_empty() {
            return Ok(());
        }
        Err(NotAgreed { clone: clone.to_owned(), commands }.into())
    }

    /// Returns the environment variables of a run.
    async fn environment(&self) -> BTreeMap<OsString, OsString> {
        let all = self.0.programs.environment().await;
        let inherited =
            INHERITED.into_iter().filter_map(|name| Some((name.into(), all.get(OsStr::new(name))?.clone())));
        let mut environment: BTreeMap<OsString, OsString> = inherited.collect();
        for (name, default) in [("SHELL", "/bin/bash"), ("TERM", "xterm-256color")] {
            let value = all.get(OsStr::new(name)).filter(|value| !value.is_empty());
            environment.insert(name.into(), value.cloned().unwrap_or_else(|| default.into()));
        }
        environment.insert("NODE_ENV".into(), "development".into());
        environment
    }

    fn monitor(&self, run: DeployRun) {
        let stop = CancellationToken::new();
        {
            let mut monitors = self.0.monitors();
            if monitors.contains_key(&run.id) {
                return;
            }
            monitors.insert(run.id, Monitor { stop: stop.clone(), unhealthy: None });
        }
        let inner = self.0.clone();
        tokio::spawn(async move {
            let id = run.id;
            stop.run_until_cancelled(inner.clone().follow(run)).await;
            inner.monitors().remove(&id);
        });
    }
}

impl Inner {
    fn monitors(&self) -> MutexGuard<'_, HashMap<Uuid, Monitor>> {
        self.monitors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stops monitoring a run, after which this process no longer changes its record or markers.
    pub(crate) fn stop_monitor(&self, id: Uuid) {
        if let Some(monitor) = self.monitors().remove(&id) {
            monitor.stop.cancel();
        }
    }

    /// Returns the reason why the last health check of a run failed.
    pub(crate) fn unhealthy(&self, id: Uuid) -> Option<String> {
        self.monitors().get(&id)?.unhealthy.clone()
    }

    pub(crate) fn set_unhealthy(&self, id: Uuid, reason: String) {
        if let Some(monitor) = self.monitors().get_mut(&id) {
            monitor.unhealthy = Some(reason);
        }
    }

    /// Returns the file to which the shell of a run writes its note.
    pub(crate) fn note_path(&self, run: &DeployRun) -> PathBuf {
        self.notes.join(run.id.to_string())
    }

    /// Returns all records. Performs blocking I/O.
    pub(crate) fn all(&self) -> Vec<DeployRun> {
        self.records().unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to read the deployment records");
            Vec::new()
        })
    }

    /// Returns all runs. Performs blocking I/O.
    pub(crate) fn records(&self) -> Result<Vec<DeployRun>, JsonFileError> {
        Ok(self.records.read()?.unwrap_or_default().runs.into_values().collect())
    }

    /// Returns the run of a worktree. Performs blocking I/O.
    pub(crate) fn run_in(&self, worktree: &Path) -> Option<DeployRun> {
        self.all().into_iter().find(|run| run.worktree == worktree)
    }

    /// Moves a run to a later phase, unless another run has replaced it. Calls `write_marker` before the
    /// phase is recorded. Performs blocking I/O.
    pub(crate) fn advance(&self, run: &DeployRun, phase: DeployPhase, write_marker: impl FnOnce()) {
        let result = self.records.update(|records| {
            let record = records.as_mut().and_then(|records| records.runs.get_mut(&run.worktree));
            // Under the lock of the records: a monitor that was just stopped must not write markers of a
            // replaced run.
            if let Some(record) = record.filter(|record| record.id == run.id && record.phase < phase) {
                write_marker();
                record.phase = phase;
            }
            Ok::<_, JsonFileError>(())
        });
        self.changed.send_replace(());
        if let Err(error) = result {
            tracing::warn!(%error, "failed to record the phase of a deployment");
        }
    }

    /// Changes the record of a run, unless another run has replaced it. Performs blocking I/O.
    pub(crate) fn amend(&self, run: &DeployRun, change: impl FnOnce(&mut DeployRun)) {
        let result = self.records.update(|records| {
            let record = records.as_mut().and_then(|records| records.runs.get_mut(&run.worktree));
            if let Some(record) = record.filter(|record| record.id == run.id) {
                change(record);
            }
            Ok::<_, JsonFileError>(())
        });
        if let Err(error) = result {
            tracing::warn!(%error, "failed to change the record of a deployment");
        }
    }

    /// Terminates the processes of a run, and records those that are still running.
    ///
    /// # Errors
    /// Fails with [`Survivors`] when a process is still running.
    pub(crate) async fn end(self: &Arc<Self>, run: &DeployRun, grace: Duration) -> Result<(), Survivors> {
        let ended = end_process(run, grace).await;
        let pids = ended.as_ref().err().map(|survivors| survivors.pids.clone()).unwrap_or_default();
        if let Err(survivors) = &ended {
            tracing::warn!(%survivors, "failed to terminate a deployment");
        }
        if !pids.is_empty() || !run.survivors.is_empty() {
            let (this, run) = (self.clone(), run.clone());
            let record = blocking(move || {
                let survivors = pids.into_iter().filter_map(|pid| Some((pid, identity(pid)?))).collect();
                this.amend(&run, |record| record.survivors = survivors);
            });
            let _ = record.await;
        }
        ended
    }

    /// Starts the process of a run. Performs blocking I/O.
    fn spawn(
        &self,
        repository: &Path,
        worktree: &Path,
        directory: &Path,
        deployment: &Deployment,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<DeployRun, DeployError> {
        let markers = Markers::of(worktree);
        markers.reset()?;
        if repository != worktree {
            let (from, to) = (Directory::of(repository)?, Directory::of(worktree)?);
            if let Err(error) = copy_environment_files(&from, &to, &ENVIRONMENT_FILES) {
                tracing::warn!(%error, "failed to copy environment files to the worktree");
            }
        }
        std::fs::create_dir_all(&self.notes)?;
        let port = match deployment.port {
            Some(preferred) => Some(self.allocate_port(preferred).ok_or(DeployError::NoPort)?),
            None => None,
        };
        let mut run = DeployRun {
            id: Uuid::now_v7(),
            repository: repository.to_owned(),
            worktree: worktree.to_owned(),
            pid: 0,
            started: ProcessStart(0),
            phase: DeployPhase::Starting,
            port,
            port_is_hint: deployment.has_detected_port(),
            url: None,
            directory: deployment.directory.clone(),
            survivors: Vec::new(),
            health_url: run::health_url(deployment, port),
            health_log_pattern: deployment.health_log_pattern.clone(),
            additional_ports: deployment.additional_ports.clone(),
            teardown_command: deployment.teardown_command.clone(),
            in_container: needs_engine(deployment),
        };
        let command = run::command(deployment, directory, environment, &run, &self.note_path(&run));
        let process = command.spawn_detached(&markers.log())?;
        run.pid = process.pid;
        run.started = process.started.unwrap_or(ProcessStart(0));
        markers.write_pid(run.pid, run.started);
        // A forbidden URL fails the health check, not the run: the process may still be useful.
        let is_forbidden = run.health_url.as_deref().is_some_and(|url| LoopbackUrl::parse(url).is_none());
        if is_forbidden {
            markers.write_failure(&DeployFailure::new(FailedCommand::HealthCheckPolicy, Some(-1)));
            run.phase = DeployPhase::Failed;
        }
        Ok(run)
    }

    /// Records a run, which replaces the previous one of the worktree. Performs blocking I/O.
    fn record(&self, run: &DeployRun) -> Result<(), JsonFileError> {
        let recorded = self.records.update(|records| {
            let runs = &mut records.get_or_insert_default().runs;
            runs.insert(run.worktree.clone(), run.clone());
            Ok(())
        });
        self.changed.send_replace(());
        recorded
    }

    /// Returns the preferred port, or another free port. Ports that are allocated to other runs are not
    /// free, even when their servers have not bound them yet.
    fn allocate_port(&self, preferred: u16) -> Option<u16> {
        let allocated: Vec<u16> = self
            .all()
            .iter()
            .filter(|run| run.phase < DeployPhase::Ended && run.is_alive())
            .filter_map(|run| run.port)
            .collect();
        let is_unallocated = |port: &u16| !allocated.contains(port);
        let own = Some(preferred).filter(|port| is_unallocated(port) && is_free(*port));
        own.or_else(|| (0..PORT_TRIES).filter_map(|_| any_free()).find(is_unallocated))
    }
}
