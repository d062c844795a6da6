//! Stopping runs. Signals are sent only to a run's process group and to processes that work in its worktree.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_tools::process::{
    Command, Limits, alive, identity, kill_group, kill_orphaned_group, processes_in,
};

use crate::blocking::blocking;
use crate::deploys::{DeployError, Deploys};
use crate::markers::Markers;
use crate::ports::{group_of, is_free, listeners};
use crate::run::{DeployPhase, DeployRun, GRACE, Survivors, working_directory};
use crate::settings::Deployment;

// Grace period between SIGTERM and SIGKILL of [`Deploys::kill`], whose caller waits for the response.
const KILL_GRACE: Duration = Duration::from_millis(500);
// Time limit of the teardown command. Compose alone allows its containers 10 seconds each.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

/// The outcome of [`Deploys::kill`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KillOutcome {
    /// The run was terminated.
    Terminated,
    /// No process has this id.
    NotAlive,
    /// The process was not started as a deployment, so it was not signalled.
    NotOurs,
    /// The run was signalled, but processes are still running.
    StillAlive(Survivors),
}

/// A request to stop everything that runs for a worktree.
#[derive(Debug, Clone)]
pub struct Teardown {
    /// Root of the clone, to which the user's consent applies.
    pub clone: PathBuf,
    /// Working directory of the run.
    pub worktree: PathBuf,
    /// Current settings of the repository, which may have changed since the run started.
    pub deployment: Deployment,
    /// Process id of the run as known to the caller.
    pub pid: Option<u64>,
    /// Port of the run as known to the caller.
    pub port: Option<u16>,
}

/// The outcome of [`Deploys::tear_down`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeardownOutcome {
    /// All processes of the run have exited, and its ports are free.
    Stopped,
    /// Processes of the run are still running.
    StillAlive(Survivors),
    /// The teardown command failed, or one of the ports is in use.
    NotStopped,
    /// There is no run, and no port, process id or teardown command by which to stop one.
    NothingToStop,
}

impl Deploys {
    /// Terminates the run of a worktree and removes its markers. The inner error contains the processes that are
    /// still running.
    pub(crate) async fn end_run(
        &self,
        worktree: &Path,
        grace: Duration,
    ) -> Result<Result<(), Survivors>, DeployError> {
        let (this, path) = (self.clone(), worktree.to_owned());
        let Some(run) = blocking(move || this.inner().run_in(&path)).await? else { return Ok(Ok(())) };
        // The monitor would otherwise record this exit as a failure.
        self.inner().stop_monitor(run.id);
        let ended = self.inner().end(&run, grace).await;
        if ended.is_ok() {
            // Containers keep running after the client that started them has exited.
            if let Some(command) = run.teardown_command.as_ref().filter(|_| run.in_container) {
                self.run_teardown(command, worktree, run.directory.as_deref()).await;
            }
            let this = self.clone();
            blocking(move || {
                this.inner().advance(&run, DeployPhase::Stopped, || {});
                // Best-effort: run ids are unique, so a leftover note is never read again.
                let _ = std::fs::remove_file(this.inner().note_path(&run));
                if run.worktree.is_dir() {
                    Markers::of(&run.worktree).clear();
                }
            })
            .await?;
        } else {
            // The run continues, so its monitor has to continue as well.
            self.resume().await;
        }
        Ok(ended)
    }

    /// Terminates the run with this process id.
    ///
    /// # Errors
    /// Fails with [`DeployError`] when the record of the run cannot be read or written.
    pub async fn kill(&self, pid: u64) -> Result<KillOutcome, DeployError> {
        // 0 and 1 are not valid targets: 0 means the caller's own group, 1 is the init process.
        let Some(pid) = u32::try_from(pid).ok().filter(|pid| *pid >= 2) else {
            return Ok(KillOutcome::NotOurs);
        };
        let this = self.clone();
        let lookup = blocking(move || {
            let is_alive = identity(pid).is_some_and(|started| alive(pid, started));
            // Without its leader, the remaining group still counts as the run until the monitor records the
            // exit.
            let is_run = |run: &DeployRun| {
                let remains = || run.phase < DeployPhase::Ended || !run.survivors.is_empty();
                run.pid == pid && if is_alive { run.is_alive() } else { remains() }
            };
            (this.inner().all().into_iter().find(is_run), is_alive)
        });
        match lookup.await? {
            (Some(run), _) => {
                let ended = self.end_run(&run.worktree, KILL_GRACE).await?;
                Ok(ended.map_or_else(KillOutcome::StillAlive, |()| KillOutcome::Terminated))
            }
            (None, true) => Ok(KillOutcome::NotOurs),
            (None, false) => Ok(KillOutcome::NotAlive),
        }
    }

    /// Stops everything that runs for a worktree: the processes of its run, processes that work in the worktree
    /// and listen on its ports, and containers via the teardown command. Idempotent.
    ///
    /// # Errors
    /// Fails with [`DeployError`] when the record of the run cannot be read or written, or, after everything else was
    /// stopped, when the user has not agreed to the teardown command.
    pub async fn tear_down(&self, request: Teardown) -> Result<TeardownOutcome, DeployError> {
        let (this, path) = (self.clone(), request.worktree.clone());
        let run = blocking(move || this.inner().run_in(&path)).await?;
        let deployment = request.deployment;
        let mut ports = match &run {
            Some(run) if run.port.is_some() => run.known_ports(),
            Some(run) => {
                let other = deployment.port.or(request.port).filter(|_| run.url.is_none());
                run.known_ports().into_iter().chain(other).collect()
            }
            // The caller knows where the server responds; a port from the detection is only a hint.
            None if deployment.has_detected_port() => request.port.or(deployment.port).into_iter().collect(),
            None => deployment.port.or(request.port).into_iter().collect(),
        };
        ports.extend(&deployment.additional_ports);
        let recorded =
            run.as_ref().and_then(|run| Some((run.teardown_command.clone()?, run.directory.clone())));
        let stored = deployment.teardown_command.map(|command| (command, deployment.directory));
        // The recorded command was agreed to when the run started.
        let is_recorded = stored.is_none() || stored == recorded;
        let command = stored.or(recorded);
        if run.is_none() && ports.is_empty() && request.pid.is_none() && command.is_none() {
            return Ok(TeardownOutcome::NothingToStop);
        }
        let mut steps = Vec::new();
        let mut survivors = None;
        if run.is_some() {
            survivors = self.end_run(&request.worktree, GRACE).await?.err();
        } else if let Some(pid) = request.pid {
            let killed = self.kill(pid).await?;
            steps.push(killed == KillOutcome::Terminated);
            if let KillOutcome::StillAlive(processes) = killed {
                survivors = Some(processes);
            }
        }
        let mut refusal = None;
        if let Some((command, directory)) = command.filter(|_| request.worktree.is_dir()) {
            if !is_recorded {
                refusal = self.require_agreed(&request.clone, [command.as_str()].into_iter()).await.err();
            }
            if refusal.is_none() {
                steps.push(self.run_teardown(&command, &request.worktree, directory.as_deref()).await);
            }
        }
        if !ports.is_empty() {
            steps.push(free_ports(ports, &request.worktree).await?);
        }
        if let Some(survivors) = survivors {
            return Ok(TeardownOutcome::StillAlive(survivors));
        }
        if let Some(refusal) = refusal {
            return Err(refusal);
        }
        // Every step must succeed for a known run. Without a record, the steps are guesses, of which one has
        // to succeed.
        let is_stopped = match run {
            Some(_) => steps.iter().all(|done| *done),
            None => steps.iter().any(|done| *done),
        };
        Ok(if is_stopped { TeardownOutcome::Stopped } else { TeardownOutcome::NotStopped })
    }

    /// Runs a teardown command. Returns whether it exited with code 0 within the time limit.
    async fn run_teardown(&self, command: &str, worktree: &Path, directory: Option<&str>) -> bool {
        let (tree, below) = (worktree.to_owned(), directory.map(ToOwned::to_owned));
        let directory = blocking(move || working_directory(&tree, below.as_deref())).await;
        let directory = match directory {
            Ok(Ok(directory)) => directory,
            Ok(Err(error)) => {
                tracing::warn!(%error, "failed to start a teardown command");
                return false;
            }
            Err(_) => return false,
        };
        let environment = self.inner().programs.environment().await;
        let shell =
            Command::new("/bin/bash").args(["-c", command]).directory(directory).environment(environment);
        match shell.run(Limits::time(TEARDOWN_TIMEOUT)).await {
            Ok(output) => output.status.success(),
            Err(error) => {
                tracing::warn!(%error, "failed to start a teardown command");
                false
            }
        }
    }
}

/// Terminates the process groups that work in the worktree and listen on one of these ports. Returns whether
/// all ports are free afterwards.
async fn free_ports(ports: Vec<u16>, worktree: &Path) -> io::Result<bool> {
    let (requested, path) = (ports.clone(), worktree.to_owned());
    let holders = blocking(move || {
        let inside = processes_in(&path);
        let started =
            |target: u32| inside.iter().find(|(pid, _)| *pid == target).map(|(_, started)| *started);
        let on_ports = listeners().into_iter().filter(|listener| requested.contains(&listener.port));
        let groups: BTreeSet<u32> = on_ports
            .filter(|listener| started(listener.pid).is_some())
            .filter_map(|listener| group_of(listener.pid))
            .collect();
        groups.into_iter().map(|leader| (leader, started(leader))).collect::<Vec<_>>()
    });
    for (leader, started) in holders.await? {
        // The leader has exited or works elsewhere, so the group is identified by a member in the worktree.
        match started {
            Some(started) => kill_group(leader, started, GRACE).await,
            None => kill_orphaned_group(leader, worktree, GRACE).await,
        };
    }
    blocking(move || ports.into_iter().all(is_free)).await
}
