//! Which loops are under way here, and which worktrees they own.
//!
//! A reservation is a value: whoever drops it gives loop and worktree free, whatever happened.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_api::ids::LoopId;

/// How far a reserved loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing runs yet that could be killed.
    Preparing,
    /// Its process runs, or its end is being worked on.
    Running,
}

#[derive(Debug, Default)]
struct Table {
    loops: HashMap<LoopId, Phase>,
    worktrees: HashMap<PathBuf, LoopId>,
}

/// The reservations of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reservations(Arc<Mutex<Table>>);

/// A loop that is reserved until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    table: Reservations,
    id: LoopId,
}

impl Reservations {
    /// Reserves a loop; `None` while another reservation of it lives.
    pub fn reserve(&self, id: LoopId) -> Option<Reservation> {
        let mut table = self.lock();
        if table.loops.contains_key(&id) {
            return None;
        }
        table.loops.insert(id, Phase::Preparing);
        Some(Reservation { table: self.clone(), id })
    }

    /// How far a loop is; `None` when it is not under way here.
    pub fn phase(&self, id: LoopId) -> Option<Phase> {
        self.lock().loops.get(&id).copied()
    }

    fn lock(&self) -> MutexGuard<'_, Table> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Takes a worktree for this loop; `false` while another loop has it.
    #[must_use]
    pub fn claim(&self, worktree: &Path) -> bool {
        let mut table = self.table.lock();
        let owner = *table.worktrees.entry(worktree.to_owned()).or_insert(self.id);
        owner == self.id
    }

    /// The loop's process runs.
    pub fn running(&self) {
        self.table.lock().loops.insert(self.id, Phase::Running);
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        table.loops.remove(&self.id);
        table.worktrees.retain(|_, owner| *owner != self.id);
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_loop_once_and_one_loop_a_worktree() {
        let table = Reservations::default();
        let (one, two) = (LoopId(Uuid::new_v4()), LoopId(Uuid::new_v4()));
        let first = table.reserve(one).unwrap();
        assert!(table.reserve(one).is_none());
        assert_eq!(table.phase(one), Some(Phase::Preparing));
        let second = table.reserve(two).unwrap();
        assert!(first.claim(Path::new("/w")) && first.claim(Path::new("/w")));
        assert!(!second.claim(Path::new("/w")));
        first.running();
        assert_eq!(table.phase(one), Some(Phase::Running));
        drop(first);
        assert_eq!(table.phase(one), None);
        assert!(second.claim(Path::new("/w")));
    }
}
