//! Stopping a run. Only processes of its group and processes that work in its worktree are signalled.

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

/// Between SIGTERM and SIGKILL of [`Deploys::kill`].
const KILL_GRACE: Duration = Duration::from_millis(500);
/// Time limit of the teardown command.
const TEARDOWN_TIME: Duration = Duration::from_secs(60);

/// Result of [`Deploys::kill`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KillOutcome {
    /// The run was ended.
    Terminated,
    /// There is no such process.
    NotAlive,
    /// No deploy started the process; nothing was signalled.
    NotOurs,
    /// The run was signalled, and still runs.
    StillAlive,
}

/// A request to end everything that runs for a worktree.
#[derive(Debug, Clone)]
pub struct Teardown {
    /// Working directory of the run.
    pub worktree: PathBuf,
    /// Stored settings of the repository.
    pub deployment: Deployment,
    /// The pid that the caller knows the run by.
    pub pid: Option<u64>,
    /// The port that the caller knows the run by.
    pub port: Option<u16>,
}

/// Result of [`Deploys::tear_down`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TeardownOutcome {
    /// Nothing of the run is left, and its ports are free.
    Stopped,
    /// A process of the run is left, its teardown command failed, or a port of it is taken.
    NotStopped,
    /// There is no run, and neither a port nor a pid nor a command to stop one by.
    NothingToStop,
}

impl Deploys {
    /// Ends the run of a worktree and removes its markers. Returns whether nothing of it is left.
    pub(crate) async fn end_run(&self, worktree: &Path, grace: Duration) -> Result<bool, DeployError> {
        let (this, place) = (self.clone(), worktree.to_owned());
        let Some(run) = blocking(move || this.inner().run_in(&place)).await? else { return Ok(true) };
        self.inner().stop_monitor(run.id);
        let is_gone = end_process(&run, grace).await;
        if is_gone {
            // The engine runs a container on without the client that started it.
            if let Some(command) = run.teardown_command.as_ref().filter(|_| run.in_container) {
                self.run_teardown(command, worktree).await;
            }
            let this = self.clone();
            blocking(move || {
                this.inner().advance(&run, DeployPhase::Stopped, || {});
                let _ = std::fs::remove_file(this.inner().note_path(&run));
                if run.worktree.is_dir() {
                    Markers::of(&run.worktree).clear();
                }
            })
            .await?;
        } else {
            self.resume().await;
        }
        Ok(is_gone)
    }

    /// Ends the run that has this pid.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub async fn kill(&self, pid: u64) -> Result<KillOutcome, DeployError> {
        let Some(pid) = u32::try_from(pid).ok().filter(|pid| *pid >= 2) else {
            return Ok(KillOutcome::NotOurs);
        };
        let this = self.clone();
        let looked = blocking(move || {
            let is_alive = identity(pid).is_some_and(|started| alive(pid, started));
            // Without its leader, the rest of a group is still the run until its monitor records the end.
            let is_run = |run: &DeployRun| {
                run.pid == pid && if is_alive { run.is_alive() } else { run.phase < DeployPhase::Ended }
            };
            (this.inner().all().into_iter().find(is_run), is_alive)
        });
        match looked.await? {
            (Some(run), _) => {
                let is_gone = self.end_run(&run.worktree, KILL_GRACE).await?;
                Ok(if is_gone { KillOutcome::Terminated } else { KillOutcome::StillAlive })
            }
            (None, true) => Ok(KillOutcome::NotOurs),
            (None, false) => Ok(KillOutcome::NotAlive),
        }
    }

    /// Ends everything that runs for a worktree: its group, processes of the worktree that listen on its ports, and
    /// what the teardown command ends. Idempotent.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub async fn tear_down(&self, request: Teardown) -> Result<TeardownOutcome, DeployError> {
        let (this, place) = (self.clone(), request.worktree.clone());
        let run = blocking(move || this.inner().run_in(&place)).await?;
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
        let is_stopped = match run {
            Some(_) => steps.iter().all(|done| *done),
            None => steps.iter().any(|done| *done),
        };
        Ok(if is_stopped { TeardownOutcome::Stopped } else { TeardownOutcome::NotStopped })
    }

    /// Runs a teardown command. Returns whether it exited with code 0 in time.
    async fn run_teardown(&self, command: &str, worktree: &Path) -> bool {
        let environment = self.inner().programs.environment().await;
        let shell =
            Command::new("/bin/bash").args(["-c", command]).directory(worktree).environment(environment);
        match shell.run(Limits::time(TEARDOWN_TIME)).await {
            Ok(output) => output.status.success(),
            Err(error) => {
                tracing::warn!(%error, "a teardown command did not start");
                false
            }
        }
    }
}

/// Ends the groups of processes that work in the worktree and listen on one of these ports. Returns whether all ports
/// are free afterwards.
async fn free_ports(ports: Vec<u16>, worktree: &Path) -> io::Result<bool> {
    let (wanted, place) = (ports.clone(), worktree.to_owned());
    let holders = blocking(move || {
        let inside = processes_in(&place);
        let started =
            |wanted: u32| inside.iter().find(|(pid, _)| *pid == wanted).map(|(_, started)| *started);
        let on_ports = listeners().into_iter().filter(|one| wanted.contains(&one.port));
        let groups: BTreeSet<u32> =
            on_ports.filter(|one| started(one.pid).is_some()).filter_map(|one| group_of(one.pid)).collect();
        groups.into_iter().map(|leader| (leader, started(leader))).collect::<Vec<_>>()
    });
    for (leader, started) in holders.await? {
        match started {
            Some(started) => kill_group(leader, started, GRACE).await,
            None => kill_orphaned_group(leader, worktree, GRACE).await,
        };
    }
    blocking(move || ports.into_iter().all(is_free)).await
}
