//! Ending everything that a shim started, wherever it went.
//!
//! Where the kernel gives orphans to the shim, the tree of its descendants is complete, whatever
//! group or session they chose. Elsewhere the mark in their environment finds those that left.

use std::collections::HashSet;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::names::env;
use rustix::process::Signal;
use tokio::time::Instant;

use crate::process::table::{self, Process};

/// After SIGKILL, how long a process may hang in the kernel before it is given up.
const GIVE_UP: Duration = Duration::from_secs(10);

/// Finds what descends from this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Descendants {
    pub(super) loop_id: LoopId,
    /// Whether orphans become children of this process.
    pub(super) complete_tree: bool,
}

impl Descendants {
    /// Those that have not ended.
    pub(super) fn running(self) -> Vec<Process> {
        let mut found = table::descendants(std::process::id());
        if !self.complete_tree {
            found.extend(processes_of_loop(self.loop_id));
        }
        found.retain(|process| process.running);
        found
    }
}

/// Processes of this user that carry the loop's mark, and their descendants; never this one.
pub(super) fn processes_of_loop(loop_id: LoopId) -> Vec<Process> {
    let (all, value) = (table::all(), loop_id.to_string());
    let mut found: Vec<Process> = Vec::new();
    for process in all.iter().filter(|process| table::carries(process.pid, env::LOOP_ID, &value)) {
        found.extend(table::descendants_in(&all, process.pid));
        found.push(*process);
    }
    found.retain(|process| process.pid != std::process::id());
    found.sort_unstable_by_key(|process| process.pid);
    found.dedup();
    found
}

/// An end that has begun.
#[derive(Debug)]
pub(super) struct Termination {
    kill_at: Instant,
    /// Who was asked politely.
    asked: HashSet<(u32, u64)>,
}

impl Termination {
    pub(super) fn within(grace: Duration) -> Self {
        Self { kill_at: Instant::now() + grace, asked: HashSet::new() }
    }

    /// Shortens what is left of the grace; never prolongs it.
    pub(super) fn hurry(&mut self, grace: Duration) {
        self.kill_at = self.kill_at.min(Instant::now() + grace);
    }

    /// Signals whoever is due; each is asked once, and killed as often as needed.
    pub(super) fn signal(&mut self, running: &[Process]) {
        let force = Instant::now() >= self.kill_at;
        for process in running {
            if force {
                table::signal(process, Signal::KILL);
            } else if self.asked.insert((process.pid, process.started.0)) {
                table::signal(process, Signal::TERM);
                // One that was stopped could not hear it.
                table::signal(process, Signal::CONT);
            }
        }
    }

    /// Whether even SIGKILL had its time.
    pub(super) fn hopeless(&self) -> bool {
        Instant::now() >= self.kill_at + GIVE_UP
    }
}
