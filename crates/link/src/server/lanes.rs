//! Work in lanes: one thing at a time in each, in order; the lanes run beside each other.
//!
//! So a slow command holds up its own events and nobody else's.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use futures_util::future::BoxFuture;
use futures_util::stream::{FuturesUnordered, StreamExt as _};

/// Jobs that may wait or run at once on one connection.
const MAX_JOBS: usize = 1000;
/// Bytes of the frames that wait or run at once on one connection.
const MAX_BYTES: usize = 16 * 1024 * 1024;

type Job<'a> = (BoxFuture<'a, ()>, usize);

/// The lanes of one connection. Dropping them drops every job, running or not.
pub(super) struct Lanes<'a, K> {
    /// Lanes with a job that runs, and what waits behind it.
    waiting: HashMap<K, VecDeque<Job<'a>>>,
    running: FuturesUnordered<BoxFuture<'a, (K, usize)>>,
    jobs: usize,
    bytes: usize,
}

impl<'a, K: Eq + Hash + Clone + Send + 'a> Lanes<'a, K> {
    pub(super) fn new() -> Self {
        Self { waiting: HashMap::new(), running: FuturesUnordered::new(), jobs: 0, bytes: 0 }
    }

    /// Whether more may be pushed.
    pub(super) const fn has_room(&self) -> bool {
        self.jobs < MAX_JOBS && self.bytes < MAX_BYTES
    }

    /// Puts a job at the end of its lane.
    pub(super) fn push(&mut self, lane: K, bytes: usize, job: impl Future<Output = ()> + Send + 'a) {
        self.jobs += 1;
        self.bytes += bytes;
        let job: BoxFuture<'a, ()> = Box::pin(job);
        match self.waiting.get_mut(&lane) {
            Some(queue) => queue.push_back((job, bytes)),
            None => {
                self.waiting.insert(lane.clone(), VecDeque::new());
                self.start(lane, (job, bytes));
            }
        }
    }

    fn start(&mut self, lane: K, (job, bytes): Job<'a>) {
        self.running.push(Box::pin(async move {
            job.await;
            (lane, bytes)
        }));
    }

    /// Runs until one job ends; never returns while there is none.
    pub(super) async fn step(&mut self) {
        let Some((lane, bytes)) = self.running.next().await else {
            return std::future::pending().await;
        };
        self.jobs -= 1;
        self.bytes -= bytes;
        match self.waiting.get_mut(&lane).and_then(VecDeque::pop_front) {
            Some(next) => self.start(lane, next),
            None => {
                self.waiting.remove(&lane);
            }
        }
    }

    /// Runs until no job is left.
    #[cfg(test)]
    async fn finish(mut self) {
        while self.jobs > 0 {
            self.step().await;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn a_stuck_lane_holds_up_only_itself() {
        let log = Mutex::new(Vec::new());
        let (unblock, blocked) = oneshot::channel::<()>();
        let (other_done, other) = oneshot::channel::<()>();
        let log = &log;
        let mut lanes = Lanes::new();
        lanes.push("a", 1, async move {
            blocked.await.unwrap();
            log.lock().unwrap().push("a1");
        });
        lanes.push("a", 1, async move { log.lock().unwrap().push("a2") });
        lanes.push("b", 1, async move {
            log.lock().unwrap().push("b1");
            other_done.send(()).unwrap();
        });
        lanes.push("c", 1, async move {
            other.await.unwrap();
            unblock.send(()).unwrap();
        });
        lanes.finish().await;
        assert_eq!(*log.lock().unwrap(), ["b1", "a1", "a2"]);
    }

    #[test]
    fn bytes_are_bounded() {
        let mut lanes = Lanes::new();
        assert!(lanes.has_room());
        lanes.push("a", MAX_BYTES, async {});
        assert!(!lanes.has_room());
    }
}
