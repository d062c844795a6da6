//! Ending a group: politely, then for good.
//!
//! A group that was started elsewhere is signalled only when its leader's start time proves that
//! the pid still means the same process.

use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::process::Child;
use tokio::time::{Instant, sleep};

use super::identity::ProcessStart;
use super::output::RunStatus;
use super::table;

/// How often a group that was signalled is looked at.
const POLL: Duration = Duration::from_millis(20);
/// How long a killed group may take to vanish.
const REAP_TIME: Duration = Duration::from_secs(5);
/// How long a leader may take to be reaped after the last signal.
const LAST_WAIT: Duration = Duration::from_secs(5);

/// How far a process steps back behind those that do not, in the system's own steps.
const STEP_BACK: i32 = 5;

/// What came of asking for a group's end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKillOutcome {
    /// Ended within the grace period.
    Terminated,
    /// Ended by SIGKILL.
    Killed,
    /// Had ended before; nothing was signalled.
    NotAlive,
    /// The pid belongs to somebody else; nothing was signalled.
    NotOurs,
    /// Signalled, but something in it has not vanished.
    StillAlive,
}

/// Ends the group led by the process that started then: SIGTERM, the grace period, SIGKILL.
///
/// Returns as soon as no member is left. A pid below 2, and one that changed hands, is never
/// signalled.
pub async fn kill_group(pid: u32, started: ProcessStart, grace: Duration) -> GroupKillOutcome {
    let Some(leader) = i32::try_from(pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return GroupKillOutcome::NotOurs;
    };
    match table::find(pid) {
        None => return GroupKillOutcome::NotAlive,
        Some(process) if !process.started.matches(started) => return GroupKillOutcome::NotOurs,
        Some(process) if !process.running && !members_run(pid).await => return GroupKillOutcome::NotAlive,
        Some(_) => {}
    }
    if rustix::process::getpgid(Some(leader)).is_ok_and(|group| group != leader) {
        return GroupKillOutcome::NotOurs;
    }
    signal_group(leader, pid, grace).await
}

/// Ends what is left of a group whose leader is gone: SIGTERM, the grace period, SIGKILL.
///
/// The id of a group alone proves nothing, since the system may have given it away after the group's
/// end. It is signalled only when one of its members works in `directory`.
pub async fn kill_orphaned_group(pid: u32, directory: &Path, grace: Duration) -> GroupKillOutcome {
    let Some(leader) = i32::try_from(pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return GroupKillOutcome::NotOurs;
    };
    let directory = directory.to_owned();
    let looked = tokio::task::spawn_blocking(move || {
        let members = table::members(pid);
        let inside = table::processes_in(&directory);
        let known =
            members.iter().any(|member| member.running && inside.iter().any(|(pid, _)| *pid == member.pid));
        (members, known)
    });
    match looked.await {
        Ok((members, _)) if !members.iter().any(|member| member.running) => GroupKillOutcome::NotAlive,
        Ok((members, true)) if members.iter().all(|member| member.pid != pid || !member.running) => {
            signal_group(leader, pid, grace).await
        }
        _ => GroupKillOutcome::NotOurs,
    }
}

async fn signal_group(leader: Pid, group: u32, grace: Duration) -> GroupKillOutcome {
    let _ = rustix::process::kill_process_group(leader, Signal::TERM);
    if vanishes(group, grace).await {
        return GroupKillOutcome::Terminated;
    }
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    if vanishes(group, REAP_TIME).await { GroupKillOutcome::Killed } else { GroupKillOutcome::StillAlive }
}

async fn vanishes(group: u32, within: Duration) -> bool {
    let end = Instant::now() + within;
    loop {
        if !members_run(group).await {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(POLL).await;
    }
}

async fn members_run(group: u32) -> bool {
    let id = i32::try_from(group).ok().and_then(Pid::from_raw);
    let nobody = id.is_none_or(|id| rustix::process::test_kill_process_group(id) == Err(Errno::SRCH));
    if nobody {
        return false;
    }
    // Somebody is there, but perhaps only waits to be reaped; that takes a look at the table.
    tokio::task::spawn_blocking(move || table::members(group).iter().any(|member| member.running))
        .await
        .unwrap_or(true)
}

/// A group whose leader is our child and has not been reaped, so that its pid cannot be another's.
pub(super) struct OwnedGroup {
    child: Child,
    /// `None` once the leader was reaped.
    leader: Option<Pid>,
}

impl OwnedGroup {
    pub(super) fn new(child: Child) -> Self {
        let leader = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Self { child, leader }
    }

    /// Lets others have the processor first, as will everything that it starts from now on.
    pub(super) fn step_back(&self) {
        // It only goes slower without it.
        let _ = self.leader.map(|leader| rustix::process::setpriority_process(Some(leader), STEP_BACK));
    }

    /// Waits for the leader's end. Safe to drop and call again.
    pub(super) async fn wait(&mut self) -> RunStatus {
        use std::os::unix::process::ExitStatusExt;

        let ended = self.child.wait().await;
        self.leader = None;
        match ended {
            Ok(status) => match status.signal() {
                Some(signal) => RunStatus::Signalled(signal),
                None => RunStatus::Exited(status.code().unwrap_or(1)),
            },
            Err(_) => RunStatus::Exited(1),
        }
    }

    /// Ends the group: SIGTERM, the grace period, SIGKILL. Returns when no member runs any more. The
    /// leader stays unreaped until then, so that neither a signal nor a look can mean a stranger.
    pub(super) async fn terminate(&mut self, grace: Duration) {
        let Some(leader) = self.leader else { return };
        let _ = rustix::process::kill_process_group(leader, Signal::TERM);
        let end = Instant::now() + grace;
        while Instant::now() < end && !has_ended(leader) {
            sleep(POLL).await;
        }
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        vanishes(leader.as_raw_nonzero().get().unsigned_abs(), REAP_TIME).await;
        let _ = tokio::time::timeout(LAST_WAIT, self.wait()).await;
    }
}

impl Drop for OwnedGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Whether a child has ended, without reaping it.
fn has_ended(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::Pid(child), options), Ok(None))
}
