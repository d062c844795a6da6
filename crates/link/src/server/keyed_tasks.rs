//! Keyed task queue: tasks with the same key run sequentially, tasks with different keys concurrently.
//!
//! A slow command therefore delays only its own events.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

use super::byte_budget::ByteReservation;

/// Queued and running tasks of one connection; no frame is read above it.
const MAX_TASKS: usize = 1000;
/// Bytes of the frames of all queued and running tasks of one connection; no frame is read above it.
const MAX_BYTES: usize = 16 * 1024 * 1024;

type KeyedTask<'a> = (BoxFuture<'a, ()>, ByteReservation);

/// Tasks of one connection. Dropping it drops all tasks, running or queued.
pub(super) struct KeyedTasks<'a, K> {
    /// Tasks queued behind the running task of a key. A key is present while one of its tasks runs.
    waiting: HashMap<K, VecDeque<KeyedTask<'a>>>,
    running: FuturesUnordered<BoxFuture<'a, (K, ByteReservation)>>,
    count: usize,
    bytes: usize,
}

impl<'a, K: Eq + Hash + Clone + Send + 'a> KeyedTasks<'a, K> {
    pub(super) fn new() -> Self {
        Self { waiting: HashMap::new(), running: FuturesUnordered::new(), count: 0, bytes: 0 }
    }

    /// Returns whether another task may be pushed.
    pub(super) const fn has_room(&self) -> bool {
        self.count < MAX_TASKS && self.bytes < MAX_BYTES
    }

    /// Queues a task behind those with the same key. The reservation is held until the task has completed.
    pub(super) fn push(
        &mut self,
        key: K,
        reservation: ByteReservation,
        task: impl Future<Output = ()> + Send + 'a,
    ) {
        self.count += 1;
        self.bytes += reservation.bytes();
        let task: BoxFuture<'a, ()> = Box::pin(task);
        match self.waiting.get_mut(&key) {
            Some(queue) => queue.push_back((task, reservation)),
            None => {
                // An empty queue marks a key whose task is running.
                self.waiting.insert(key.clone(), VecDeque::new());
                self.start(key, (task, reservation));
            }
        }
    }

    fn start(&mut self, key: K, (task, reservation): KeyedTask<'a>) {
        self.running.push(Box::pin(async move {
            task.await;
            (key, reservation)
        }));
    }

    /// Runs tasks until one completes. Never returns while there are none.
    pub(super) async fn step(&mut self) {
        let Some((key, reservation)) = self.running.next().await else {
            return std::future::pending().await;
        };
        self.count -= 1;
        self.bytes -= reservation.bytes();
        match self.waiting.get_mut(&key).and_then(VecDeque::pop_front) {
            Some(next) => self.start(key, next),
            None => {
                self.waiting.remove(&key);
            }
        }
    }

    /// Runs all tasks to completion.
    #[cfg(test)]
    async fn finish(mut self) {
        while self.count > 0 {
            self.step().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::sync::oneshot;

    use super::super::byte_budget::ByteBudget;
    use super::*;

    #[tokio::test]
    async fn blocked_task_delays_only_tasks_of_its_key() {
        let log = Mutex::new(Vec::new());
        let (unblock, blocked) = oneshot::channel::<()>();
        let (other_done, other) = oneshot::channel::<()>();
        let log = &log;
        let mut tasks = KeyedTasks::new();
        tasks.push("a", ByteReservation::none(), async move {
            blocked.await.unwrap();
            log.lock().unwrap().push("a1");
        });
        tasks.push("a", ByteReservation::none(), async move { log.lock().unwrap().push("a2") });
        tasks.push("b", ByteReservation::none(), async move {
            log.lock().unwrap().push("b1");
            other_done.send(()).unwrap();
        });
        tasks.push("c", ByteReservation::none(), async move {
            other.await.unwrap();
            unblock.send(()).unwrap();
        });
        tasks.finish().await;
        assert_eq!(*log.lock().unwrap(), ["b1", "a1", "a2"]);
    }

    #[test]
    fn has_room_is_false_when_the_byte_limit_is_reached() {
        let mut tasks = KeyedTasks::new();
        assert!(tasks.has_room());
        // `has_room` is checked before a frame is read, so the limit may be exceeded by one frame.
        let full = ByteBudget::default().try_reserve(MAX_BYTES).unwrap();
        tasks.push("a", full, async {});
        assert!(!tasks.has_room());
    }
}
