//! Termination of all processes that a shim started, in whatever process group or session.
//!
//! Where the kernel supports subreapers, orphans become children of the shim and the tree of its descendants
//! is complete. Elsewhere, orphans are found by the loop id in their environment.

use std::collections::HashSet;
use std::io;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use rustix::process::Signal;
use tokio::time::Instant;

use crate::process::table::{self, Process};

/// How long to wait after SIGKILL. A process in an uninterruptible system call may stay even longer.
const KILL_TIMEOUT: Duration = Duration::from_secs(10);

/// The descendants of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendants {
    pub(super) loop_id: LoopId,
    /// Whether this process is a subreaper, so that orphans become its children.
    pub(super) complete_tree: bool,
}

impl Descendants {
    /// Returns the descendants that are not zombies.
    pub(super) fn running(self) -> io::Result<Vec<Process>> {
        let mut processes = table::descendants(std::process::id())?;
        if !self.complete_tree {
            processes.extend(processes_of_loop(self.loop_id)?);
        }
        processes.retain(|process| process.running);
        Ok(processes)
    }
}

/// Returns the processes of a loop: those with its id in their environment.
pub(super) fn processes_of_loop(loop_id: LoopId) -> io::Result<Vec<Process>> {
    marked_processes(env::LOOP_ID, &loop_id.to_string())
}

/// Returns the processes of this user with `name=value` in their environment, and their descendants, except
/// this one.
pub(super) fn marked_processes(name: &str, value: &str) -> io::Result<Vec<Process>> {
    let all = table::all()?;
    let mut processes: Vec<Process> = Vec::new();
    for process in &all {
        if table::has_variable(process.pid, name, value)? {
            processes.extend(table::descendants_in(&all, process.pid));
            processes.push(*process);
        }
    }
    processes.retain(|process| process.pid != std::process::id());
    processes.sort_unstable_by_key(|process| process.pid);
    // A marked process is usually also a descendant of another marked one.
    processes.dedup();
    Ok(processes)
}

/// A termination in progress.
#[derive(Debug)]
pub(super) struct Termination {
    kill_at: Instant,
    /// Pid and start time of the processes that received SIGTERM.
    signalled: HashSet<(u32, u64)>,
}

impl Termination {
    pub(super) fn within(grace: Duration) -> Self {
        Self { kill_at: Instant::now() + grace, signalled: HashSet::new() }
    }

    /// Shortens the remaining grace period; never extends it.
    pub(super) fn shorten(&mut self, grace: Duration) {
        self.kill_at = self.kill_at.min(Instant::now() + grace);
    }

    /// Sends SIGTERM once to each process, and SIGKILL on every call after the grace period: processes that
    /// are forked in the meantime appear only in a later call.
    pub(super) fn signal(&mut self, running: &[Process]) {
        let force = Instant::now() >= self.kill_at;
        for process in running {
            if force {
                table::signal(process, Signal::KILL);
            } else if self.signalled.insert((process.pid, process.started.0)) {
                table::signal(process, Signal::TERM);
                // A stopped process handles SIGTERM only after it is continued.
                table::signal(process, Signal::CONT);
            }
        }
    }

    /// Returns the processes that received SIGTERM and are still running.
    pub(super) fn remaining(&self) -> Vec<Process> {
        let running = |(pid, started): &(u32, u64)| {
            table::find(*pid).filter(|process| process.running && process.started.0 == *started)
        };
        self.signalled.iter().filter_map(running).collect()
    }

    /// Returns whether processes survived SIGKILL for so long that waiting further is pointless.
    pub(super) fn timed_out(&self) -> bool {
        Instant::now() >= self.kill_at + KILL_TIMEOUT
    }
}
