//! What the runtime looks at by itself while it runs: whether the machine was asleep or its clock was
//! set, and whether a loop is recorded as under way that nobody follows.
//!
//! Neither may wait for the next start of the program. Decides nothing about a loop: taking one up
//! is recovery's.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::Recovery;

/// Ticks between two checks for loops that no task follows.
const ROUNDS_PER_LOOK: u32 = 4;
/// Two clocks that are this far apart after a round did not just drift.
const JUMP: Duration = Duration::from_secs(10);

/// A reading of the wall clock and the monotonic clock at the same time.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    wall: SystemTime,
    /// Stops while the machine is suspended.
    steady: Instant,
}

impl ClockReading {
    fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }

    /// Whether the machine was suspended or its clock was set since an earlier reading.
    fn jumped_since(&self, before: &Self) -> bool {
        let passed = self.steady.saturating_duration_since(before.steady);
        let shown = match self.wall.duration_since(before.wall) {
            Ok(shown) => shown,
            Err(back) => return back.duration() + passed > JUMP,
        };
        shown.abs_diff(passed) > JUMP
    }
}

impl Recovery {
    /// Looks now and then until it is dropped.
    pub async fn run_watch(self: &Arc<Self>) {
        let mut before = ClockReading::now();
        for round in 1_u32.. {
            tokio::time::sleep(self.timing.watch).await;
            let now = ClockReading::now();
            if now.jumped_since(&before) {
                tracing::info!("the machine was asleep, or its clock was set");
                self.wake_up();
            }
            before = now;
            if round % ROUNDS_PER_LOOK == 0
                && let Err(error) = self.tick().await
            {
                tracing::warn!(%error, "what nobody looks after could not be looked for");
            }
        }
    }

    /// The machine was asleep, or its clock was set: tokens may have ended without anybody noticing,
    /// and the control plane has heard nothing for a while. Each living loop renews its token and
    /// says that it lives.
    pub fn wake_up(&self) {
        self.woken.send_modify(|times| *times += 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suspend_and_clock_changes_are_detected() {
        let start = ClockReading::now();
        let after = |wall: i64, steady: u64| {
            let ahead = Duration::from_secs(wall.unsigned_abs());
            let wall = if wall < 0 { start.wall - ahead } else { start.wall + ahead };
            ClockReading { wall, steady: start.steady + Duration::from_secs(steady) }.jumped_since(&start)
        };
        assert!(!after(15, 15) && !after(20, 15) && !after(9, 15));
        assert!(after(3600 * 8, 15), "it slept, or the clock was set forward");
        assert!(after(-3600, 15) && after(0, 15), "the clock was set back");
    }
}
