//! The end of a run. What is signalled was started here, or works in the run's worktree; nothing else is.

use std::io;
use std::path::Path;
use std::time::Duration;

use loopgate_tools::process::{Command, GroupKillOutcome, Limits, alive, identity, kill_group};

use crate::deploys::{DeployError, Deploys, blocking};
use crate::markers::Markers;
use crate::ports::{group_of, listening, works_in};
use crate::run::{Phase, Run};
use crate::settings::Deployment;

/// Between SIGTERM and SIGKILL.
pub(crate) const GRACE: Duration = Duration::from_secs(5);
/// The same, when a person stops a run by its pid.
const KILL_GRACE: Duration = Duration::from_millis(500);
/// For the teardown command.
const TEARDOWN_TIME: Duration = Duration::from_secs(60);

/// What came of ending a process by its pid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Killed {
    /// It has ended now.
    Ended,
    /// There was none.
    Gone,
    /// It was not started here; nothing was signalled.
    NotOurs,
    /// It was signalled, and lives.
    StillAlive,
}

/// What is to be torn down.
#[derive(Debug, Clone)]
pub struct Teardown {
    /// Where it runs.
    pub worktree: std::path::PathBuf,
    /// Stored settings.
    pub deployment: Deployment,
    /// What the caller believes its pid to be.
    pub pid: Option<u64>,
    /// What the caller believes its port to be.
    pub port: Option<u16>,
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TornDown {
    /// Nothing of it runs any more.
    Stopped,
    /// Something of it, or in its place, runs.
    NotStopped,
    /// Nothing tells what to stop.
    NothingKnown,
}

/// Ends the group of a run; whether it is gone.
pub(crate) async fn end_process(run: &Run, grace: Duration) -> bool {
    match kill_group(run.pid, run.started, grace).await {
        GroupKillOutcome::Terminated
        | GroupKillOutcome::Killed
        | GroupKillOutcome::NotAlive
        | GroupKillOutcome::NotOurs => true,
        GroupKillOutcome::StillAlive => false,
    }
}

impl Deploys {
    /// Ends the run of a worktree, on purpose: nothing is deployed there then. Whether it is gone.
    pub(crate) async fn end_run(&self, worktree: &Path, grace: Duration) -> Result<bool, DeployError> {
        let (this, place) = (self.clone(), worktree.to_owned());
        let Some(run) = blocking(move || this.inner().of(&place)).await? else { return Ok(true) };
        self.inner().stop_following(run.id);
        let is_gone = end_process(&run, grace).await;
        if is_gone {
            let this = self.clone();
            blocking(move || {
                this.inner().advance(&run, Phase::Stopped, || {});
                let _ = std::fs::remove_file(this.inner().note_of(&run));
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
    pub async fn kill(&self, pid: u64) -> Result<Killed, DeployError> {
        let Some(pid) = u32::try_from(pid).ok().filter(|pid| *pid >= 2) else { return Ok(Killed::NotOurs) };
        let this = self.clone();
        let looked = blocking(move || {
            let run = this.inner().all().into_iter().find(|run| run.pid == pid && run.is_alive());
            (run, identity(pid).is_some_and(|started| alive(pid, started)))
        });
        match looked.await? {
            (Some(run), _) => {
                let is_gone = self.end_run(&run.worktree, KILL_GRACE).await?;
                Ok(if is_gone { Killed::Ended } else { Killed::StillAlive })
            }
            (None, true) => Ok(Killed::NotOurs),
            (None, false) => Ok(Killed::Gone),
        }
    }

    /// Ends whatever runs for a worktree: its processes, what listens on its ports, and what its own command ends.
    /// Doing it twice is doing it once.
    ///
    /// # Errors
    /// When its record cannot be read.
    pub async fn tear_down(&self, what: Teardown) -> Result<TornDown, DeployError> {
        let (this, place) = (self.clone(), what.worktree.clone());
        let run = blocking(move || this.inner().of(&place)).await?;
        let deployment = what.deployment;
        let chosen = run.as_ref().and_then(|run| run.port);
        let mut ports: Vec<u16> = chosen.or(deployment.port).or(what.port).into_iter().collect();
        ports.extend(&deployment.additional_ports);
        ports.extend(run.iter().flat_map(|run| run.additional_ports.iter()));
        let command = deployment
            .teardown_command
            .clone()
            .or_else(|| run.as_ref().and_then(|run| run.teardown_command.clone()));
        if run.is_none() && ports.is_empty() && what.pid.is_none() && command.is_none() {
            return Ok(TornDown::NothingKnown);
        }
        let mut steps = Vec::new();
        if run.is_some() {
            steps.push(self.end_run(&what.worktree, GRACE).await?);
        } else if let Some(pid) = what.pid {
            steps.push(matches!(self.kill(pid).await?, Killed::Ended));
        }
        if let Some(command) = command.filter(|_| what.worktree.is_dir()) {
            steps.push(self.run_teardown(&command, &what.worktree).await);
        }
        if !ports.is_empty() {
            steps.push(free_ports(ports, &what.worktree).await?);
        }
        let is_stopped = match run {
            Some(_) => steps.iter().all(|done| *done),
            None => steps.iter().any(|done| *done),
        };
        Ok(if is_stopped { TornDown::Stopped } else { TornDown::NotStopped })
    }

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

/// Ends what works in the worktree and listens on one of these ports; whether all of them are free then.
async fn free_ports(ports: Vec<u16>, worktree: &Path) -> io::Result<bool> {
    let (wanted, place) = (ports.clone(), worktree.to_owned());
    let holders = blocking(move || {
        let on_ports = listening().into_iter().filter(|one| wanted.contains(&one.port));
        let leaders = on_ports.filter_map(|one| group_of(one.pid)).filter(|leader| works_in(*leader, &place));
        leaders.filter_map(|leader| Some((leader, identity(leader)?))).collect::<Vec<_>>()
    });
    for (leader, started) in holders.await? {
        kill_group(leader, started, GRACE).await;
    }
    blocking(move || ports.into_iter().all(crate::ports::is_free)).await
}
