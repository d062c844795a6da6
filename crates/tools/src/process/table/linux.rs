//! The process table on Linux, read from `/proc`.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use rustix::process::{Pid, PidfdFlags, Signal};

use super::Process;
use crate::process::identity::ProcessStart;

/// Boot time in milliseconds since the Unix epoch. The kernel reports whole seconds.
static BOOT_MS: LazyLock<u64> = LazyLock::new(|| {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let seconds = stat.lines().find_map(|line| line.strip_prefix("btime "));
    seconds.and_then(|seconds| seconds.trim().parse::<u64>().ok()).unwrap_or_default() * 1000
});

/// The fields of `/proc/<pid>/stat` that are used.
struct Stat {
    process: Process,
    group: u32,
}

/// Parses `/proc/<pid>/stat`, whose fields are separated by spaces.
fn parse(pid: u32, stat: &str) -> Option<Stat> {
    // The command name is in parentheses and may itself contain parentheses and spaces.
    let (_, rest) = stat.rsplit_once(')')?;
    let mut fields = rest.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let group = fields.next()?.parse().ok()?;
    // Field 22, `starttime`, in clock ticks since boot; see proc_pid_stat(5).
    let ticks: u64 = fields.nth(16)?.parse().ok()?;
    let started = ProcessStart(*BOOT_MS + ticks * 1000 / rustix::param::clock_ticks_per_second().max(1));
    let running = !matches!(state, "Z" | "X" | "x");
    Some(Stat { process: Process { pid, parent, running, started }, group })
}

fn read(pid: u32) -> Option<Stat> {
    let bytes = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse(pid, &String::from_utf8_lossy(&bytes))
}

fn stats() -> impl Iterator<Item = Stat> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter_map(read)
}

/// Returns the process with this pid.
pub(crate) fn find(pid: u32) -> Option<Process> {
    read(pid).map(|stat| stat.process)
}

/// Returns every visible process.
pub(crate) fn all() -> Vec<Process> {
    stats().map(|stat| stat.process).collect()
}

/// Returns the members of a group, including zombies.
pub(crate) fn members(group: u32) -> Vec<Process> {
    stats().filter(|stat| stat.group == group).map(|stat| stat.process).collect()
}

/// Returns whether a process of this user has `name=value` in its environment.
pub(crate) fn has_variable(pid: u32, name: &str, value: &str) -> bool {
    let uid = rustix::process::getuid().as_raw();
    let directory = format!("/proc/{pid}");
    // Setuid programs are not dumpable, so their entry belongs to root; they are not ours to inspect.
    if !fs::metadata(&directory).is_ok_and(|metadata| metadata.uid() == uid) {
        return false;
    }
    let expected = format!("{name}={value}");
    fs::read(format!("{directory}/environ"))
        .is_ok_and(|environ| environ.split(|byte| *byte == 0).any(|entry| entry == expected.as_bytes()))
}

/// Returns the processes whose program name starts with `program` and whose working directory is in one of
/// these.
pub(crate) fn programs_in(program: &str, directories: &[PathBuf]) -> Vec<Process> {
    let is_match = |process: &Process| {
        let of = |name: &str| PathBuf::from(format!("/proc/{}/{name}", process.pid));
        let has_name = fs::read_to_string(of("comm")).is_ok_and(|name| name.starts_with(program));
        let inside = |cwd: PathBuf| {
            // The kernel appends this to the path of a removed directory.
            let cwd = cwd.to_str().and_then(|cwd| cwd.strip_suffix(" (deleted)")).map_or(&*cwd, Path::new);
            directories.iter().any(|directory| cwd.starts_with(directory))
        };
        has_name && fs::read_link(of("cwd")).is_ok_and(inside)
    };
    all().into_iter().filter(is_match).collect()
}

/// Returns whether a visible process has this file open.
pub(crate) fn is_open(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let descriptors =
        all().into_iter().filter_map(|process| fs::read_dir(format!("/proc/{}/fd", process.pid)).ok());
    let mut open = descriptors.flat_map(|entries| entries.flatten());
    open.any(|entry| fs::read_link(entry.path()).is_ok_and(|place| place == file))
}

/// Signals exactly this process. The pidfd is opened before the start time is compared, so that the signal
/// cannot reach another process that reused the pid in between.
pub(crate) fn signal(process: &Process, signal: Signal) -> bool {
    let Some(pid) = i32::try_from(process.pid).ok().filter(|pid| *pid >= 2).and_then(Pid::from_raw) else {
        return false;
    };
    let Ok(handle) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return false };
    let same = find(process.pid).is_some_and(|now| now.started == process.started);
    same && rustix::process::pidfd_send_signal(handle, signal).is_ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn command_name_does_not_affect_the_fields(name in "[^\0]{0,15}", parent in 0u32..1000, group in 0u32..1000, ticks in 0u64..1_000_000) {
            let stat = format!("7 ({name}) S {parent} {group} 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 1 0 {ticks} 0 0\n");
            let stat = parse(7, &stat).unwrap();
            prop_assert_eq!((stat.process.parent, stat.group), (parent, group));
            prop_assert_eq!(stat.process.started.0, *BOOT_MS + ticks * 10);
        }
    }
}
