//! What a desktop reports beside its commands: presence, telemetry, analytics.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::lenient;

/// How a desktop feels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PresenceState {
    /// Takes commands.
    Online,
    /// Connected, but something is wrong.
    Degraded,
    /// Takes no commands.
    Paused,
}

/// State and load of a desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// How the desktop feels.
    pub state: PresenceState,
    /// What is wrong.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Commands that run.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub active_commands: Option<u32>,
    /// Commands that wait.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
}

/// Weight of a telemetry event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Ordinary.
    Info,
    /// Unusual.
    Warn,
    /// Wrong.
    Error,
}

/// What a telemetry event is about; empty texts when unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// The connection's target.
    pub compute_target_id: String,
    /// The command.
    pub command_id: String,
    /// One of the operation ids.
    pub operation_id: String,
    /// The loop.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// The desktop's job.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// The connection.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_session_id: Option<String>,
    /// The assistant's session.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub loop_session_id: Option<String>,
    /// Version of the desktop program.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_client_version: Option<String>,
}

/// A telemetry event; nobody acknowledges it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Weight.
    pub severity: Severity,
    /// For example `queue.stats_changed`.
    pub category: String,
    /// For a person.
    pub message: String,
    /// `"1"`.
    pub schema_version: String,
    /// When it happened, ISO 8601.
    pub timestamp: String,
    /// What it is about.
    pub trace: Trace,
    /// Open object.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub diagnostics: Option<Map<String, Value>>,
}

impl Telemetry {
    /// An event of this moment about nothing in particular.
    pub fn new(severity: Severity, category: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            severity,
            category: category.into(),
            message: message.into(),
            schema_version: "1".to_owned(),
            timestamp: crate::time::now_iso(),
            trace: Trace::default(),
            diagnostics: None,
        }
    }
}

/// One thing that is wrong with a telemetry event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TelemetryIssue {
    /// Member, joined with dots.
    pub path: String,
    /// Stable identifier of the case.
    pub code: String,
    /// What was expected.
    pub expected: String,
}

/// Payload of `telemetry.validation_failed`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TelemetryRejected {
    /// What is wrong.
    pub issues: Vec<TelemetryIssue>,
}

/// One analytics event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Analytics {
    /// Name of the event.
    pub event: String,
    /// Open object.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub properties: Map<String, Value>,
    /// When it happened, ISO 8601.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
}

/// Result in the acknowledgement of a frame with an `id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportAck {
    /// Whether the event was taken.
    pub accepted: bool,
    /// `feature_disabled`, `rate_limited`, `validation_failed`, `unknown_event`, …
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ReportAck {
    /// The event was taken.
    #[must_use]
    pub const fn yes() -> Self {
        Self { accepted: true, reason: None }
    }

    /// The event was not taken.
    pub fn no(reason: &str) -> Self {
        Self { accepted: false, reason: Some(reason.to_owned()) }
    }
}
