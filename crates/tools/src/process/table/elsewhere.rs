//! The process table on platforms without `/proc`, through sysinfo.
//!
//! Also compiled for tests on Linux, where both implementations must agree.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::Process;
use crate::process::identity::ProcessStart;

fn snapshot(which: ProcessesToUpdate<'_>, details: ProcessRefreshKind) -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(which, true, details.without_tasks());
    Some(system)
}

fn unreadable() -> io::Error {
    io::Error::other("the process table cannot be read")
}

fn to_process(process: &sysinfo::Process) -> Process {
    Process {
        pid: process.pid().as_u32(),
        parent: process.parent().map_or(0, sysinfo::Pid::as_u32),
        running: !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
        started: ProcessStart(process.start_time() * 1000),
    }
}

/// Returns the process with this pid.
pub(crate) fn find(pid: u32) -> Option<Process> {
    let pid = sysinfo::Pid::from_u32(pid);
    let system = snapshot(ProcessesToUpdate::Some(&[pid]), ProcessRefreshKind::nothing())?;
    system.process(pid).map(to_process)
}

/// Returns every visible process.
pub(crate) fn all() -> io::Result<Vec<Process>> {
    let system = snapshot(ProcessesToUpdate::All, ProcessRefreshKind::nothing()).ok_or_else(unreadable)?;
    Ok(system.processes().values().map(to_process).collect())
}

/// Returns the members of a group, including zombies.
pub(crate) fn members(group: u32) -> io::Result<Vec<Process>> {
    let is_member = |process: &Process| {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| {
            rustix::process::getpgid(Some(pid)).is_ok_and(|pgid| pgid.as_raw_nonzero().get() as u32 == group)
        })
    };
    Ok(all()?.into_iter().filter(is_member).collect())
}

/// Returns whether a process of this user has `name=value` in its environment.
pub(crate) fn has_variable(pid: u32, name: &str, value: &str) -> io::Result<bool> {
    let pid = sysinfo::Pid::from_u32(pid);
    let details =
        ProcessRefreshKind::nothing().with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    let system = snapshot(ProcessesToUpdate::Some(&[pid]), details).ok_or_else(unreadable)?;
    let own = rustix::process::getuid().as_raw();
    let expected = format!("{name}={value}");
    Ok(system.process(pid).is_some_and(|process| {
        process.user_id().is_some_and(|user| **user == own)
            && process.environ().iter().any(|entry| entry == OsStr::new(&expected))
    }))
}

/// Returns the processes whose program name starts with `program` and whose working directory is in one of
/// these.
pub(crate) fn programs_in(program: &str, directories: &[PathBuf]) -> Vec<Process> {
    let details = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
    let Some(system) = snapshot(ProcessesToUpdate::All, details) else { return Vec::new() };
    let is_match = |process: &&sysinfo::Process| {
        let inside = |place: &Path| directories.iter().any(|directory| place.starts_with(directory));
        process.name().to_string_lossy().starts_with(program) && process.cwd().is_some_and(inside)
    };
    system.processes().values().filter(is_match).map(to_process).collect()
}

/// Returns whether a process has this file open. Always `false`: sysinfo does not list open files.
pub(crate) const fn is_open(_file: &Path) -> bool {
    false
}

/// Signals a process after comparing its start time.
pub(crate) fn signal(process: &Process, signal: Signal) -> bool {
    let Some(pid) = i32::try_from(process.pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return false;
    };
    // Not atomic: without pidfds, the pid could be reused between the comparison and the signal.
    let same = find(process.pid).is_some_and(|now| now.started == process.started);
    same && rustix::process::kill_process(pid, signal).is_ok()
}
