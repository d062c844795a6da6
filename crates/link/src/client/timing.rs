//! Time limits of the client, and when it connects again.

use std::time::Duration;

use loopgate_api::link::close;

/// Time limits of the desktop's end.
#[derive(Debug, Clone, Copy)]
pub struct ClientTiming {
    /// For TCP, TLS and the upgrade together.
    pub connect: Duration,
    /// For the answer to a hello; the second silence ends the connection.
    pub hello_ack: Duration,
    /// Longest time in which nothing at all arrives.
    pub silence: Duration,
    /// Longest wait before the first new try.
    pub first_retry: Duration,
    /// Longest wait between tries.
    pub longest_retry: Duration,
    /// After a refusal that only a person can change.
    pub slow_retry: Duration,
    /// After another connection took this one's place.
    pub superseded_retry: Duration,
    /// Degraded for so long: everything that is known of the server is forgotten.
    pub watchdog: Duration,
    /// For the last frames and the close to leave.
    pub close: Duration,
    /// For the answer to an analytics event; then the next one goes.
    pub analytics_ack: Duration,
    /// Quiet time before changed queue counters are reported.
    pub stats_quiet: Duration,
    /// Longest time before changed queue counters are reported.
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

/// How long to wait before the next connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// The growing, jittered wait.
    Backoff,
    /// Another connection took this one's place.
    Superseded,
    /// A person has to change something.
    Slow,
}

impl Retry {
    /// The retry after a close code of the server.
    pub(super) const fn after(code: u16) -> Self {
        match code {
            close::MALFORMED | close::KEY_ENDED | close::FORBIDDEN | close::GATEWAY_CONFLICT => Self::Slow,
            close::SUPERSEDED => Self::Superseded,
            _ => Self::Backoff,
        }
    }
}

/// The growing wait: random below a limit that doubles. The first one, too: what lost the connection may
/// have hit every desktop at once.
#[derive(Debug, Default)]
pub(super) struct Backoff {
    tries: u32,
}

impl Backoff {
    pub(super) const fn reset(&mut self) {
        self.tries = 0;
    }

    pub(super) fn next(&mut self, timing: &ClientTiming) -> Duration {
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
        assert!(waits[6..].iter().any(|wait| *wait > Duration::from_secs(8)), "they grow");
        assert!(waits[6..].windows(2).any(|pair| pair[0] != pair[1]), "they differ");
        backoff.reset();
        let first: Vec<Duration> = (0..20).map(|_| Backoff::default().next(&timing)).collect();
        assert!(first.iter().all(|wait| *wait <= timing.first_retry), "{first:?}");
        assert!(first.windows(2).any(|pair| pair[0] != pair[1]), "the first one differs, too");
        assert!(backoff.next(&timing) <= timing.first_retry);
    }

    #[test]
    fn close_code_decides_the_backoff() {
        for code in [4400, 4401, 4403, 4409] {
            assert_eq!(Retry::after(code), Retry::Slow, "{code}");
        }
        assert_eq!(Retry::after(4410), Retry::Superseded);
        for code in [1000, 1001, 1002, 1006, 1009, 1011, 1013, 4408] {
            assert_eq!(Retry::after(code), Retry::Backoff, "{code}");
        }
    }
}
