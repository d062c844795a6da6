//! Validation, rate limit and redaction of telemetry events.

use std::collections::VecDeque;
use std::time::Duration;

use loopgate_api::link::{Telemetry, TelemetryIssue};
use loopgate_api::redact;
use serde_json::Value;
use tokio::time::Instant;
use uuid::Uuid;

/// Events per minute and connection, except loop performance events.
const MAX_PER_MINUTE: usize = 60;
/// Loop performance events (`loop.perf.*`) per minute and connection. Several are sent per loop iteration.
const MAX_PERFORMANCE_PER_MINUTE: usize = 240;
const WINDOW: Duration = Duration::from_secs(60);
/// Bytes of a log or stderr tail in an event's diagnostics. Longer tails are truncated at the front.
const MAX_TAIL_BYTES: usize = 4096;

/// Sliding-window counter for one class of events.
struct SlidingWindow {
    limit: usize,
    times: VecDeque<Instant>,
}

impl SlidingWindow {
    const fn new(limit: usize) -> Self {
        Self { limit, times: VecDeque::new() }
    }

    fn admit(&mut self, now: Instant) -> bool {
        while self.times.front().is_some_and(|first| now.duration_since(*first) >= WINDOW) {
            self.times.pop_front();
        }
        let admitted = self.times.len() < self.limit;
        if admitted {
            self.times.push_back(now);
        }
        admitted
    }
}

/// Rate limiter of one connection.
pub(super) struct RateLimit {
    ordinary: SlidingWindow,
    performance: SlidingWindow,
    dropped: u64,
}

impl RateLimit {
    pub(super) const fn new() -> Self {
        Self {
            ordinary: SlidingWindow::new(MAX_PER_MINUTE),
            performance: SlidingWindow::new(MAX_PERFORMANCE_PER_MINUTE),
            dropped: 0,
        }
    }

    /// Returns `None` when an event of this category exceeds the rate, otherwise the number of events that
    /// were dropped since the last admitted one.
    pub(super) fn admit(&mut self, category: &str, now: Instant) -> Option<u64> {
        let window =
            if category.starts_with("loop.perf.") { &mut self.performance } else { &mut self.ordinary };
        if window.admit(now) {
            Some(std::mem::take(&mut self.dropped))
        } else {
            self.dropped += 1;
            None
        }
    }
}

/// Parses, validates and redacts an event. Fails with the list of issues, which is sent to the desktop.
pub(super) fn read(data: &Value, target: Uuid) -> Result<Telemetry, Vec<TelemetryIssue>> {
    let telemetry: Telemetry =
        serde::Deserialize::deserialize(data).map_err(|error: serde_json::Error| {
            vec![TelemetryIssue {
                path: String::new(),
                code: "invalid_payload".to_owned(),
                expected: error.to_string(),
            }]
        })?;
    let mut issues = Vec::new();
    if telemetry.trace.compute_target_id.parse() != Ok(target) {
        issues.push(TelemetryIssue {
            path: "trace.computeTargetId".to_owned(),
            code: "target_mismatch".to_owned(),
            expected: "the connection's target".to_owned(),
        });
    }
    if telemetry.schema_version != "1" {
        issues.push(TelemetryIssue {
            path: "schemaVersion".to_owned(),
            code: "invalid_literal".to_owned(),
            expected: "1".to_owned(),
        });
    }
    if issues.is_empty() { Ok(clean(telemetry)) } else { Err(issues) }
}

/// Truncates the tails and redacts credentials.
fn clean(mut telemetry: Telemetry) -> Telemetry {
    telemetry.message = redact::credentials(&telemetry.message);
    let Some(diagnostics) = telemetry.diagnostics.take() else { return telemetry };
    let cleaned = diagnostics.into_iter().filter_map(|(name, value)| match (name.as_str(), value) {
        ("logTail" | "stderrTail", Value::String(text)) => {
            redact::tail(&text, MAX_TAIL_BYTES, usize::MAX).map(|tail| (name, Value::String(tail)))
        }
        (_, value) => Some((name, redact::json(value))),
    });
    telemetry.diagnostics = Some(cleaned.collect());
    telemetry
}

#[cfg(test)]
mod tests {
    use loopgate_api::link::Severity;
    use serde_json::json;

    use super::*;

    fn telemetry(target: Uuid) -> Telemetry {
        let mut telemetry = Telemetry::new(Severity::Info, "job.failed", "m");
        telemetry.trace.compute_target_id = target.to_string();
        telemetry
    }

    #[test]
    fn events_above_the_rate_are_dropped_and_counted() {
        let mut rate = RateLimit::new();
        let start = Instant::now();
        for _ in 0..MAX_PER_MINUTE {
            assert_eq!(rate.admit("job.failed", start), Some(0));
        }
        assert_eq!(rate.admit("job.failed", start), None);
        assert_eq!(rate.admit("loop.perf.run", start), Some(1), "performance events are counted separately");
        assert_eq!(rate.admit("job.failed", start), None);
        assert_eq!(rate.admit("job.failed", start + WINDOW), Some(1));
    }

    #[test]
    fn event_of_another_target_is_rejected_with_its_path() {
        let own = Uuid::new_v4();
        let data = serde_json::to_value(telemetry(Uuid::new_v4())).unwrap();
        assert_eq!(read(&data, own).unwrap_err()[0].path, "trace.computeTargetId");
        assert_eq!(read(&json!({}), own).unwrap_err()[0].code, "invalid_payload");
        assert!(read(&serde_json::to_value(telemetry(own)).unwrap(), own).is_ok());
    }

    #[test]
    fn tails_start_at_a_line_and_are_redacted() {
        let own = Uuid::new_v4();
        let log: String = (0..2000).map(|n| format!("handle {n}\n")).collect();
        let mut sent = telemetry(own);
        sent.diagnostics =
            json!({"logTail": log, "stderrTail": "Bearer abcdefgh", "extra": {"k": "password=x1"}})
                .as_object()
                .cloned();
        let read = read(&serde_json::to_value(sent).unwrap(), own).unwrap();
        let diagnostics = read.diagnostics.unwrap();
        let tail = diagnostics["logTail"].as_str().unwrap();
        assert!(tail.len() <= MAX_TAIL_BYTES && tail.starts_with("handle ") && tail.ends_with("1999"));
        assert_eq!(diagnostics["stderrTail"], "Bearer [REDACTED]");
        assert_eq!(diagnostics["extra"]["k"], "password=[REDACTED]");
    }
}
