//! The queue of waiting loops, in order of their numbers.
//!
//! The numbers are stored in the job records and the requests in the job store, so the queue survives a
//! restart. Removing an entry transfers ownership: only the task that removed it may start or cancel the
//! loop. Running loops are never preempted.

use std::collections::{BTreeMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use tokio::sync::Notify;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::jobs::Job;
use crate::jobs::reservations::{Reservation, Reservations};

/// A waiting loop and its reservation.
pub(crate) struct QueueEntry {
    pub id: LoopId,
    pub reservation: Reservation,
    /// Whether the loop waits for approval. A loop has no position in the queue while it waits for approval.
    awaiting_approval: bool,
    /// Last announced position, from 1, and the time of the announcement.
    announced: Option<(usize, Instant)>,
    /// Cancelled when the entry is removed.
    alive: CancellationToken,
    _guard: DropGuard,
}

/// Position of a loop in the queue, to be announced.
pub(crate) struct QueuePosition {
    pub id: LoopId,
    /// Position, starting at 1.
    pub position: usize,
    /// Number of loops in the queue.
    pub of: usize,
}

/// Waiting loops of this desktop, by queue number.
pub(crate) struct QueueEntries {
    waiting: Mutex<BTreeMap<i64, QueueEntry>>,
    next: AtomicI64,
    before: AtomicI64,
    /// Whether recovery has counted the loops of the previous process.
    pub ready: AtomicBool,
    /// Notified when the queue changes.
    pub changed: Notify,
}

impl QueueEntries {
    /// Restores the queue from the job records of the previous process.
    pub fn load(active: &[Job], requests: &HashSet<LoopId>, reservations: &Reservations) -> Self {
        let queue = Self {
            waiting: Mutex::default(),
            next: AtomicI64::new(0),
            before: AtomicI64::new(-1),
            ready: AtomicBool::new(false),
            changed: Notify::new(),
        };
        for job in active.iter().filter(|job| job.status() == JobStatus::Queued) {
            // New loops must be ordered after the stored ones, and requeued loops before them.
            let Some(number) = job.launch.queue_number else { continue };
            queue.next.fetch_max(number.saturating_add(1), Ordering::Relaxed);
            queue.before.fetch_min(number.saturating_sub(1), Ordering::Relaxed);
            // A loop without its request cannot be started. Recovery determines its outcome.
            let reservation = if requests.contains(&job.id) { reservations.reserve(job.id) } else { None };
            if let Some(reservation) = reservation {
                let _ = queue.insert(number, job.id, reservation, job.launch.approval.is_some());
            }
        }
        queue
    }

    /// Returns a number after all other numbers.
    pub fn number(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// Returns a number before all other numbers.
    pub fn number_before(&self) -> i64 {
        self.before.fetch_sub(1, Ordering::Relaxed)
    }

    /// Adds a loop. The returned token is cancelled when the entry is removed.
    pub fn push(&self, number: i64, id: LoopId, reservation: Reservation) -> CancellationToken {
        self.insert(number, id, reservation, false)
    }

    /// Adds a loop that waits for approval. It has no position in the queue until [`QueueEntries::release`].
    pub fn hold(&self, number: i64, id: LoopId, reservation: Reservation) -> CancellationToken {
        self.insert(number, id, reservation, true)
    }

    fn insert(
        &self,
        number: i64,
        id: LoopId,
        reservation: Reservation,
        awaiting_approval: bool,
    ) -> CancellationToken {
        reservation.waiting();
        let alive = CancellationToken::new();
        // Dropping the entry in any way cancels the token.
        let _guard = alive.clone().drop_guard();
        let entry =
            QueueEntry { id, reservation, awaiting_approval, announced: None, alive: alive.clone(), _guard };
        self.lock().insert(number, entry);
        self.changed.notify_one();
        alive
    }

    /// Moves an approved loop into the queue.
    pub fn release(&self, id: LoopId) {
        if let Some(entry) = self.lock().values_mut().find(|entry| entry.id == id) {
            entry.awaiting_approval = false;
        }
        self.changed.notify_one();
    }

    /// Returns the loops that wait for approval.
    pub fn awaiting_approval(&self) -> Vec<LoopId> {
        self.lock().values().filter(|entry| entry.awaiting_approval).map(|entry| entry.id).collect()
    }

    /// Removes the first loop of the queue and marks it as being prepared, so that it counts for the limits.
    pub fn pop(&self) -> Option<QueueEntry> {
        let mut waiting = self.lock();
        let number = waiting.iter().find(|(_, entry)| !entry.awaiting_approval).map(|(number, _)| *number)?;
        let entry = waiting.remove(&number)?;
        entry.reservation.preparing();
        Some(entry)
    }

    /// Removes a loop from the queue, whether it waits for capacity or approval.
    pub fn take(&self, id: LoopId) -> Option<QueueEntry> {
        let mut waiting = self.lock();
        let number = waiting.iter().find(|(_, entry)| entry.id == id).map(|(number, _)| *number)?;
        let entry = waiting.remove(&number);
        // The positions of all later loops have changed.
        drop(waiting);
        self.changed.notify_one();
        entry
    }

    /// Returns all waiting loops in order.
    pub fn ids(&self) -> Vec<LoopId> {
        self.lock().values().map(|entry| entry.id).collect()
    }

    /// Returns the position of a loop in the queue, from 1.
    pub fn position(&self, id: LoopId) -> Option<usize> {
        self.lock()
            .values()
            .filter(|entry| !entry.awaiting_approval)
            .position(|entry| entry.id == id)
            .map(|index| index + 1)
    }

    /// Returns the token that is cancelled when the entry is removed.
    pub fn alive(&self, id: LoopId) -> Option<CancellationToken> {
        self.lock().values().find(|entry| entry.id == id).map(|entry| entry.alive.clone())
    }

    /// Returns whether the queue is empty. Loops that wait for approval do not count.
    pub fn is_empty(&self) -> bool {
        self.lock().values().all(|entry| entry.awaiting_approval)
    }

    /// Returns positions that have changed since the last call, or whose last announcement is older than
    /// `again`. Marks them as announced.
    pub fn unannounced(&self, again: Duration) -> Vec<QueuePosition> {
        let mut waiting = self.lock();
        let of = waiting.values().filter(|entry| !entry.awaiting_approval).count();
        let mut unannounced = Vec::new();
        for (index, entry) in waiting.values_mut().filter(|entry| !entry.awaiting_approval).enumerate() {
            let position = index + 1;
            let is_announced =
                entry.announced.is_some_and(|(announced, at)| announced == position && at.elapsed() < again);
            if !is_announced {
                entry.announced = Some((position, Instant::now()));
                unannounced.push(QueuePosition { id: entry.id, position, of });
            }
        }
        unannounced
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<i64, QueueEntry>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl QueueEntry {
    /// Consumes the entry, which cancels its token, and returns the reservation.
    pub fn into_reservation(self) -> Reservation {
        self.reservation
    }
}

#[cfg(test)]
mod tests {
    use loopgate_api::command::LoopCommand;
    use uuid::Uuid;

    use super::*;

    #[test]
    fn requeued_loop_precedes_loops_of_the_previous_process() {
        let reservations = Reservations::default();
        let [first, second, third, last] = std::array::from_fn(|_| LoopId(Uuid::new_v4()));
        let mut queued = Job::waiting(third, LoopCommand::Plan);
        queued.launch.queue_number = Some(0);
        let queue = QueueEntries::load(&[queued], &HashSet::from([third]), &reservations);
        for (number, id) in
            [(queue.number(), last), (queue.number_before(), second), (queue.number_before(), first)]
        {
            let _ = queue.push(number, id, reservations.reserve(id).unwrap());
        }
        assert_eq!(queue.ids(), [first, second, third, last]);
    }

    #[test]
    fn loop_awaiting_approval_has_no_queue_position() {
        let reservations = Reservations::default();
        let queue = QueueEntries::load(&[], &HashSet::new(), &reservations);
        let [awaiting_approval, other] = [0; 2].map(|_| LoopId(Uuid::new_v4()));
        let _ =
            queue.hold(queue.number(), awaiting_approval, reservations.reserve(awaiting_approval).unwrap());
        assert!(queue.is_empty() && queue.pop().is_none() && queue.position(awaiting_approval).is_none());
        let _ = queue.push(queue.number(), other, reservations.reserve(other).unwrap());
        assert_eq!(
            queue
                .unannounced(Duration::ZERO)
                .iter()
                .map(|announced| (announced.id, announced.of))
                .collect::<Vec<_>>(),
            [(other, 1)]
        );
        queue.release(awaiting_approval);
        assert_eq!((queue.position(awaiting_approval), queue.position(other)), (Some(1), Some(2)));
        assert_eq!(queue.pop().unwrap().id, awaiting_approval);
    }
}
