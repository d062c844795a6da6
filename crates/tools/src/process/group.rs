//! Termination of process groups: SIGTERM, a grace period, SIGKILL.
//!
//! A group that another process started is signalled only when the start time of its leader proves that the
//! pid was not reused.

use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use tokio::process::Child;
use tokio::time::{Instant, sleep};

use super::identity::ProcessStart;
use super::output::ProcessStatus;
use super::table;

/// Interval between checks of a group that was signalled.
const POLL: Duration = Duration::from_millis(20);
/// How long the members of a killed group may take to exit. Longer only in uninterruptible system calls.
const KILL_TIMEOUT: Duration = Duration::from_secs(5);
/// How long the leader may take to be reaped after the last signal.
const REAP_TIMEOUT: Duration = Duration::from_secs(5);

/// Niceness of processes with lowered priority, on a scale from -20 to 19.
const LOW_PRIORITY_NICE: i32 = 5;

/// The outcome of terminating a process group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupKillOutcome {
    /// All members exited within the grace period.
    Terminated,
    /// All members exited, some only after SIGKILL.
    Killed,
    /// The group had no running member; no signal was sent.
    NotAlive,
    /// The pid was reused by another process, or does not lead a group; no signal was sent.
    NotOurs,
    /// Signals were sent, but a member is still running.
    StillAlive,
}

/// Terminates the group whose leader has this pid and start time: SIGTERM, the grace period, SIGKILL.
///
/// Returns as soon as no member is running. Never signals a pid below 2 (the caller's own group, or init) or
/// a pid that was reused.
pub async fn kill_group(pid: u32, started: ProcessStart, grace: Duration) -> GroupKillOutcome {
    let Some(leader) = i32::try_from(pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return GroupKillOutcome::NotOurs;
    };
    match table::find(pid) {
        None => return GroupKillOutcome::NotAlive,
        Some(process) if !process.started.matches(started) => return GroupKillOutcome::NotOurs,
        Some(process) if !process.running && !has_running_members(pid).await => {
            return GroupKillOutcome::NotAlive;
        }
        Some(_) => {}
    }
    // The signal is sent to a group id. Without this check, a member's pid could be the id of another group.
    if rustix::process::getpgid(Some(leader)).is_ok_and(|group| group != leader) {
        return GroupKillOutcome::NotOurs;
    }
    signal_group(leader, pid, grace).await
}

/// Terminates the remaining members of a group whose leader has exited: SIGTERM, the grace period, SIGKILL.
///
/// A group id alone does not identify the group, because the system reuses ids. The group is signalled only
/// when one of its members has its working directory in `directory`.
pub async fn kill_orphaned_group(pid: u32, directory: &Path, grace: Duration) -> GroupKillOutcome {
    let Some(leader) = i32::try_from(pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return GroupKillOutcome::NotOurs;
    };
    let directory = directory.to_owned();
    let inspection = tokio::task::spawn_blocking(move || {
        let members = table::members(pid)?;
        let inside = table::processes_in(&directory);
        let has_member_inside =
            members.iter().any(|member| member.running && inside.iter().any(|(pid, _)| *pid == member.pid));
        std::io::Result::Ok((members, has_member_inside))
    });
    match inspection.await.map_err(std::io::Error::other).flatten() {
        Ok((members, _)) if !members.iter().any(|member| member.running) => GroupKillOutcome::NotAlive,
        Ok((members, true)) if members.iter().all(|member| member.pid != pid || !member.running) => {
            signal_group(leader, pid, grace).await
        }
        Ok(_) => GroupKillOutcome::NotOurs,
        // Whether a member is running is unknown, so the group must not count as terminated.
        Err(_) => GroupKillOutcome::StillAlive,
    }
}

async fn signal_group(leader: Pid, group: u32, grace: Duration) -> GroupKillOutcome {
    // Errors of both signals are ignored: ESRCH means that the group is empty, which the check below
    // observes.
    let _ = rustix::process::kill_process_group(leader, Signal::TERM);
    if wait_until_empty(group, grace).await {
        return GroupKillOutcome::Terminated;
    }
    let _ = rustix::process::kill_process_group(leader, Signal::KILL);
    if wait_until_empty(group, KILL_TIMEOUT).await {
        GroupKillOutcome::Killed
    } else {
        GroupKillOutcome::StillAlive
    }
}

async fn wait_until_empty(group: u32, within: Duration) -> bool {
    let end = Instant::now() + within;
    loop {
        if !has_running_members(group).await {
            return true;
        }
        if Instant::now() >= end {
            return false;
        }
        sleep(POLL).await;
    }
}

async fn has_running_members(group: u32) -> bool {
    let id = i32::try_from(group).ok().and_then(Pid::from_raw);
    let is_empty = id.is_none_or(|id| rustix::process::test_kill_process_group(id) == Err(Errno::SRCH));
    if is_empty {
        return false;
    }
    // The group exists, but zombies count as members; only the process table distinguishes them.
    let members = tokio::task::spawn_blocking(move || table::members(group));
    let members = members.await.map_err(std::io::Error::other).flatten();
    members.map_or(true, |members| members.iter().any(|member| member.running))
}

/// A group whose leader is a child of this process that has not been reaped, so that its pid cannot be
/// reused.
pub(super) struct OwnedGroup {
    child: Child,
    /// `None` once the leader was reaped: its pid may be reused from then on.
    leader: Option<Pid>,
}

impl OwnedGroup {
    /// Returns the pid of the leader until it was reaped.
    pub(super) fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub(super) fn new(child: Child) -> Self {
        let leader = child.id().and_then(|pid| i32::try_from(pid).ok()).and_then(Pid::from_raw);
        Self { child, leader }
    }

    /// Lowers the scheduling priority of the leader and of all processes that it starts afterwards.
    pub(super) fn lower_priority(&self) {
        // Best-effort: without it, the process only competes with this one for the processor.
        let _ =
            self.leader.map(|leader| rustix::process::setpriority_process(Some(leader), LOW_PRIORITY_NICE));
    }

    /// Waits until the leader exits. Cancel-safe.
    pub(super) async fn wait(&mut self) -> ProcessStatus {
        use std::os::unix::process::ExitStatusExt;

        let waited = self.child.wait().await;
        self.leader = None;
        match waited {
            Ok(status) => match status.signal() {
                Some(signal) => ProcessStatus::Signalled(signal),
                None => ProcessStatus::Exited(status.code().unwrap_or(1)),
            },
            Err(_) => ProcessStatus::Exited(1),
        }
    }

    /// Waits until the leader exits. With `unreaped`, the leader is not reaped, and the status is `None`: until
    /// [`Self::end`], its pid, and so the group id, is not reused. Cancel-safe.
    pub(super) async fn leader_end(&mut self, unreaped: bool) -> Option<ProcessStatus> {
        if !unreaped {
            return Some(self.wait().await);
        }
        while self.leader.is_some_and(|leader| !has_ended(leader)) {
            sleep(POLL).await;
        }
        None
    }

    /// Terminates the members that are still running after the leader has exited, and reaps the leader.
    pub(super) async fn end(&mut self, grace: Duration) -> ProcessStatus {
        if let Some(leader) = self.leader {
            let group = leader.as_raw_nonzero().get().unsigned_abs();
            if has_running_members(group).await {
                signal_group(leader, group, grace).await;
            }
        }
        self.wait().await
    }

    /// Terminates the group: SIGTERM, the grace period, SIGKILL. Returns when no member is running. The
    /// leader stays unreaped until then, so that the group id cannot be reused between the signals.
    pub(super) async fn terminate(&mut self, grace: Duration) {
        let Some(leader) = self.leader else { return };
        let _ = rustix::process::kill_process_group(leader, Signal::TERM);
        let end = Instant::now() + grace;
        while Instant::now() < end && !has_ended(leader) {
            sleep(POLL).await;
        }
        // Also when the leader exited: other members may have ignored SIGTERM.
        let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        wait_until_empty(leader.as_raw_nonzero().get().unsigned_abs(), KILL_TIMEOUT).await;
        let _ = tokio::time::timeout(REAP_TIMEOUT, self.wait()).await;
    }
}

impl Drop for OwnedGroup {
    fn drop(&mut self) {
        if let Some(leader) = self.leader {
            let _ = rustix::process::kill_process_group(leader, Signal::KILL);
        }
    }
}

/// Returns whether a child has exited, without reaping it.
fn has_ended(child: Pid) -> bool {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    !matches!(rustix::process::waitid(WaitId::Pid(child), options), Ok(None))
}
