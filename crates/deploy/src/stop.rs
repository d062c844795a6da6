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
use crate::run::{DeployPhase, DeployRun, GRACE, end_process};
use crate::settings::Deployment;

// Grace period between SIGTERM and SIGKILL of [`Deploys::kill`], whose caller waits for the response.
const KILL_GRACE: Duration = Duration::from_millis(500);
// Time limit of the teardown command. Compose alone allows its containers 10 seconds each.
const TEARDOWN_TIMEOUT: Duration = Duration::from_secs(60);

/// The outcome of [`Deploys::kill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillOutcome {
    /// The run was terminated.
    Terminated,
    /// No process has this id.
    NotAlive,
    /// The process was not started as a deployment, so it was not signalled.
    NotOurs,
    /// The run was signalled but is still running.
    StillAlive,
}

/// A request to stop everything that runs for a worktree.
#[derive(Debug, Clone)]
pub struct Teardown {
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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TeardownOutcome {
    /// All processes of the run have exited, and its ports are free.
    Stopped,
    /// A process of the run is still alive, the teardown command failed, or one of the ports is in use.
    NotStopped,
    /// There is no run, and no port, process id or teardown command by which to stop one.
    NothingToStop,
}

impl Deploys {
    /// Terminates the run of a worktree and removes its markers. Returns whether all its processes have
    /// exited.
    pub(crate) async fn end_run(&self, worktree: &Path, grace: Duration) -> Result<bool, DeployError> {
        let (this, path) = (self.clone(), worktree.to_owned());
        let Some(run) = blocking(move || this.inner().run_in(&path)).await? else { return Ok(true) };
        // The monitor would otherwise record this exit as a failure.
        self.inner().stop_monitor(run.id);
        let has_exited = end_process(&run, grace).await;
        if has_exited {
            // Containers keep running after the client that started them has exited.
            if let Some(command) = run.teardown_command.as_ref().filter(|_| run.in_container) {
                self.run_teardown(command, worktree).await;
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
        Ok(has_exited)
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
                run.pid == pid && if is_alive { run.is_alive() } else { run.phase < DeployPhase::Ended }
            };
            (this.inner().all().into_iter().find(is_run), is_alive)
        });
        match lookup.await? {
            (Some(run), _) => {
                let has_exited = self.end_run(&run.worktree, KILL_GRACE).await?;
                Ok(if has_exited { KillOutcome::Terminated } else { KillOutcome::StillAlive })
            }
            (None, true) => Ok(KillOutcome::NotOurs),
            (None, false) => Ok(KillOutcome::NotAlive),
        }
    }

    /// Stops everything that runs for a worktree: its process group, processes that work in the worktree and
    /// listen on its ports, and containers via the teardown command. Idempotent.
    ///
    /// # Errors
    /// Fails with [`DeployError`] when the record of the run cannot be read or written.
    pub async fn tear_down(&self, request: Teardown) -> Result<TeardownOutcome, DeployError> {
        let (this, path) = (self.clone(), request.worktree.clone());
        let run = blocking(move || this.inner().run_in(&path)).await?;
        let deployment = request.deployment;
        let allocated = run.as_ref().and_then(|run| run.port);
        let mut ports: Vec<u16> = allocated.or(deployment.port).or(request.port).into_iter().collect();
        ports.extend(&deployment.additional_ports);
        ports.extend(run.iter().flat_map(|run| run.additional_ports.iter()));
        let command = deployment
            .teardown_command
            .clone()
            .or_else(|| run.as_ref().and_then(|run| run.teardown_command.clone()));
        if run.is_none() && ports.is_empty() && request.pid.is_none() && command.is_none() {
            return Ok(TeardownOutcome::NothingToStop);
        }
        let mut steps = Vec::new();
        if run.is_some() {
            steps.push(self.end_run(&request.worktree, GRACE).await?);
        } else if let Some(pid) = request.pid {
            steps.push(self.kill(pid).await? == KillOutcome::Terminated);
        }
        if let Some(command) = command.filter(|_| request.worktree.is_dir()) {
            steps.push(self.run_teardown(&command, &request.worktree).await);
        }
        if !ports.is_empty() {
            steps.push(free_ports(ports, &request.worktree).await?);
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
    async fn run_teardown(&self, command: &str, worktree: &Path) -> bool {
        let environment = self.inner().programs.environment().await;
        let shell =
            Command::new("/bin/bash").args(["-c", command]).directory(worktree).environment(environment);
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
