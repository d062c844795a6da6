//! The instants that the loop's files carry: UTC, whole seconds.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// Now, as `2026-01-02T03:04:05Z`.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A new run id: `20260102-030405-1a2b3c4d`.
pub fn run_id() -> String {
    format!("{}-{:08x}", compact(), rand::random::<u32>())
}

/// Now, as `20260102-030405`.
pub fn compact() -> String {
    Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// A measured span.
#[derive(Debug, Clone)]
pub struct Span {
    /// UTC, whole seconds.
    pub started_at: String,
    start: Instant,
    waited: Duration,
}

impl Span {
    /// Begins now.
    pub fn start() -> Self {
        Self { started_at: now(), start: Instant::now(), waited: Duration::ZERO }
    }

    /// Since the beginning, without what was waited.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.waited)
    }

    /// Leaves a time out of the span.
    pub fn exclude(&mut self, waited: Duration) {
        self.waited += waited;
    }
}
