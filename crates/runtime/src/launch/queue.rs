//! Loops that wait for a place: in which order, and who is next.
//!
//! A loop that waits has a record with its number, and its order is kept; both outlive the program, so
//! that the queue does too. Whoever takes an entry out of the queue, to start it or to cancel it, is
//! the only one who has it. Nothing that runs is ever stopped for a place.

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

/// A loop that waits.
pub(crate) struct QueueEntry {
    pub id: LoopId,
    pub reservation: Reservation,
    /// It waits for its owner's approval, and for a place only then.
    awaiting_approval: bool,
    /// The place that was announced last, from 1, and when.
    announced: Option<(usize, Instant)>,
    /// Cancelled when the loop waits no longer.
    alive: CancellationToken,
    _guard: DropGuard,
}

/// A position in the queue that was not reported yet.
pub(crate) struct QueuePosition {
    pub id: LoopId,
    /// From 1.
    pub position: usize,
    /// Loops that wait.
    pub of: usize,
}

/// The queue of this desktop.
pub(crate) struct QueueEntries {
    waiting: Mutex<BTreeMap<i64, QueueEntry>>,
    next: AtomicI64,
    before: AtomicI64,
    /// Whether what an earlier process left has been counted.
    pub ready: AtomicBool,
    /// Told of every entry that comes.
    pub changed: Notify,
}

impl QueueEntries {
    /// The queue that an earlier process left, by its records.
    pub fn load(active: &[Job], requests: &HashSet<LoopId>, reservations: &Reservations) -> Self {
        let queue = Self {
            waiting: Mutex::default(),
            next: AtomicI64::new(0),
            before: AtomicI64::new(-1),
            ready: AtomicBool::new(false),
            changed: Notify::new(),
        };
        for job in active.iter().filter(|job| job.status() == JobStatus::Queued) {
            let Some(number) = job.launch.queue_number else { continue };
            queue.next.fetch_max(number.saturating_add(1), Ordering::Relaxed);
            queue.before.fetch_min(number.saturating_sub(1), Ordering::Relaxed);
            let reservation = if requests.contains(&job.id) { reservations.reserve(job.id) } else { None };
            if let Some(reservation) = reservation {
                let _ = queue.insert(number, job.id, reservation, job.launch.approval.is_some());
            }
        }
        queue
    }

    /// A number behind every other.
    pub fn number(&self) -> i64 {
        self.next.fetch_add(1, Ordering::Relaxed)
    }

    /// A number before every other.
    pub fn number_before(&self) -> i64 {
        self.before.fetch_sub(1, Ordering::Relaxed)
    }

    /// Adds a loop; the token is cancelled when it waits no longer.
    pub fn push(&self, number: i64, id: LoopId, reservation: Reservation) -> CancellationToken {
        self.insert(number, id, reservation, false)
    }

    /// Lets a loop wait for approval; it takes no place in line before [`QueueEntries::release`].
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
        let _guard = alive.clone().drop_guard();
        let entry =
            QueueEntry { id, reservation, awaiting_approval, announced: None, alive: alive.clone(), _guard };
        self.lock().insert(number, entry);
        self.changed.notify_one();
        alive
    }

    /// An approved loop gets its place in line.
    pub fn release(&self, id: LoopId) {
        if let Some(entry) = self.lock().values_mut().find(|entry| entry.id == id) {
            entry.awaiting_approval = false;
        }
        self.changed.notify_one();
    }

    /// Loops that wait for approval.
    pub fn awaiting_approval(&self) -> Vec<LoopId> {
        self.lock().values().filter(|entry| entry.awaiting_approval).map(|entry| entry.id).collect()
    }

    /// Takes out the first one in line; from then on it counts among those under way.
    pub fn pop(&self) -> Option<QueueEntry> {
        let mut waiting = self.lock();
        let number = waiting.iter().find(|(_, entry)| !entry.awaiting_approval).map(|(number, _)| *number)?;
        let entry = waiting.remove(&number)?;
        entry.reservation.preparing();
        Some(entry)
    }

    /// Takes out one of them.
    pub fn take(&self, id: LoopId) -> Option<QueueEntry> {
        let mut waiting = self.lock();
        let number = waiting.iter().find(|(_, entry)| entry.id == id).map(|(number, _)| *number)?;
        let entry = waiting.remove(&number);
        drop(waiting);
        self.changed.notify_one();
        entry
    }

    /// Loops that wait, the first one first.
    pub fn ids(&self) -> Vec<LoopId> {
        self.lock().values().map(|entry| entry.id).collect()
    }

    /// The position of a loop in the queue, from 1.
    pub fn position(&self, id: LoopId) -> Option<usize> {
        self.lock()
            .values()
            .filter(|entry| !entry.awaiting_approval)
            .position(|entry| entry.id == id)
            .map(|at| at + 1)
    }

    /// Cancelled when the loop waits no longer.
    pub fn alive(&self, id: LoopId) -> Option<CancellationToken> {
        self.lock().values().find(|entry| entry.id == id).map(|entry| entry.alive.clone())
    }

    /// Whether the queue is empty.
    pub fn is_empty(&self) -> bool {
        self.lock().values().all(|entry| entry.awaiting_approval)
    }

    /// The positions that changed since the last call, or that were reported that long ago.
    pub fn unannounced(&self, again: Duration) -> Vec<QueuePosition> {
        let mut waiting = self.lock();
        let of = waiting.values().filter(|entry| !entry.awaiting_approval).count();
        let mut unannounced = Vec::new();
        for (at, entry) in waiting.values_mut().filter(|entry| !entry.awaiting_approval).enumerate() {
            let position = at + 1;
            let is_known =
                entry.announced.is_some_and(|(announced, at)| announced == position && at.elapsed() < again);
            if !is_known {
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
    /// It waits no longer.
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
    fn requeued_loop_precedes_those_of_an_earlier_process() {
        let reservations = Reservations::default();
        let [first, second, third, last] = std::array::from_fn(|_| LoopId(Uuid::new_v4()));
        let mut left = Job::waiting(third, LoopCommand::Plan);
        left.launch.queue_number = Some(0);
        let queue = QueueEntries::load(&[left], &HashSet::from([third]), &reservations);
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
