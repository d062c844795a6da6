//! Reports of a desktop that are independent of commands: presence, telemetry and analytics.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

use super::lenient;

/// Availability of a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum PresenceState {
    /// Connected and accepts commands.
    Online,
    /// Connected, but an error restricts it; see `error`.
    Degraded,
    /// Connected, but accepts no commands.
    Paused,
}

/// Availability and load of a desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Presence {
    /// Availability of the desktop.
    pub state: PresenceState,
    /// Error message of a degraded desktop; absent otherwise.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Number of running commands; absent when not reported.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub active_commands: Option<u32>,
    /// Number of queued commands; absent when not reported.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub queue_depth: Option<u32>,
}

/// Severity of a telemetry event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Normal operation, for information.
    Info,
    /// Unexpected, but without failure.
    Warn,
    /// An operation has failed.
    Error,
}

/// Correlation ids of a telemetry event; empty when unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Trace {
    /// Id of the connection's compute target.
    pub compute_target_id: String,
    /// Id of the command that caused the event.
    pub command_id: String,
    /// Operation id, for example `git_action`.
    pub operation_id: String,
    /// UUID of the loop; absent outside loops.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub loop_id: Option<String>,
    /// Id of the desktop's job; absent outside loops.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub job_id: Option<String>,
    /// Id of the link connection; absent when not connected.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub gateway_session_id: Option<String>,
    /// Session id of the assistant; absent when unknown.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub loop_session_id: Option<String>,
    /// Version of the desktop program; absent when unknown.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub desktop_client_version: Option<String>,
}

/// A telemetry event. Not acknowledged unless the frame has an `id`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Severity of the event.
    pub severity: Severity,
    /// Category, for example `queue.stats_changed`.
    pub category: String,
    /// Description of the event, for users.
    pub message: String,
    /// Version of the event's schema, `"1"`.
    pub schema_version: String,
    /// Time of the event, ISO 8601.
    pub timestamp: String,
    /// Correlation ids of the event.
    pub trace: Trace,
    /// Details that depend on the category; absent without any.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub diagnostics: Option<Map<String, Value>>,
}

impl Telemetry {
    /// Creates an event with the current time and empty correlation ids.
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

/// A validation error of a telemetry event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TelemetryIssue {
    /// Path of the invalid member, separated by dots.
    pub path: String,
    /// Stable code of the validation error.
    pub code: String,
    /// Description of the expected value.
    pub expected: String,
}

/// Payload of `telemetry.validation_failed`, sent to the desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct TelemetryRejected {
    /// All validation errors of the event.
    pub issues: Vec<TelemetryIssue>,
}

/// One event of product analytics.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Analytics {
    /// Name of the analytics event.
    pub event: String,
    /// Properties of the event, an open object; absent when empty.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Object)]
    pub properties: Map<String, Value>,
    /// Time of the event, ISO 8601; absent for the time of receipt.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub occurred_at: Option<String>,
}

/// Result in the acknowledgement of a frame with an `id`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ReportAck {
    /// Whether the server accepted the event.
    pub accepted: bool,
    /// Reason for a rejection: `feature_disabled`, `rate_limited`, `validation_failed`, `unknown_event`, …
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ReportAck {
    /// Creates the acknowledgement of an accepted event.
    #[must_use]
    pub const fn accepted() -> Self {
        Self { accepted: true, reason: None }
    }

    /// Creates the acknowledgement of a rejected event.
    pub fn rejected(reason: &str) -> Self {
        Self { accepted: false, reason: Some(reason.to_owned()) }
    }
}
