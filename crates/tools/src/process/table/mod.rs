//! The table of processes: who runs, since when, whose child, in which group.
//!
//! One file a platform; both read the same facts.

use std::path::Path;

use super::identity::ProcessStart;

#[cfg(any(test, not(target_os = "linux")))]
#[cfg_attr(target_os = "linux", expect(dead_code, reason = "tests compare only what both can tell"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(crate) use elsewhere::{all, at_work, carries, find, is_open, members, signal};
#[cfg(target_os = "linux")]
pub(crate) use linux::{all, at_work, carries, find, is_open, members, signal};

/// One process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// `false` once it ended and only waits to be reaped.
    pub(crate) running: bool,
    pub(crate) started: ProcessStart,
}

/// When the process with this pid started; `None` when there is none.
#[must_use]
pub fn identity(pid: u32) -> Option<ProcessStart> {
    find(pid).map(|process| process.started)
}

/// Whether the process that started then still runs under this pid. One that ended and waits to be
/// reaped does not.
#[must_use]
pub fn alive(pid: u32, started: ProcessStart) -> bool {
    find(pid).is_some_and(|process| process.running && process.started.matches(started))
}

/// The processes whose working directory is a directory or is below it, also after its removal.
#[must_use]
pub fn processes_in(directory: &Path) -> Vec<(u32, ProcessStart)> {
    let found = at_work("", &[directory.to_owned()]);
    found.into_iter().map(|process| (process.pid, process.started)).collect()
}

/// Everything that descends from `root`, without it.
pub(crate) fn descendants(root: u32) -> Vec<Process> {
    descendants_in(&all(), root)
}

pub(crate) fn descendants_in(processes: &[Process], root: u32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        for process in processes {
            let known = process.pid == root || found.iter().any(|other| other.pid == process.pid);
            if process.parent == parent && !known {
                parents.push(process.pid);
                found.push(*process);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn process(pid: u32, parent: u32) -> Process {
        Process { pid, parent, running: true, started: ProcessStart(0) }
    }

    #[test]
    fn both_platforms_tell_the_same_of_this_process() {
        let own = std::process::id();
        let (here, there) = (find(own).unwrap(), elsewhere::find(own).unwrap());
        assert_eq!((here.pid, here.parent, here.running), (there.pid, there.parent, there.running));
        assert!(here.started.matches(there.started), "{here:?} {there:?}");
        assert!(all().contains(&here));
        assert!(elsewhere::all().iter().any(|process| process.pid == own));
    }

    #[test]
    fn both_platforms_read_the_environment_of_this_process() {
        let (name, value) =
            std::env::vars().find(|(name, value)| name == "PATH" && !value.is_empty()).unwrap();
        let own = std::process::id();
        assert!(carries(own, &name, &value) && elsewhere::carries(own, &name, &value));
        assert!(!carries(own, &name, "no such value") && !elsewhere::carries(own, &name, "no such value"));
    }

    proptest! {
        #[test]
        fn process_walk_ends_and_finds_all_descendants(parents in proptest::collection::vec(0u32..40, 1..40)) {
            let processes: Vec<Process> =
                parents.iter().zip(1u32..).map(|(parent, pid)| process(pid, *parent)).collect();
            let found = descendants_in(&processes, 1);
            for candidate in processes.iter().filter(|candidate| candidate.pid != 1) {
                let mut at = candidate.parent;
                let mut steps = 0;
                while at != 1 && at != 0 && steps < 50 {
                    at = processes.iter().find(|other| other.pid == at).map_or(0, |other| other.parent);
                    steps += 1;
                }
                prop_assert_eq!(found.contains(candidate), at == 1, "{:?}", candidate);
            }
        }
    }
}
