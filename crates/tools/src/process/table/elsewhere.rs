//! The table of processes where there is no `/proc`: through sysinfo.
//!
//! Also built for tests on Linux, where both ways must agree.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal};
use sysinfo::{ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::Process;
use crate::process::identity::ProcessStart;

fn look(which: ProcessesToUpdate<'_>, what: ProcessRefreshKind) -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(which, true, what.without_tasks());
    Some(system)
}

fn translate(process: &sysinfo::Process) -> Process {
    Process {
        pid: process.pid().as_u32(),
        parent: process.parent().map_or(0, sysinfo::Pid::as_u32),
        running: !matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
        started: ProcessStart(process.start_time() * 1000),
    }
}

/// The process with this pid.
pub(crate) fn find(pid: u32) -> Option<Process> {
    let pid = sysinfo::Pid::from_u32(pid);
    let system = look(ProcessesToUpdate::Some(&[pid]), ProcessRefreshKind::nothing())?;
    system.process(pid).map(translate)
}

/// Every process that can be seen.
pub(crate) fn all() -> Vec<Process> {
    let system = look(ProcessesToUpdate::All, ProcessRefreshKind::nothing());
    system.map_or_else(Vec::new, |system| system.processes().values().map(translate).collect())
}

/// The members of a group, with those that ended and wait to be reaped.
pub(crate) fn members(group: u32) -> Vec<Process> {
    let is_member = |process: &Process| {
        let pid = i32::try_from(process.pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| {
            rustix::process::getpgid(Some(pid)).is_ok_and(|pgid| pgid.as_raw_nonzero().get() as u32 == group)
        })
    };
    all().into_iter().filter(is_member).collect()
}

/// Whether a process of this user carries `name=value` in its environment.
pub(crate) fn carries(pid: u32, name: &str, value: &str) -> bool {
    let pid = sysinfo::Pid::from_u32(pid);
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    let system = look(ProcessesToUpdate::Some(&[pid]), what);
    let own = rustix::process::getuid().as_raw();
    let wanted = format!("{name}={value}");
    system.as_ref().and_then(|system| system.process(pid)).is_some_and(|process| {
        process.user_id().is_some_and(|user| **user == own)
            && process.environ().iter().any(|entry| entry == OsStr::new(&wanted))
    })
}

/// Processes whose program's name begins so and whose working directory is in one of these.
pub(crate) fn at_work(program: &str, directories: &[PathBuf]) -> Vec<Process> {
    let what = ProcessRefreshKind::nothing().with_cwd(UpdateKind::Always);
    let Some(system) = look(ProcessesToUpdate::All, what) else { return Vec::new() };
    let is_it = |process: &&sysinfo::Process| {
        let inside = |place: &Path| directories.iter().any(|directory| place.starts_with(directory));
        process.name().to_string_lossy().starts_with(program) && process.cwd().is_some_and(inside)
    };
    system.processes().values().filter(is_it).map(translate).collect()
}

/// Whether a process has this file open, which nobody tells here.
pub(crate) const fn is_open(_file: &Path) -> bool {
    false
}

/// Signals this process after comparing its start time.
pub(crate) fn signal(process: &Process, signal: Signal) -> bool {
    let Some(pid) = i32::try_from(process.pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return false;
    };
    let same = find(process.pid).is_some_and(|now| now.started == process.started);
    same && rustix::process::kill_process(pid, signal).is_ok()
}
