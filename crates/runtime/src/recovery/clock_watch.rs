//! Periodic checks while the runtime runs: system suspends, clock changes, and active loops that no task
//! follows.
//!
//! Only detects these conditions. The rest of [`Recovery`] handles them, without a restart of the program.

use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use super::Recovery;

/// Clock checks per check for loops that no task follows, which queries the database.
const ROUNDS_PER_RECOVERY: u32 = 4;
/// Difference between the two clocks that drift does not explain: a suspend or a clock change.
const JUMP: Duration = Duration::from_secs(10);

/// A reading of the wall clock and the monotonic clock at the same time.
#[derive(Debug, Clone, Copy)]
struct ClockReading {
    wall: SystemTime,
    /// Does not advance while the machine is suspended.
    steady: Instant,
}

impl ClockReading {
    fn now() -> Self {
        Self { wall: SystemTime::now(), steady: Instant::now() }
    }

    /// Returns whether the machine was suspended or its clock was set since an earlier reading.
    fn jumped_since(&self, before: &Self) -> bool {
        let steady_elapsed = self.steady.saturating_duration_since(before.steady);
        let wall_elapsed = match self.wall.duration_since(before.wall) {
            Ok(wall_elapsed) => wall_elapsed,
            // The wall clock moved backwards; the error contains the difference.
            Err(error) => return error.duration() + steady_elapsed > JUMP,
        };
        wall_elapsed.abs_diff(steady_elapsed) > JUMP
    }
}

impl Recovery {
    /// Runs the checks periodically until the future is dropped.
    pub async fn run_watch(self: &Arc<Self>) {
        let mut before = ClockReading::now();
        for round in 1_u32.. {
            tokio::time::sleep(self.timing.watch).await;
            let now = ClockReading::now();
            if now.jumped_since(&before) {
                tracing::info!("machine was suspended or its clock was set");
                self.wake_up();
            }
            before = now;
            if round % ROUNDS_PER_RECOVERY == 0
                && let Err(error) = self.tick().await
            {
                tracing::warn!(%error, "cannot check for loops that no task follows");
            }
        }
    }

    /// Handles a resume from suspend or a clock change: every live loop renews its token and sends a
    /// heartbeat, because tokens may have expired and heartbeats are overdue.
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
        assert!(after(3600 * 8, 15), "suspended, or clock set forward");
        assert!(after(-3600, 15) && after(0, 15), "clock set error");
    }
}
