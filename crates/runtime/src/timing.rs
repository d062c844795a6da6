//! How often and how fast: the waits that people may tune by the environment.

use std::time::Duration;

/// Waits of the runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeTiming {
    /// How often a stream is looked at when the file system reports nothing.
    pub tail_poll: Duration,
    /// Longest time between two reads of a growing stream; see [`RuntimeTiming::tail_wait`].
    pub tail_gap: Duration,
    /// First wait after an event that could not be delivered, while its loop runs.
    pub retry_base: Duration,
    /// Longest such wait. There is no last try: what is queued waits until the control plane is back.
    pub retry_max: Duration,
    /// Waits once the loop has ended; the last one again and again.
    pub ended_retry: [Duration; 4],
    /// Between two heartbeats.
    pub heartbeat: Duration,
    /// How long before its end a token is renewed.
    pub refresh_skew: Duration,
    /// How long a request for a loop waits for its process before it is answered as accepted.
    pub launch_answer: Duration,
    /// How long the assistant may take to commit.
    pub commit: Duration,
    /// How long the assistant may take to write the agents of a repository before its loop begins.
    pub bootstrap: Duration,
    /// How long a start waits until it is known whether the assistant has the expected MCP server.
    pub mcp: Duration,
    /// How long a loop may be quiet before it counts as stuck.
    pub stuck_after: Duration,
    /// Between two checks whether the machine slept. Every fourth also looks for loops that no task follows.
    pub watch: Duration,
    /// Between SIGTERM and SIGKILL when a loop is killed.
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
            commit: Duration::from_secs(1800),
            bootstrap: Duration::from_secs(900),
            mcp: Duration::from_secs(10),
            stuck_after: Duration::from_secs(600),
            watch: Duration::from_secs(15),
            kill_grace: Duration::from_secs(3),
        }
    }
}

impl RuntimeTiming {
    /// The defaults with what the environment says otherwise; what is no number changes nothing.
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

    /// From one look at a stream that grows to the next. A part is left to chance, so that loops which
    /// print at once do not come all in one moment, again and again.
    #[must_use]
    pub fn tail_wait(&self) -> Duration {
        self.tail_gap.mul_f64(1.0 - rand::random::<f64>() / 4.0)
    }

    /// The wait before another try. While the loop runs, anything up to a bound that doubles; after
    /// its end a step of the ladder, of which up to a half is left out so that not all come at once.
    #[must_use]
    pub fn retry_wait(&self, tries: u32, ended: bool) -> Duration {
        let step = tries.saturating_sub(1);
        if ended {
            let last = self.ended_retry.len() - 1;
            let wait = self.ended_retry[usize::try_from(step).unwrap_or(last).min(last)];
            return wait.mul_f64(1.0 - rand::random::<f64>() / 2.0);
        }
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
