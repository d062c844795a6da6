//! Intervals, timeouts and backoff of the runtime; some are configurable by environment variables.

use std::time::Duration;

/// Intervals and timeouts of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeTiming {
    /// Poll interval of a stream, for file systems that report no changes.
    pub tail_poll: Duration,
    /// Upper bound of the delay between two reads of a growing stream; see [`RuntimeTiming::tail_wait`].
    pub tail_gap: Duration,
    /// Backoff base for events of a running loop; doubles with each attempt.
    pub retry_base: Duration,
    /// Backoff cap. The number of attempts is unlimited: events stay queued until the control plane is
    /// reachable.
    pub retry_max: Duration,
    /// Delays between attempts after the loop has ended; the last one repeats.
    pub ended_retry: [Duration; 4],
    /// Interval between two heartbeats of a loop.
    pub heartbeat: Duration,
    /// Time before its expiry at which a token is renewed.
    pub refresh_skew: Duration,
    /// Time that a launch request waits for the process before it is answered as accepted.
    pub launch_answer: Duration,
    /// Timeout of a bootstrap, in which the assistant writes the agents of a repository before the loop
    /// starts.
    pub bootstrap: Duration,
    /// Timeout of the check for the expected MCP server during a launch.
    pub mcp: Duration,
    /// Time without activity after which a loop counts as stuck.
    pub stuck_after: Duration,
    /// Interval of the check for suspends and clock changes. Every fourth check also recovers loops that no
    /// task follows.
    pub watch: Duration,
    /// Grace period between SIGTERM and SIGKILL when a loop is killed.
    pub kill_grace: Duration,
}

impl Default for RuntimeTiming {
    fn default() -> Self {
        Self {
            tail_poll: Duration::from_secs(2),
            tail_gap: Duration::from_millis(140),
            retry_base: Duration::from_secs(1),
            retry_max: Duration::from_secs(30),
            ended_retry: [5, 30, 120, 600].map(Duration::from_secs),
            heartbeat: Duration::from_secs(1800),
            refresh_skew: Duration::from_secs(1800),
            launch_answer: Duration::from_secs(20),
            bootstrap: Duration::from_secs(900),
            mcp: Duration::from_secs(10),
            stuck_after: Duration::from_secs(600),
            watch: Duration::from_secs(15),
            kill_grace: Duration::from_secs(3),
        }
    }
}

impl RuntimeTiming {
    /// Returns the defaults, overridden by environment variables in milliseconds; invalid values are ignored.
    #[must_use]
    pub fn from_environment() -> Self {
        let ms = |name: &str, least: u64, default: Duration| {
            let text = std::env::var(name).ok();
            let value = text.and_then(|text| text.trim().parse::<u64>().ok()).filter(|ms| *ms >= least);
            value.map_or(default, Duration::from_millis)
        };
        let default = Self::default();
        Self {
            tail_poll: ms("LOOPGATE_TAILER_POLL_MS", 1, default.tail_poll),
            tail_gap: ms("LOOPGATE_TAILER_THROTTLE_MS", 0, default.tail_gap),
            retry_base: ms("LOOPGATE_TAILER_AUTH_RETRY_BASE_MS", 0, default.retry_base),
            retry_max: ms("LOOPGATE_TAILER_AUTH_RETRY_MAX_MS", 0, default.retry_max),
            heartbeat: ms("LOOPGATE_HEARTBEAT_INTERVAL_MS", 1, default.heartbeat),
            refresh_skew: ms("LOOPGATE_TOKEN_REFRESH_SKEW_MS", 0, default.refresh_skew),
            bootstrap: ms("LOOPGATE_BOOTSTRAP_TIMEOUT_MS", 1, default.bootstrap),
            stuck_after: ms("LOOPGATE_STUCK_AFTER_MS", 1, default.stuck_after),
            ..default
        }
    }

    /// Returns the delay before the next read of a growing stream. Jitter of up to a quarter keeps loops that
    /// print at the same time from being read in lockstep.
    #[must_use]
    pub fn tail_wait(&self) -> Duration {
        self.tail_gap.mul_f64(1.0 - rand::random::<f64>() / 4.0)
    }

    /// Returns the delay before the next attempt; `tries` counts from 1. A running loop uses full jitter
    /// below an exponential bound. An ended loop uses a step of [`RuntimeTiming::ended_retry`] minus up to
    /// half of it, so that the retries of many loops spread out.
    #[must_use]
    pub fn retry_wait(&self, tries: u32, ended: bool) -> Duration {
        let step = tries.saturating_sub(1);
        if ended {
            let last = self.ended_retry.len() - 1;
            let wait = self.ended_retry[usize::try_from(step).unwrap_or(last).min(last)];
            return wait.mul_f64(1.0 - rand::random::<f64>() / 2.0);
        }
        // The exponent is capped: 2^10 times the base already exceeds the default cap, and `1 << 32`
        // overflows.
        let bound = self.retry_base.saturating_mul(1 << step.min(10)).min(self.retry_max);
        bound.mul_f64(rand::random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backoff_is_bounded() {
        let timing = RuntimeTiming::default();
        for tries in 1..40 {
            assert!(timing.retry_wait(tries, false) <= timing.retry_max);
        }
        for (tries, seconds) in [(1, 5), (2, 30), (3, 120), (4, 600), (400, 600)] {
            let (wait, most) = (timing.retry_wait(tries, true), Duration::from_secs(seconds));
            assert!(wait <= most && wait >= most / 2, "{tries} {wait:?}");
        }
        assert!(timing.retry_wait(1, false) <= timing.retry_base);
        let waits = std::iter::repeat_with(|| timing.tail_wait()).take(40);
        assert!(waits.into_iter().all(|wait| wait <= timing.tail_gap && wait >= timing.tail_gap * 3 / 4));
    }
}
