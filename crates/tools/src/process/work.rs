//! Activity of a process tree: its members, their processor time, the data that they transfer, and the program that was
//! started last.
//!
//! Comparing two samples shows whether the tree made progress. All functions block.

use std::collections::BTreeMap;
#[cfg(target_os = "linux")]
use std::collections::HashSet;

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

/// State of the data transfer of processes. Empty for processes of other users, and outside of Linux.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TransferState {
    /// Bytes that the processes and their reaped children read and wrote.
    bytes: u64,
    /// Data in the queues of their TCP sockets, by inode. The kernel buffers up to megabytes, and sends them while the
    /// processes only wait.
    queues: BTreeMap<String, String>,
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
/// Reads the state of the data transfer of processes. Costs more than a sample: it reads the tables of all sockets.
pub fn transfer_state(pids: &[u32]) -> TransferState {
    let read =
        |pid: &u32, name: &str| std::fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
    let counters: String = pids.iter().map(|pid| read(pid, "io")).collect();
    // Bytes of system calls on files, pipes and sockets (proc_pid_io(5)).
    let of_calls = |line: &str| -> Option<u64> {
        line.strip_prefix("rchar: ").or_else(|| line.strip_prefix("wchar: "))?.parse().ok()
    };
    let bytes = counters.lines().filter_map(of_calls).sum();
    let descriptors =
        pids.iter().filter_map(|pid| std::fs::read_dir(format!("/proc/{pid}/fd")).ok()).flatten();
    let targets = descriptors.flatten().filter_map(|entry| std::fs::read_link(entry.path()).ok());
    let sockets: HashSet<String> = targets
        .filter_map(|target| {
            Some(target.to_str()?.strip_prefix("socket:[")?.trim_end_matches(']').to_owned())
        })
        .collect();
    let tables: String =
        pids.iter().take(1).flat_map(|pid| [read(pid, "net/tcp"), read(pid, "net/tcp6")]).collect();
    // The columns `tx_queue:rx_queue` and `inode` (proc_net_tcp in the documentation of the kernel).
    let queue = |line: &str| {
        let mut columns = line.split_ascii_whitespace();
        let (queues, inode) = (columns.nth(4)?.to_owned(), columns.nth(4)?.to_owned());
        sockets.contains(&inode).then_some((inode, queues))
    };
    TransferState { bytes, queues: tables.lines().filter_map(queue).collect() }
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
pub fn transfer_state(_pids: &[u32]) -> TransferState {
    TransferState::default()
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

    #[cfg(target_os = "linux")]
    #[test]
    fn transfer_is_noticed_in_pipes_and_in_buffers_of_the_kernel() {
        use std::io::{Read as _, Write as _};
        let state = || transfer_state(&[std::process::id()]);
        let (mut reader, mut writer) = std::io::pipe().unwrap();
        let before = state().bytes;
        writer.write_all(&[0; 4096]).unwrap();
        reader.read_exact(&mut [0; 4096]).unwrap();
        assert!(state().bytes >= before + 2 * 4096);

        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut server, _) = listener.accept().unwrap();
        client.write_all(&[0; 4096]).unwrap();
        server.peek(&mut [0]).unwrap();
        let queued = state().queues;
        server.read_exact(&mut [0; 4096]).unwrap();
        assert_ne!(state().queues, queued);
    }

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
