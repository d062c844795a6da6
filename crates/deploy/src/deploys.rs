//! All runs of this machine: started, followed, and ended. A run belongs to one worktree, and outlives Loopgate; its
//! record tells the next process which one it is.

use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopgate_home::{Directory, EntryKind, JsonFile, JsonFileError, SandboxedPath};
use loopgate_tools::process::{ProcessStart, StartError};
use loopgate_tools::programs::{ProgramSource, Programs};
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::loopback::LoopbackUrl;
use crate::markers::{FailedCommand, Failure, Markers};
use crate::ports::{any_free, is_free};
use crate::run::{self, Phase, Run};
use crate::settings::Deployment;

/// Files of a developer that no commit holds, and that a worktree needs as well.
const LOCAL_ENVIRONMENTS: [&str; 4] =
    [".env.local", ".env.development.local", ".env.test.local", ".env.production.local"];
const MAX_ENVIRONMENT: u64 = 1024 * 1024;

/// How many ports the system is asked for.
const PORT_TRIES: usize = 20;

/// What a run gets of the environment of this process.
const KEPT: [&str; 3] = ["PATH", "HOME", "USER"];

/// How long things may take.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// For the install command.
    pub install: Duration,
    /// From the start command until the server answers.
    pub health: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self { install: Duration::from_secs(600), health: Duration::from_secs(300) }
    }
}

/// What is to be run.
#[derive(Debug, Clone)]
pub struct Order {
    /// Its clone.
    pub repository: SandboxedPath,
    /// Where it is run.
    pub worktree: SandboxedPath,
    /// How.
    pub deployment: Deployment,
}

/// A run that was started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Started {
    /// Of its group.
    pub pid: u32,
    /// Where its output goes.
    pub log: PathBuf,
    /// The port that was chosen for it.
    pub port: Option<u16>,
}

/// Why a run was not started.
#[derive(Debug, Error)]
pub enum DeployError {
    /// It needs a program that is not there.
    #[error(
        "no container engine was found; install docker or podman, or set another command for this repository"
    )]
    NoEngine,
    /// No port is free.
    #[error("no port of this machine is free")]
    NoPort,
    /// The earlier run of this worktree does not end.
    #[error("the earlier run of this worktree does not end")]
    StillRunning,
    /// The file system refused.
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

#[derive(Debug, Default, Serialize, Deserialize)]
struct Records {
    /// By worktree.
    #[serde(default)]
    runs: BTreeMap<PathBuf, Run>,
}

/// The runs. Clones share everything.
#[derive(Clone)]
pub struct Deploys(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) programs: Arc<Programs>,
    pub(crate) timing: Timing,
    records: JsonFile<Records>,
    /// Private; holds what runs note about themselves.
    notes: PathBuf,
    /// Who follows a run here, by its id, and why it did not answer the last time.
    followed: Mutex<HashMap<Uuid, Follower>>,
    /// Held while a run is being started, so that two do not choose one port.
    starting: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Follower {
    stop: CancellationToken,
    silent: Option<String>,
}

impl Deploys {
    /// The runs whose records lie in a private directory.
    #[must_use]
    pub fn open(data_dir: &Path, programs: Arc<Programs>, timing: Timing) -> Self {
        Self(Arc::new(Inner {
            programs,
            timing,
            records: JsonFile::private(data_dir.join("deploys.json")).moving_malformed_aside(),
            notes: data_dir.join("deploys"),
            followed: Mutex::default(),
            starting: tokio::sync::Mutex::default(),
        }))
    }

    pub(crate) fn inner(&self) -> &Inner {
        &self.0
    }

    /// Takes up the runs of an earlier process of Loopgate.
    pub async fn resume(&self) {
        let this = self.clone();
        let records = blocking(move || this.0.all()).await;
        for run in records.unwrap_or_default() {
            if run.phase < Phase::Ended {
                self.follow(run);
            }
        }
    }

    /// Starts a worktree. An earlier run of it is ended first.
    ///
    /// # Errors
    /// [`DeployError`]
    pub async fn start(&self, order: Order) -> Result<Started, DeployError> {
        let _starting = self.0.starting.lock().await;
        let deployment = order.deployment.completed();
        if run::needs_engine(&deployment) && !self.has_engine().await {
            return Err(DeployError::NoEngine);
        }
        let worktree = order.worktree.canonical().to_owned();
        if !self.end_run(&worktree, crate::stop::GRACE).await? {
            return Err(DeployError::StillRunning);
        }
        let environment = self.environment().await;
        let this = self.clone();
        let started =
            blocking(move || this.0.start(order.repository.canonical(), &worktree, &deployment, environment));
        let run = started.await??;
        let started =
            Started { pid: run.pid, log: Markers::of(order.worktree.as_path()).log(), port: run.port };
        self.follow(run);
        Ok(started)
    }

    /// Whether a container engine is on the PATH.
    pub async fn has_engine(&self) -> bool {
        for name in ["docker", "podman"] {
            if self.0.programs.search(name).await.source == ProgramSource::Path {
                return true;
            }
        }
        false
    }

    /// The variables that a run sees, and no others.
    async fn environment(&self) -> BTreeMap<OsString, OsString> {
        let all = self.0.programs.environment().await;
        let kept =
            KEPT.into_iter().filter_map(|name| Some((name.into(), all.get(OsStr::new(name))?.clone())));
        let mut environment: BTreeMap<OsString, OsString> = kept.collect();
        for (name, default) in [("SHELL", "/bin/bash"), ("TERM", "xterm-256color")] {
            let value = all.get(OsStr::new(name)).filter(|value| !value.is_empty());
            environment.insert(name.into(), value.cloned().unwrap_or_else(|| default.into()));
        }
        environment.insert("NODE_ENV".into(), "development".into());
        environment
    }

    fn follow(&self, run: Run) {
        let stop = CancellationToken::new();
        {
            let mut followed = self.0.followed();
            if followed.contains_key(&run.id) {
                return;
            }
            followed.insert(run.id, Follower { stop: stop.clone(), silent: None });
        }
        let inner = self.0.clone();
        tokio::spawn(async move {
            let id = run.id;
            stop.run_until_cancelled(crate::follow::follow(inner.clone(), run)).await;
            inner.followed().remove(&id);
        });
    }
}

impl Inner {
    fn followed(&self) -> MutexGuard<'_, HashMap<Uuid, Follower>> {
        self.followed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Nobody writes about a run any more.
    pub(crate) fn stop_following(&self, id: Uuid) {
        if let Some(follower) = self.followed().remove(&id) {
            follower.stop.cancel();
        }
    }

    /// Why a run did not answer the last time it was asked.
    pub(crate) fn silent(&self, id: Uuid) -> Option<String> {
        self.followed().get(&id)?.silent.clone()
    }

    pub(crate) fn note_silence(&self, id: Uuid, reason: String) {
        if let Some(follower) = self.followed().get_mut(&id) {
            follower.silent = Some(reason);
        }
    }

    pub(crate) fn note_of(&self, run: &Run) -> PathBuf {
        self.notes.join(run.id.to_string())
    }

    /// Every record. Blocks on the disk.
    pub(crate) fn all(&self) -> Vec<Run> {
        let read = self.records.read().unwrap_or_else(|error| {
            tracing::warn!(%error, "cannot read which deploys there are");
            None
        });
        read.unwrap_or_default().runs.into_values().collect()
    }

    /// The run of a worktree. Blocks on the disk.
    pub(crate) fn of(&self, worktree: &Path) -> Option<Run> {
        self.all().into_iter().find(|run| run.worktree == worktree)
    }

    /// Moves a run forward, while it is still the one of its worktree; what tells others of it is done before that is
    /// recorded. Blocks on the disk.
    pub(crate) fn advance(&self, run: &Run, phase: Phase, tell: impl FnOnce()) {
        let moved = self.records.update(|records| {
            let stored = records.as_mut().and_then(|records| records.runs.get_mut(&run.worktree));
            if let Some(stored) = stored.filter(|stored| stored.id == run.id && stored.phase < phase) {
                tell();
                stored.phase = phase;
            }
            Ok::<_, JsonFileError>(())
        });
        if let Err(error) = moved {
            tracing::warn!(%error, "cannot record how a deploy stands");
        }
    }

    fn start(
        &self,
        repository: &Path,
        worktree: &Path,
        deployment: &Deployment,
        environment: BTreeMap<OsString, OsString>,
    ) -> Result<Run, DeployError> {
        let markers = Markers::of(worktree);
        markers.begin()?;
        copy_environments(repository, worktree)?;
        std::fs::create_dir_all(&self.notes)?;
        let port = match deployment.port {
            Some(wanted) => Some(self.choose_port(wanted).ok_or(DeployError::NoPort)?),
            None => None,
        };
        let mut run = Run {
            id: Uuid::now_v7(),
            repository: repository.to_owned(),
            worktree: worktree.to_owned(),
            pid: 0,
            started: ProcessStart(0),
            phase: Phase::Starting,
            port,
            health_url: run::health_url(deployment, port),
            health_log_pattern: deployment.health_log_pattern.clone(),
            additional_ports: deployment.additional_ports.clone(),
            teardown_command: deployment.teardown_command.clone(),
            in_container: run::needs_engine(deployment),
        };
        let command = run::command(deployment, worktree, environment, port, &self.note_of(&run));
        let process = command.spawn_detached(&markers.log())?;
        run.pid = process.pid;
        run.started = process.started.unwrap_or(ProcessStart(0));
        markers.write_pid(run.pid, run.started);
        let is_refused = run.health_url.as_deref().is_some_and(|url| LoopbackUrl::parse(url).is_none());
        if is_refused {
            markers.write_failure(&Failure::new(FailedCommand::HealthCheckPolicy, Some(-1)));
            run.phase = Phase::Failed;
        }
        let recorded = self.records.update(|records| {
            let runs = &mut records.get_or_insert_default().runs;
            runs.insert(run.worktree.clone(), run.clone());
            Ok::<_, JsonFileError>(())
        });
        recorded?;
        Ok(run)
    }

    /// A port that nothing has, and that no other run is about to take.
    fn choose_port(&self, wanted: u16) -> Option<u16> {
        let promised: Vec<u16> = self
            .all()
            .iter()
            .filter(|run| run.phase < Phase::Ended && run.is_alive())
            .filter_map(|run| run.port)
            .collect();
        let is_new = |port: &u16| !promised.contains(port);
        let own = Some(wanted).filter(|port| is_new(port) && is_free(*port));
        own.or_else(|| (0..PORT_TRIES).filter_map(|_| any_free()).find(is_new))
    }
}

/// Copies what is missing in the worktree.
fn copy_environments(repository: &Path, worktree: &Path) -> io::Result<()> {
    if repository == worktree {
        return Ok(());
    }
    let (from, to) = (Directory::of(repository)?, Directory::of(worktree)?);
    for name in LOCAL_ENVIRONMENTS {
        let is_missing =
            to.kind(Path::new(name)).is_none() && from.kind(Path::new(name)) == Some(EntryKind::File);
        if is_missing {
            let copied = from
                .read(Path::new(name), MAX_ENVIRONMENT)
                .and_then(|text| to.replace(OsStr::new(name), &text));
            if let Err(error) = copied {
                tracing::warn!(%error, name, "a file of variables was not copied to the worktree");
            }
        }
    }
    Ok(())
}

/// Work that blocks on the disk.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
