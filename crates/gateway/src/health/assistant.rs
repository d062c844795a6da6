//! Reports about the assistant's row: it fails, fails in another way, still fails an hour later, or passes
//! again. In memory only.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_api::link::{Severity, Telemetry};
use loopgate_api::operation::OperationId;
use serde_json::json;
use tokio::sync::broadcast;

use super::check::Check;

/// The row that is monitor.
const ROW: &str = "assistant-cli";
/// A failure that lasts is reported again after this.
const REPEAT_AFTER: Duration = Duration::from_hours(1);
/// Reports that wait to be taken; the oldest go first.
const BACKLOG: usize = 16;

/// The row, from round to round.
pub(super) struct AssistantMonitor {
    /// `None` while it passes, or is not known.
    failing: Mutex<Option<OngoingFailure>>,
    reports: broadcast::Sender<Telemetry>,
}

struct OngoingFailure {
    code: Option<String>,
    reported_at: Instant,
}

/// What is worth a report.
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
    /// Everything that is reported from now on.
    pub(super) fn reports(&self) -> broadcast::Receiver<Telemetry> {
        self.reports.subscribe()
    }

    /// Takes note of a round.
    pub(super) fn observe(&self, checks: &[Check]) {
        let Some(row) = checks.iter().find(|check| check.id == ROW) else { return };
        if let Some(change) = self.change(row, Instant::now()) {
            // Nobody may be there to take it.
            let _ = self.reports.send(report(change, row));
        }
    }

    fn change(&self, row: &Check, now: Instant) -> Option<ProbeChange> {
        let mut failing = self.failing.lock().unwrap_or_else(PoisonError::into_inner);
        if row.passed {
            return failing.take().map(|_| ProbeChange::Recovered);
        }
        let code = row.debug.as_ref().and_then(|debug| debug.error_code.clone());
        let change = match failing.as_ref().filter(|known| known.code == code) {
            Some(known) if now.duration_since(known.reported_at) < REPEAT_AFTER => return None,
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
    fn only_changes_and_lasting_failures_are_reported() {
        let monitor = AssistantMonitor::default();
        let passed = Check::passed(ROW, "Assistant CLI", true, None);
        let start = Instant::now();
        let hour = REPEAT_AFTER;
        for (row, at, told) in [
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
            assert_eq!(monitor.change(row, start + at), told, "{row:?} after {at:?}");
        }
    }
}
