//! What a tree of processes does: how much it has computed, who belongs to it, what runs at its end.
//!
//! Two looks apart in time tell whether anything went on in between. Blocks on the system.

use super::table::{self, Process};

/// A tree at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TreeWork {
    /// Processor time that its living processes have used, with that of their ended children, in
    /// milliseconds.
    pub cpu_ms: u64,
    /// Its living processes, in order.
    pub pids: Vec<u32>,
    /// Name of the program that was started last in it, when it is more than its root.
    pub last_started: Option<String>,
}

/// Looks at a process and everything that it started; `None` when it does not live.
#[must_use]
pub fn tree_work(root: u32) -> Option<TreeWork> {
    let root = table::find(root).filter(|process| process.running)?;
    let mut tree: Vec<Process> = table::descendants(root.pid);
    tree.retain(|process| process.running);
    tree.sort_by_key(|process| (process.started, process.pid));
    let last_started = tree.last().and_then(|process| name(process.pid));
    tree.push(root);
    let mut pids: Vec<u32> = tree.iter().map(|process| process.pid).collect();
    pids.sort_unstable();
    let cpu_ms = pids.iter().filter_map(|pid| cpu_ms(*pid)).sum();
    Some(TreeWork { cpu_ms, pids, last_started })
}

#[cfg(target_os = "linux")]
fn cpu_ms(pid: u32) -> Option<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = stat.rsplit_once(')')?;
    // Own time in user and kernel mode, then that of children that were waited for.
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
fn with_process<T>(pid: u32, look: impl FnOnce(&sysinfo::Process) -> Option<T>) -> Option<T> {
    use sysinfo::{Pid, ProcessesToUpdate, System};
    let pid = Pid::from_u32(pid);
    let mut system = System::new();
    system.refresh_processes(ProcessesToUpdate::Some(&[pid]), true);
    look(system.process(pid)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tree_knows_its_members_and_their_work() {
        #[expect(clippy::disallowed_methods, reason = "a child of this test, ended by it")]
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let own = tree_work(std::process::id()).unwrap();
        assert!(own.pids.contains(&std::process::id()) && own.pids.contains(&child.id()), "{own:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!tree_work(std::process::id()).unwrap().pids.contains(&child.id()));
        assert_eq!(tree_work(child.id()), None);
    }
}
