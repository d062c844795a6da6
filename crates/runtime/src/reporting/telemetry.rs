//! What loops report beside their events: measurements and diagnoses.
//!
//! Handed to whoever sends it to the control plane. Reporting never waits and never fails; what
//! nobody takes in time is dropped, because a loop is worth more than a word about it.

use loopgate_api::ids::LoopId;
use loopgate_api::link::{Severity, Telemetry, Trace};
use serde_json::Value;
use tokio::sync::broadcast;

use crate::jobs::Job;
use crate::request::LoopHeaders;

/// Reports that wait to be taken; the oldest go first.
const BACKLOG: usize = 512;

/// Where reports are handed over.
#[derive(Debug, Clone)]
pub struct TelemetrySender(broadcast::Sender<Telemetry>);

impl Default for TelemetrySender {
    fn default() -> Self {
        Self(broadcast::channel(BACKLOG).0)
    }
}

impl TelemetrySender {
    /// Everything that is reported from now on. Diagnostics are clean of secrets.
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
        // Nobody may be there to take it.
        let _ = self.0.send(telemetry);
    }
}

/// What a report about a job is about.
pub(crate) fn of_job(job: &Job) -> Trace {
    trace(job.id, job.launch.command_id.as_deref(), job.launch.operation_id.as_deref())
}

/// What a report about an order is about that has become no job.
pub(crate) fn of_order(id: LoopId, headers: &LoopHeaders) -> Trace {
    trace(id, headers.command_id.as_deref(), headers.operation_id.as_deref())
}

/// What a report about a loop is about of which nothing else is known.
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
