//! Telemetry about the assistant's health check: reported when it starts to fail, fails with another error,
//! still fails after an hour, and recovers. In memory only.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::link::{Severity, Telemetry};
use loopgate_api::operation::OperationId;
use serde_json::json;
use tokio::sync::broadcast;

use super::check::Check;

/// Id of the monitored check.
const ROW: &str = "assistant-cli";
/// Interval between reports about a persistent failure.
const REPEAT_AFTER: Duration = Duration::from_hours(1);
/// Capacity of the channel. A lagging receiver misses the oldest reports.
const BACKLOG: usize = 16;

/// State of the check across health checks.
pub(super) struct AssistantMonitor {
    /// `None` while the check passes or has not run.
    failing: Mutex<Option<OngoingFailure>>,
    reports: broadcast::Sender<Telemetry>,
}

struct OngoingFailure {
    code: Option<String>,
    reported_at: Instant,
}

/// A change to report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ProbeChange {
    Failed,
    StillFailing,
    Recovered,
}

impl Default for AssistantMonitor {
    fn default() -> Self {
        Self { failing: Mutex::default(), reports: broadcast::channel(BACKLOG).0 }
    }
}

impl AssistantMonitor {
    /// Subscribes to reports from now on.
    pub(super) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.reports.subscribe()
    }

    /// Compares the result of a health check with the previous one and reports a change.
    pub(super) fn observe(&self, checks: &[Check]) {
        let Some(row) = checks.iter().find(|check| check.id == ROW) else { return };
        if let Some(change) = self.change(row, Instant::now()) {
            // Fails when there are no receivers, as without a link.
            let _ = self.reports.send(report(change, row));
        }
    }

    fn change(&self, row: &Check, now: Instant) -> Option<ProbeChange> {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if row.passed {
            return failing.take().map(|_| ProbeChange::Recovered);
        }
        let code = row.debug.as_ref().and_then(|debug| debug.error_code.clone());
        let change = match failing.as_ref().filter(|failure| failure.code == code) {
            Some(failure) if now.duration_since(failure.reported_at) < REPEAT_AFTER => return None,
            Some(_) => ProbeChange::StillFailing,
            None => ProbeChange::Failed,
        };
        *failing = Some(OngoingFailure { code, reported_at: now });
        Some(change)
    }
}

fn report(change: ProbeChange, row: &Check) -> Telemetry {
    let (severity, category, message) = match change {
        ProbeChange::Failed => {
            (Severity::Warn, "healthcheck.failure_detected", "The assistant cannot be started")
        }
        ProbeChange::StillFailing => {
            (Severity::Warn, "healthcheck.failure_persistent", "The assistant still cannot be started")
        }
        ProbeChange::Recovered => {
            (Severity::Info, "healthcheck.recovered", "The assistant can be started again")
        }
    };
    let mut telemetry = Telemetry::new(severity, category, message);
    telemetry.trace.operation_id = OperationId::HealthCheck.to_string();
    let mut facts =
        row.debug.as_ref().and_then(|debug| serde_json::to_value(debug).ok()).unwrap_or(json!({}));
    facts["checkId"] = json!(row.id);
    facts["foundElsewhere"] = json!(facts["foundAt"].as_array().is_some_and(|places| !places.is_empty()));
    telemetry.diagnostics = json!({ "extra": facts }).as_object().cloned();
    telemetry
}

#[cfg(test)]
mod tests {
    use super::super::check::Debug;
    use super::*;

    fn failed(code: &str) -> Check {
        let debug = Debug { error_code: Some(code.to_owned()), ..Debug::default() };
        Check::failed(ROW, "Assistant CLI", true, "Not found", "Install it.").with_debug(debug)
    }

    #[test]
    fn changes_and_persistent_failures_are_reported() {
        let monitor = AssistantMonitor::default();
        let passed = Check::passed(ROW, "Assistant CLI", true, None);
        let start = Instant::now();
        let hour = REPEAT_AFTER;
        for (row, at, expected) in [
            (&passed, Duration::ZERO, None),
            (&failed("ENOENT"), Duration::ZERO, Some(ProbeChange::Failed)),
            (&failed("ENOENT"), hour / 2, None),
            (&failed("ENOENT"), hour, Some(ProbeChange::StillFailing)),
            (&failed("ENOENT"), hour * 3 / 2, None),
            (&failed("3"), hour * 3 / 2, Some(ProbeChange::Failed)),
            (&passed, hour * 2, Some(ProbeChange::Recovered)),
            (&passed, hour * 4, None),
            (&failed("3"), hour * 4, Some(ProbeChange::Failed)),
        ] {
            assert_eq!(monitor.change(row, start + at), expected, "{row:?} after {at:?}");
        }
    }
}
