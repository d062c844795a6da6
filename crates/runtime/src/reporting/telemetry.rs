//! Telemetry of loops: measurements and diagnostics in addition to their events.
//!
//! Bounded broadcast; drops the oldest entries on lag. Telemetry never blocks or fails a loop.

use loopgate_api::ids::LoopId;
use loopgate_api::link::{Severity, Telemetry, Trace};
use serde_json::Value;
use tokio::sync::broadcast;

use crate::jobs::Job;
use crate::request::LoopHeaders;

/// Capacity in entries; the oldest are dropped when a subscriber lags.
const BACKLOG: usize = 512;

/// Sending side of the telemetry channel; clones share it.
#[derive(Debug, Clone)]
pub struct TelemetrySender(broadcast::Sender<Telemetry>);

impl Default for TelemetrySender {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl TelemetrySender {
    /// Subscribes to all telemetry from now on. Diagnostics are redacted.
    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<Telemetry> {
        self.0.subscribe()
    }

    pub(crate) fn report(
        &self,
        trace: Trace,
        severity: Severity,
        category: &str,
        message: &str,
        diagnostics: Value,
    ) {
        let mut telemetry = Telemetry { trace, ..Telemetry::new(severity, category, message) };
        if let Value::Object(diagnostics) = diagnostics {
            telemetry.diagnostics = Some(diagnostics);
        }
        // An error only means that there is no subscriber.
        let _ = self.0.send(telemetry);
    }
}

/// Returns the trace ids of a job.
pub(crate) fn of_job(job: &Job) -> Trace {
    trace(job.id, job.launch.command_id.as_deref(), job.launch.operation_id.as_deref())
}

/// Returns the trace ids of a launch request that has no job.
pub(crate) fn of_request(id: LoopId, headers: &LoopHeaders) -> Trace {
    trace(id, headers.command_id.as_deref(), headers.operation_id.as_deref())
}

/// Returns the trace ids of a loop of which only the id is known.
pub(crate) fn of_loop(id: LoopId) -> Trace {
    trace(id, None, None)
}

fn trace(id: LoopId, command_id: Option<&str>, operation_id: Option<&str>) -> Trace {
    Trace {
        command_id: command_id.unwrap_or_default().to_owned(),
        operation_id: operation_id.unwrap_or_default().to_owned(),
        loop_id: Some(id.to_string()),
        job_id: Some(id.to_string()),
        ..Trace::default()
    }
}
