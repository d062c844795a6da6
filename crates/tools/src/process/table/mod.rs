//! The process table: pid, parent, group, state and start time of each process.
//!
//! One file per platform, with the same functions.

use std::io;
use std::path::Path;

use super::identity::ProcessStart;

#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(
    target_os = "linux",
    expect(dead_code, reason = "tests use only the functions that both implement")
)]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{all, find, has_variable, is_open, members, programs_in, signal};
#[cfg(target_os = "linux")]
pub(crate) use linux::{all, find, has_variable, is_open, members, programs_in, signal};

/// An entry of the process table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// `false` for a zombie: the process exited and has not been reaped.
    pub(crate) running: bool,
    pub(crate) started: ProcessStart,
}

/// Returns the start time of a process; `None` when the pid is not in use.
#[must_use]
pub fn identity(pid: u32) -> Option<ProcessStart> {
    find(pid).map(|process| process.started)
}

/// Returns whether the process with this pid and start time is running. A zombie is not.
#[must_use]
pub fn alive(pid: u32, started: ProcessStart) -> bool {
    find(pid).is_some_and(|process| process.running && process.started.matches(started))
}

/// Returns the processes whose working directory is in this directory, also after the directory was removed.
#[must_use]
pub fn processes_in(directory: &Path) -> Vec<(u32, ProcessStart)> {
    let descendants_found = programs_in("", &[directory.to_owned()]);
    descendants_found.into_iter().map(|process| (process.pid, process.started)).collect()
}

/// Returns the pids of the running members of a process group.
///
/// # Errors
/// Fails when the process table cannot be read.
pub fn group_members(group: u32) -> io::Result<Vec<u32>> {
    let members = members(group)?.into_iter().filter(|member| member.running);
    Ok(members.map(|member| member.pid).collect())
}

/// Returns the descendants of `root`, without `root`.
pub(crate) fn descendants(root: u32) -> io::Result<Vec<Process>> {
    Ok(descendants_in(&all()?, root))
}

pub(crate) fn descendants_in(processes: &[Process], root: u32) -> Vec<Process> {
    let mut descendants_found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for process in processes {
            // A snapshot is not atomic: with a reused pid it may contain a cycle, which must not loop
            // forever.
            let visited =
                process.pid == root || descendants_found.iter().any(|other| other.pid == process.pid);
            if process.parent == parent && !visited {
                parents.push(process.pid);
                descendants_found.push(*process);
            }
        }
    }
    descendants_found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process { pid, parent, running: true, started: ProcessStart(0) }
    }

    #[test]
    fn implementations_agree_on_this_process() {
        let own = std::process::id();
        let (here, there) = (find(own).unwrap(), elsewhere::find(own).unwrap());
        assert_eq!((here.pid, here.parent, here.running), (there.pid, there.parent, there.running));
        assert!(here.started.matches(there.started), "{here:?} {there:?}");
        assert!(all().unwrap().contains(&here));
        assert!(elsewhere::all().unwrap().iter().any(|process| process.pid == own));
    }

    #[test]
    fn implementations_agree_on_the_environment() {
        let (name, value) =
            std::env::vars().find(|(name, value)| name == "PATH" && !value.is_empty()).unwrap();
        let own = std::process::id();
        for (value, expected) in [(value.as_str(), true), ("no such value", false)] {
            assert_eq!(has_variable(own, &name, value).unwrap(), expected);
            assert_eq!(elsewhere::has_variable(own, &name, value).unwrap(), expected);
        }
    }

    proptest! {
        #[test]
        fn descendants_are_complete_and_cycles_end(parents in proptest::collection::vec(0u32..40, 1..40)) {
            let processes: Vec<Process> =
                parents.iter().zip(1u32..).map(|(parent, pid)| process(pid, *parent)).collect();
            let descendants_found = descendants_in(&processes, 1);
            for candidate in processes.iter().filter(|candidate| candidate.pid != 1) {
                let mut at = candidate.parent;
                let mut steps = 0;
                while at != 1 && at != 0 && steps < 50 {
                    at = processes.iter().find(|other| other.pid == at).map_or(0, |other| other.parent);
                    steps += 1;
                }
                prop_assert_eq!(descendants_found.contains(candidate), at == 1, "{:?}", candidate);
            }
        }
    }
}
