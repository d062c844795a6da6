//! Activity of a process tree: its members, their processor time, and the program that was started last.
//!
//! Comparing two samples shows whether the tree made progress. All functions block.

use super::table::{self, Process};

/// A sample of a process tree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProcessTreeSample {
    /// Processor time of the running processes, including that of their reaped children, in milliseconds.
    pub cpu_ms: u64,
    /// Pids of the running processes, ascending.
    pub pids: Vec<u32>,
    /// Name of the program that was started last; `None` when the root is the only process.
    pub last_started: Option<String>,
}

/// Samples a process and its descendants. Returns `None` when the process is not running, or
/// the process table cannot be read.
#[must_use]
pub fn sample_process_tree(root: u32) -> Option<ProcessTreeSample> {
    let root = table::find(root).filter(|process| process.running)?;
    let mut tree: Vec<Process> = table::descendants(root.pid).ok()?;
    tree.retain(|process| process.running);
    tree.sort_by_key(|process| (process.started, process.pid));
    let last_started = tree.last().and_then(|process| name(process.pid));
    tree.push(root);
    let mut pids: Vec<u32> = tree.iter().map(|process| process.pid).collect();
    pids.sort_unstable();
    let cpu_ms = pids.iter().filter_map(|pid| cpu_ms(*pid)).sum();
    Some(ProcessTreeSample { cpu_ms, pids, last_started })
}

#[cfg(target_os = "linux")]
fn cpu_ms(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    // `utime`, `stime`, and the same for children that were waited for: `cutime`, `cstime`
    // (proc_pid_stat(5)).
    let ticks: u64 =
        rest.split_ascii_whitespace().skip(11).take(4).filter_map(|n| n.parse::<u64>().ok()).sum();
    Some(ticks * 1000 / rustix::param::clock_ticks_per_second().max(1))
}

#[cfg(target_os = "linux")]
fn name(pid: u32) -> Option<String> {
    std::fs::read_to_string(format!("/proc/{pid}/comm")).ok().map(|name| name.trim().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn cpu_ms(pid: u32) -> Option<u64> {
    with_process(pid, |process| Some(process.accumulated_cpu_time()))
}

#[cfg(not(target_os = "linux"))]
fn name(pid: u32) -> Option<String> {
    with_process(pid, |process| process.name().to_str().map(str::to_owned))
}

#[cfg(not(target_os = "linux"))]
fn with_process<T>(pid: u32, read: impl FnOnce(&sysinfo::Process) -> Option<T>) -> Option<T> {
    use sysinfo::{Pid, ProcessesToUpdate, System};
    let pid = Pid::from_u32(pid);
    let mut system = System::new();
    system.refresh_processes(ProcessesToUpdate::Some(&[pid]), true);
    read(system.process(pid)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_contains_running_members_only() {
        #[expect(clippy::disallowed_methods, reason = "a child of this test, which kills it")]
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = sample_process_tree(std::process::id()).unwrap();
        assert!(own.pids.contains(&std::process::id()) && own.pids.contains(&child.id()), "{own:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!sample_process_tree(std::process::id()).unwrap().pids.contains(&child.id()));
        assert_eq!(sample_process_tree(child.id()), None);
    }
}
