//! Timeouts of the client and its reconnect policy.

use std::time::Duration;

use loopgate_api::link::close;

/// Timeouts and intervals of the desktop's end.
#[derive(Debug, Clone, Copy)]
pub struct ClientTiming {
    /// Timeout of TCP connect, TLS handshake and upgrade together.
    pub connect: Duration,
    /// Timeout of the acknowledgement of a hello. After the second one the connection is closed.
    pub hello_ack: Duration,
    /// Maximum time without any message from the server. Longer than the server's ping interval of 25
    /// seconds.
    pub silence: Duration,
    /// Upper bound of the first backoff.
    pub first_retry: Duration,
    /// Upper bound of all backoffs.
    pub longest_retry: Duration,
    /// Retry interval after a failure that only the user can fix, for example a missing key.
    pub slow_retry: Duration,
    /// Retry delay after another connection of the same target superseded this one.
    pub superseded_retry: Duration,
    /// Time in the degraded state after which the target id is discarded and the desktop registers again.
    pub watchdog: Duration,
    /// Time for queued frames and the close handshake before the socket is dropped.
    pub close: Duration,
    /// Timeout of the acknowledgement of an analytics event.
    pub analytics_ack: Duration,
    /// Time without a change of the queue counters before they are reported.
    pub stats_quiet: Duration,
    /// Maximum time before changed queue counters are reported, even if they keep changing.
    pub stats_latest: Duration,
}

impl Default for ClientTiming {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(10),
            hello_ack: Duration::from_secs(10),
            silence: Duration::from_secs(45),
            first_retry: Duration::from_secs(1),
            longest_retry: Duration::from_secs(30),
            slow_retry: Duration::from_secs(300),
            superseded_retry: Duration::from_secs(60),
            watchdog: Duration::from_secs(120),
            close: Duration::from_secs(2),
            analytics_ack: Duration::from_millis(1500),
            stats_quiet: Duration::from_secs(1),
            stats_latest: Duration::from_secs(5),
        }
    }
}

/// Policy for the delay before the next connection attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// Exponential backoff with full jitter.
    Backoff,
    /// Another connection of the same target superseded this one.
    Superseded,
    /// The user has to change something.
    Slow,
}

impl Retry {
    /// Returns the policy for a close code of the server.
    pub(super) const fn after(code: u16) -> Self {
        match code {
            close::MALFORMED | close::KEY_ENDED | close::FORBIDDEN | close::GATEWAY_CONFLICT => Self::Slow,
            close::SUPERSEDED => Self::Superseded,
            _ => Self::Backoff,
        }
    }
}

/// Exponential backoff with full jitter. The first delay is random too, because an outage disconnects all
/// desktops at the same time.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
}

impl Backoff {
    pub(super) const fn reset(&mut self) {
        self.tries = 0;
    }

    pub(super) fn next(&mut self, timing: &ClientTiming) -> Duration {
        // The exponent is bounded so that the shift cannot overflow.
        let limit = timing.first_retry.saturating_mul(1 << self.tries.min(16)).min(timing.longest_retry);
        self.tries += 1;
        limit.mul_f64(rand::random::<f64>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // CL-49
    #[test]
    fn backoff_is_bounded_and_jittered() {
        let timing = ClientTiming::default();
        let mut backoff = Backoff::default();
        let waits: Vec<Duration> = (0..40).map(|_| backoff.next(&timing)).collect();
        for (n, wait) in waits.iter().enumerate() {
            let limit = timing.longest_retry.min(Duration::from_secs(1 << n.min(10)));
            assert!(*wait <= limit, "{n}: {wait:?}");
        }
        assert!(waits[6..].iter().any(|wait| *wait > Duration::from_secs(8)), "the backoff grows");
        assert!(waits[6..].windows(2).any(|pair| pair[0] != pair[1]), "the backoff is jittered");
        backoff.reset();
        let first: Vec<Duration> = (0..20).map(|_| Backoff::default().next(&timing)).collect();
        assert!(first.iter().all(|wait| *wait <= timing.first_retry), "{first:?}");
        assert!(first.windows(2).any(|pair| pair[0] != pair[1]), "the first backoff is jittered too");
        assert!(backoff.next(&timing) <= timing.first_retry);
    }

    #[test]
    fn close_code_selects_the_retry_policy() {
        for code in [4400, 4401, 4403, 4409] {
            assert_eq!(Retry::after(code), Retry::Slow, "{code}");
        }
        assert_eq!(Retry::after(4410), Retry::Superseded);
        for code in [1000, 1001, 1002, 1006, 1009, 1011, 1013, 4408] {
            assert_eq!(Retry::after(code), Retry::Backoff, "{code}");
        }
    }
}
