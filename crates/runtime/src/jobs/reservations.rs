//! Which loops are under way here, and which worktrees they own.
//!
//! A reservation is a guard: dropping it releases the loop and the worktree.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_api::ids::LoopId;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// How far a reserved loop is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ReservationPhase {
    /// It waits for a place.
    Waiting,
    /// Nothing runs yet that could be killed.
    Preparing,
    /// Its process runs, or its end is being worked on.
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

/// The reservations of this process.
#[derive(Debug, Clone, Default)]
pub(crate) struct Reservations {
    table: Arc<Mutex<ReservationTable>>,
    /// Tells that one was given back.
    given_back: watch::Sender<()>,
}

/// A loop that is reserved until this is dropped.
#[derive(Debug)]
pub(crate) struct Reservation {
    table: Reservations,
    id: LoopId,
    /// Cancelled when the loop is not wanted any more while it is prepared.
    cancelled: CancellationToken,
}

impl Reservations {
    /// Reserves a loop; `None` while another reservation of it lives.
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

    /// Loops that take a place.
    pub fn under_way(&self) -> usize {
        self.lock().loops.values().filter(|entry| entry.phase != ReservationPhase::Waiting).count()
    }

    /// Tells of every reservation that is given back.
    pub fn subscribe(&self) -> watch::Receiver<()> {
        self.given_back.subscribe()
    }

    /// How far a loop is; `None` when it is not under way here.
    pub fn phase(&self, id: LoopId) -> Option<ReservationPhase> {
        self.lock().loops.get(&id).map(|entry| entry.phase)
    }

    /// Whether a loop waits, is prepared, followed or finished by this process.
    pub fn is_followed(&self, id: LoopId) -> bool {
        self.phase(id).is_some()
    }

    /// Cancels the preparation of a loop; `false` when it is not being prepared.
    pub fn cancel_preparation(&self, id: LoopId) -> bool {
        let table = self.lock();
        let entry = table.loops.get(&id).filter(|entry| entry.phase == ReservationPhase::Preparing);
        entry.inspect(|entry| entry.cancelled.cancel()).is_some()
    }

    /// Waits until a loop is not under way here.
    pub async fn free(&self, id: LoopId) {
        // The sender lives as long as this does, so that the wait only ends when the loop is free.
        let _ = self.given_back.subscribe().wait_for(|()| self.phase(id).is_none()).await;
    }

    fn lock(&self) -> MutexGuard<'_, ReservationTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reservation {
    /// Takes a worktree for this loop.
    ///
    /// # Errors
    /// The loop that has it.
    pub fn claim(&self, worktree: &Path) -> Result<(), LoopId> {
        let mut table = self.table.lock();
        let owner = *table.worktrees.entry(worktree.to_owned()).or_insert(self.id);
        if owner == self.id { Ok(()) } else { Err(owner) }
    }

    /// The loop waits for a place.
    pub fn waiting(&self) {
        self.set(ReservationPhase::Waiting);
    }

    /// The loop has a place.
    pub fn preparing(&self) {
        self.set(ReservationPhase::Preparing);
    }

    /// The loop's process runs, or its end is being worked on.
    pub fn running(&self) {
        self.set(ReservationPhase::Running);
    }

    fn set(&self, phase: ReservationPhase) {
        if let Some(entry) = self.table.lock().loops.get_mut(&self.id) {
            entry.phase = phase;
        }
    }

    /// Whether the loop is not wanted any more.
    pub fn is_cancelled(&self) -> bool {
        self.cancelled.is_cancelled()
    }

    /// Does a part of the preparation that may be dropped half-way; `None` when the loop is not wanted
    /// any more.
    pub async fn unless_cancelled<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.cancelled.run_until_cancelled(work).await
    }
}

impl Drop for Reservation {
    fn drop(&mut self) {
        let mut table = self.table.lock();
        table.loops.remove(&self.id);
        table.worktrees.retain(|_, owner| *owner != self.id);
        drop(table);
        self.table.given_back.send_replace(());
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn one_loop_once_and_one_loop_a_worktree() {
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
    async fn only_what_is_prepared_can_be_cancelled() {
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
    async fn end_of_a_reservation_is_waited_for() {
        let table = Reservations::default();
        let id = LoopId(Uuid::new_v4());
        table.free(id).await;
        let reservation = table.reserve(id).unwrap();
        assert!(table.free(id).now_or_never().is_none());
        let ((), ()) = tokio::join!(table.free(id), async { drop(reservation) });
    }
}
