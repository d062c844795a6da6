//! Timestamps in the loop's files: UTC with whole seconds.

use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

/// Returns the current time as `2026-01-02T03:04:05Z`.
pub fn now() -> String {
    Timestamp::now().strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Creates a run id: `20260102-030405-1a2b3c4d`. The random part separates runs that start in the same
/// second.
pub fn run_id() -> String {
    format!("{}-{:08x}", compact(), rand::random::<u32>())
}

/// Returns the current time as `20260102-030405`, for file names.
pub fn compact() -> String {
    Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// Returns the time since an instant; zero for one in the future.
pub fn age(at: SystemTime) -> Duration {
    SystemTime::now().duration_since(at).unwrap_or_default()
}

/// Stopwatch that excludes waiting times.
#[derive(Debug, Clone)]
pub struct Span {
    /// Start time in UTC, with whole seconds.
    pub started_at: String,
    start: Instant,
    waited: Duration,
}

impl Span {
    pub fn start() -> Self {
        Self { started_at: now(), start: Instant::now(), waited: Duration::ZERO }
    }

    /// Returns the elapsed time, without the excluded part.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed().saturating_sub(self.waited)
    }

    /// Excludes a waiting time.
    pub fn exclude(&mut self, waited: Duration) {
        self.waited += waited;
    }
}
