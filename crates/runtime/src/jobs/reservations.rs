//! Reservations: which loops are in progress in this process, and which worktrees they own.
//!
//! A reservation is a guard: dropping it releases the loop and its worktrees.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_api::ids::LoopId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// Phase of a reserved loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReservationPhase {
    /// The loop is queued.
    Waiting,
    /// The launch is in preparation; there is no process to kill.
    Preparing,
    /// The process runs, or the loop is being finalized.
    Running,
}

#[derive(Debug)]
struct ReservationState {
    phase: ReservationPhase,
    cancelled: CancellationToken,
}

#[derive(Debug, Default)]
struct ReservationTable {
    loops: HashMap<LoopId, ReservationState>,
    worktrees: HashMap<PathBuf, LoopId>,
}

/// Reservations of this process; clones share them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reservations {
    table: Arc<Mutex<ReservationTable>>,
    /// Notified when a reservation is released.
    released: watch::Sender<()>,
}

/// Guard of a reserved loop.
#[derive(Debug)]
pub(crate) struct Reservation {
    table: Reservations,
    id: LoopId,
    /// Cancelled when the loop is cancelled during its preparation.
    cancelled: CancellationToken,
}

impl Reservations {
    /// Reserves a loop; `None` while it is already reserved.
    pub fn reserve(&self, id: LoopId) -> Option<Reservation> {
        let mut table = self.lock();
        if table.loops.contains_key(&id) {
            return None;
        }
        let cancelled = CancellationToken::new();
        table.loops.insert(
            id,
            ReservationState { phase: ReservationPhase::Preparing, cancelled: cancelled.clone() },
        );
        Some(Reservation { table: self.clone(), id, cancelled })
    }

    /// Counts the loops that occupy a slot: all that are not queued.
    pub fn under_way(&self) -> usize {
        self.lock().loops.values().filter(|entry| entry.phase != ReservationPhase::Waiting).count()
    }

    /// Subscribes to released reservations.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.released.subscribe()
    }

    /// Returns the phase of a loop; `None` when it is not reserved.
    pub fn phase(&self, id: LoopId) -> Option<ReservationPhase> {
        self.lock().loops.get(&id).map(|entry| entry.phase)
    }

    /// Returns whether this process queues, prepares, follows or finalizes a loop.
    pub fn is_followed(&self, id: LoopId) -> bool {
        self.phase(id).is_some()
    }

    /// Cancels the preparation of a loop; returns false when it is not in preparation.
    pub fn cancel_preparation(&self, id: LoopId) -> bool {
        let table = self.lock();
        let entry = table.loops.get(&id).filter(|entry| entry.phase == ReservationPhase::Preparing);
        entry.inspect(|entry| entry.cancelled.cancel()).is_some()
    }

    /// Waits until a loop is not reserved.
    pub async fn free(&self, id: LoopId) {
        // The error cannot occur: `self` owns the sender, so the channel stays open.
        let _ = self.released.subscribe().wait_for(|()| self.phase(id).is_none()).await;
    }

    fn lock(&self) -> MutexGuard<'_, ReservationTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Claims a worktree for this loop.
    ///
    /// # Errors
    /// Returns the id of the loop that owns it.
    pub fn claim(&self, worktree: &Path) -> Result<(), LoopId> {
        let mut table = self.table.lock();
        // Idempotent: the owner may claim a directory again.
        let owner = *table.worktrees.entry(worktree.to_owned()).or_insert(self.id);
        if owner == self.id { Ok(()) } else { Err(owner) }
    }

    /// Marks the loop as queued.
    pub fn waiting(&self) {
        self.set(ReservationPhase::Waiting);
    }

    /// Marks the loop as being prepared; from now on it occupies a slot.
    pub fn preparing(&self) {
        self.set(ReservationPhase::Preparing);
    }

    /// Marks the loop as running.
    pub fn running(&self) {
        self.set(ReservationPhase::Running);
    }

    fn set(&self, phase: ReservationPhase) {
        if let Some(entry) = self.table.lock().loops.get_mut(&self.id) {
            entry.phase = phase;
        }
    }

    /// Returns whether the loop was cancelled during its preparation.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Runs a part of the preparation that may be dropped at any await point; returns `None` when the loop is
    /// cancelled.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancelled.run_until_cancelled(work).await
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        table.loops.remove(&self.id);
        table.worktrees.retain(|_, owner| *owner != self.id);
        // Woken tasks lock the table, so it is unlocked before the notification.
        drop(table);
        self.table.released.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn loops_and_worktrees_are_reserved_exclusively() {
        let table = Reservations::default();
        let (one, two) = (LoopId(Uuid::new_v4()), LoopId(Uuid::new_v4()));
        let first = table.reserve(one).unwrap();
        assert!(table.reserve(one).is_none());
        assert_eq!(table.phase(one), Some(ReservationPhase::Preparing));
        let second = table.reserve(two).unwrap();
        assert_eq!([first.claim(Path::new("/w")), first.claim(Path::new("/w"))], [Ok(()), Ok(())]);
        assert_eq!(second.claim(Path::new("/w")), Err(one));
        first.running();
        assert_eq!(table.phase(one), Some(ReservationPhase::Running));
        drop(first);
        assert_eq!(table.phase(one), None);
        assert_eq!(second.claim(Path::new("/w")), Ok(()));
    }

    #[tokio::test]
    async fn only_a_loop_in_preparation_can_be_cancelled() {
        let table = Reservations::default();
        let id = LoopId(Uuid::new_v4());
        assert!(!table.cancel_preparation(id));
        let reservation = table.reserve(id).unwrap();
        reservation.waiting();
        assert!(!table.cancel_preparation(id));
        reservation.preparing();
        assert_eq!(reservation.unless_cancelled(async { 1 }).await, Some(1));
        assert!(table.cancel_preparation(id) && reservation.is_cancelled());
        assert_eq!(reservation.unless_cancelled(std::future::pending::<()>()).await, None);
        reservation.running();
        assert!(!table.cancel_preparation(id));
    }

    #[tokio::test]
    async fn free_waits_for_the_release_of_a_reservation() {
        let table = Reservations::default();
        let id = LoopId(Uuid::new_v4());
        table.free(id).await;
        let reservation = table.reserve(id).unwrap();
        assert!(table.free(id).now_or_never().is_none());
        let ((), ()) = tokio::join!(table.free(id), async { drop(reservation) });
    }
}
