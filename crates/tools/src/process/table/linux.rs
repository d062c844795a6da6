//! The process table on Linux, read from `/proc`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::thread;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal};

use super::Process;
use crate::process::identity::ProcessStart;

// Most reads of an environment that is empty, because a program is loaded or it has no entries, and the time between two
// of them.
const EXEC_READS: usize = 50;
const EXEC_PAUSE: Duration = Duration::from_millis(1);

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
    // Fields 20, `num_threads`, and 22, `starttime`, in clock ticks since boot; see proc_pid_stat(5).
    let threads: u64 = fields.nth(14)?.parse().ok()?;
    let ticks: u64 = fields.nth(1)?.parse().ok()?;
    let started = ProcessStart(*BOOT_MS + ticks * 1000 / rustix::param::clock_ticks_per_second().max(1));
    // A process whose first thread has exited is listed as a zombie while its other threads run.
    let running = !matches!(state, "Z" | "X" | "x") || (state == "Z" && threads > 1);
    Some(Stat { process: Process { pid, parent, running, started }, group })
}

/// Returns `None` for a process that has exited, or that this user may not inspect.
fn visible<T>(read: io::Result<T>) -> io::Result<Option<T>> {
    match read {
        Ok(content) => Ok(Some(content)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied)
                || error.raw_os_error() == Some(Errno::SRCH.raw_os_error()) =>
        {
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

fn read(pid: u32) -> io::Result<Option<Stat>> {
    let bytes = visible(fs::read(format!("/proc/{pid}/stat")))?;
    Ok(bytes.and_then(|bytes| parse(pid, &String::from_utf8_lossy(&bytes))))
}

fn stats() -> io::Result<Vec<Stat>> {
    let mut stats = Vec::new();
    for entry in fs::read_dir("/proc")? {
        if let Some(pid) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) {
            stats.extend(read(pid)?);
        }
    }
    Ok(stats)
}

/// Returns the process with this pid.
pub(crate) fn find(pid: u32) -> Option<Process> {
    read(pid).ok()?.map(|stat| stat.process)
}

/// Returns every visible process. An error means that the table could not be read, for example because too
/// many files are open.
pub(crate) fn all() -> io::Result<Vec<Process>> {
    Ok(stats()?.into_iter().map(|stat| stat.process).collect())
}

/// Returns the members of a group, including zombies.
pub(crate) fn members(group: u32) -> io::Result<Vec<Process>> {
    Ok(stats()?.into_iter().filter(|stat| stat.group == group).map(|stat| stat.process).collect())
}

/// Returns whether a process of this user has `name=value` in its environment.
pub(crate) fn has_variable(pid: u32, name: &str, value: &str) -> io::Result<bool> {
    let uid = rustix::process::getuid().as_raw();
    let directory = format!("/proc/{pid}");
    // Setuid programs are not dumpable, so their entry belongs to root; they are not ours to inspect.
    if visible(fs::metadata(&directory))?.is_none_or(|metadata| metadata.uid() != uid) {
        return Ok(false);
    }
    let expected = format!("{name}={value}");
    // While a process is replaced by another program (`execve`), its environment ends early or is empty.
    let mut earlier = None;
    for _ in 0..EXEC_READS {
        let Some(environ) = visible(fs::read(format!("{directory}/environ")))? else { return Ok(false) };
        if environ.split(|byte| *byte == 0).any(|entry| entry == expected.as_bytes()) {
            return Ok(true);
        }
        // Kernel threads and zombies have no program.
        if environ.is_empty() && fs::read_link(format!("{directory}/exe")).is_ok() {
            #[expect(clippy::disallowed_methods, reason = "callers run where they may block")]
            thread::sleep(EXEC_PAUSE);
        } else if earlier.as_ref() == Some(&environ) {
            return Ok(false);
        }
        earlier = Some(environ);
    }
    Ok(false)
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
    all().unwrap_or_default().into_iter().filter(is_match).collect()
}

/// Returns whether a visible process has this file open.
pub(crate) fn is_open(file: &Path) -> bool {
    let Ok(file) = file.canonicalize() else { return false };
    let processes = all().unwrap_or_default().into_iter();
    let descriptors = processes.filter_map(|process| fs::read_dir(format!("/proc/{}/fd", process.pid)).ok());
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

    #[test]
    fn variable_is_found_while_a_program_is_loaded() {
        let dir = tempfile::tempdir().unwrap();
        let (script, end) = (dir.path().join("script"), dir.path().join("end"));
        fs::write(&script, r#"if [ "$1" -gt 0 ]; then exec sh "$0" $(($1 - 1)) "$2"; else : > "$2"; fi"#)
            .unwrap();
        #[expect(clippy::disallowed_methods, reason = "a process of this test")]
        let mut child = std::process::Command::new("sh")
            .arg(&script)
            .arg("300")
            .arg(&end)
            .env("LOOPGATE_TEST_MARK", "1")
            .spawn()
            .unwrap();
        while has_variable(child.id(), "LOOPGATE_TEST_MARK", "1").unwrap() {}
        // A process that exits has no environment any more.
        assert!(end.exists(), "the process was not found while it ran");
        assert!(child.wait().unwrap().success());
    }

    proptest! {
        #[test]
        fn command_name_does_not_affect_the_fields(name in "[^\0]{0,15}", parent in 0u32..1000, group in 0u32..1000, threads in 1u64..3, ticks in 0u64..1_000_000) {
            let stat = format!("7 ({name}) Z {parent} {group} 1 0 -1 0 0 0 0 0 1 2 3 4 20 0 {threads} 0 {ticks} 0 0\n");
            let stat = parse(7, &stat).unwrap();
            prop_assert_eq!((stat.process.parent, stat.group), (parent, group));
            prop_assert_eq!(stat.process.running, threads > 1);
            prop_assert_eq!(stat.process.started.0, *BOOT_MS + ticks * 10);
        }
    }
}
