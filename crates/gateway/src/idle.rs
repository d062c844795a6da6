//! Closes connections that wait too long for the head of a request.
//!
//! The server library could do it with a timer a request, which costs more than a cheap answer
//! does. Here a connection counts what it answers, and one slow clock looks at the count.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

/// Looks within one time-out; the wait is exact to that part.
const LOOKS: u32 = 4;

/// What a connection is doing.
#[derive(Debug, Default)]
pub(crate) struct Pulse {
    /// Heads that were read.
    heads: AtomicU64,
    /// Requests that are being answered, their bodies included.
    answering: AtomicU32,
}

impl Pulse {
    /// A head was read.
    pub(crate) fn beat(&self) {
        self.heads.fetch_add(1, Ordering::Relaxed);
    }

    /// Until the guard is dropped the connection is at work.
    pub(crate) fn busy(self: &Arc<Self>) -> Busy {
        self.answering.fetch_add(1, Ordering::Relaxed);
        Busy(self.clone())
    }

    /// The connection is at work to its end.
    pub(crate) fn stay_busy(&self) {
        self.answering.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether nothing is being answered.
    pub(crate) fn is_idle(&self) -> bool {
        self.answering.load(Ordering::Relaxed) == 0
    }

    /// Returns when the connection has waited for a head for the whole time-out.
    pub(crate) async fn waits_too_long(&self, timeout: Duration) {
        let mut clock = tokio::time::interval(timeout / LOOKS);
        let mut seen = u64::MAX;
        let mut idle = 0;
        while idle <= LOOKS {
            clock.tick().await;
            let heads = self.heads.load(Ordering::Relaxed);
            let waiting = self.is_idle() && heads == seen;
            idle = if waiting { idle + 1 } else { 0 };
            seen = heads;
        }
    }
}

/// Says that an answer is on its way.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Pulse>);

impl Drop for Busy {
    fn drop(&mut self) {
        // The next wait begins now, not with the head that was answered.
        self.0.beat();
        self.0.answering.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    #[tokio::test(start_paused = true)]
    async fn a_silent_connection_is_given_up_in_time() {
        let pulse = Arc::new(Pulse::default());
        let began = tokio::time::Instant::now();
        pulse.waits_too_long(TIMEOUT).await;
        assert!((TIMEOUT..=TIMEOUT * 3 / 2).contains(&began.elapsed()), "{:?}", began.elapsed());
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_at_work_is_left_alone() {
        let pulse = Arc::new(Pulse::default());
        let busy = pulse.busy();
        let began = tokio::time::Instant::now();
        let waiting = pulse.waits_too_long(TIMEOUT);
        tokio::pin!(waiting);
        assert!(tokio::time::timeout(TIMEOUT * 10, &mut waiting).await.is_err(), "an answer is on its way");
        drop(busy);
        for _ in 0..5 {
            assert!(tokio::time::timeout(TIMEOUT / 2, &mut waiting).await.is_err(), "heads come");
            pulse.beat();
        }
        waiting.await;
        assert!(began.elapsed() >= TIMEOUT * 13);
    }
}
