//! Commands to a desktop, and what comes back: the acknowledgement and the events.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use super::lenient;

/// Value of a query parameter.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum QueryValue {
    /// `name=value`
    One(String),
    /// `name=first&name=second`
    Many(Vec<String>),
}

impl QueryValue {
    /// The values in order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// A request for the desktop's gateway.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkCommand {
    /// Identifies the execution: the same id is never run twice.
    pub command_id: String,
    /// Operation of the path, as the sender gives it.
    pub operation_id: String,
    /// HTTP method, any case.
    pub method: String,
    /// Begins `/api/gateway/`.
    pub path: String,
    /// Headers for the gateway; entries that are not text are dropped.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Query of the request.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, QueryValue>,
    /// Body of the request: a string is sent raw, anything else as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Limit of the execution in milliseconds, from its start.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// When the command was created, ISO 8601.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<String>,
    /// A desktop that gets the command later refuses it, ISO 8601 by the server's clock.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Commands with equal keys run one after the other.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub lock_key: Option<String>,
    /// Asks the user of the desktop first.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// Shown with the question.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub approval_reason: Option<String>,
    /// Informational.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Signature of a browser key; never stored by the server.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// The exact text that was signed.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub signature_payload: Option<String>,
    /// Fingerprint of the browser key.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub public_key_fingerprint: Option<String>,
}

/// What became of a command at the desktop's door.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandState {
    /// Queued, or known already.
    Accepted,
    /// Refused.
    Failed,
}

/// A desktop's decision about a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandAck {
    /// The command.
    pub command_id: String,
    /// Whether it will run, runs or ran.
    pub accepted: bool,
    /// The same in words.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub state: Option<CommandState>,
    /// Why it was refused, for a person.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Stable identifier of the reason; desktops up to 0.13 send none.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl CommandAck {
    /// Code of a command that came after its `expires_at`.
    pub const EXPIRED: &'static str = "expired";
    /// Code of a desktop that takes signed commands only, and whose user has authorized no key.
    pub const NO_KEYS_AUTHORIZED: &'static str = "no_keys_authorized";
    /// Code of a command signed by a key that the desktop's user has not authorized.
    pub const UNKNOWN_SIGNING_KEY: &'static str = "unknown_signing_key";

    /// The command will run, runs or ran.
    pub fn accepted(command_id: impl Into<String>) -> Self {
        Self {
            command_id: command_id.into(),
            accepted: true,
            state: Some(CommandState::Accepted),
            reason: None,
            code: None,
        }
    }

    /// The command is refused.
    pub fn rejected(command_id: impl Into<String>, code: &str, reason: impl Into<String>) -> Self {
        Self {
            command_id: command_id.into(),
            accepted: false,
            state: Some(CommandState::Failed),
            reason: Some(reason.into()),
            code: Some(code.to_owned()),
        }
    }
}

/// Kind of a command's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventType {
    /// Something began or changed.
    Status,
    /// A piece of a stream.
    Chunk,
    /// The answer, or a result inside a stream.
    Result,
    /// Something went wrong; the end only with `terminal: true`.
    Error,
    /// The end.
    Done,
}

impl EventType {
    /// The type as it travels.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Status => "status",
            Self::Chunk => "chunk",
            Self::Result => "result",
            Self::Error => "error",
            Self::Done => "done",
        }
    }

    /// Whether an event of this type with this data ends its command.
    #[must_use]
    pub fn is_terminal(self, data: &Value) -> bool {
        match self {
            Self::Done => true,
            Self::Error | Self::Result => data.get("terminal") == Some(&Value::Bool(true)),
            Self::Status | Self::Chunk => false,
        }
    }
}

impl fmt::Display for EventType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Why a command ended without an answer of the gateway: `code` of its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandFailure {
    /// Its own limit has passed.
    Timeout,
    /// The gateway did not answer in time.
    GatewayTimeout,
    /// The desktop was restarted while it ran.
    Interrupted,
    /// Too many of its events are unacknowledged.
    BufferOverflow,
    /// The answer is larger than a message may be.
    ResultTooLarge,
    /// The gateway's stream ended early.
    StreamFailed,
    /// Its path and query are no request target.
    MalformedRequestTarget,
    /// What the server adds to a signed start or end of a loop was not to be had.
    CredentialsUnavailable,
    /// A handler of the gateway panicked.
    InternalError,
}

/// An answer of the gateway with another status than 2xx: `gatewayError` of a command's last event.
/// The event's `error` holds the same as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayError {
    /// HTTP status.
    pub status_code: u16,
    /// `error` of the body, for a person.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// `code` of the body.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// `reason` of the body, which tells cases of one code apart.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl GatewayError {
    /// Reads a body; one that is not the gateway's error shape leaves the members out.
    #[must_use]
    pub fn new(status_code: u16, body: &Value) -> Self {
        let text = |name: &str| body.get(name).and_then(Value::as_str).map(str::to_owned);
        Self { status_code, error: text("error"), code: text("code"), reason: text("reason") }
    }
}

/// One event of a command's execution.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEvent {
    /// The command.
    pub command_id: String,
    /// 1 for the command's first event, one more with each.
    pub sequence: u64,
    /// Kind of the event.
    pub event_type: EventType,
    /// Its content; null when missing.
    #[serde(default)]
    pub data: Value,
}

impl CommandEvent {
    /// Whether nothing follows this event.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.event_type.is_terminal(&self.data)
    }
}

/// The server has an event, and every one before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEventAck {
    /// The command.
    pub command_id: String,
    /// Sequence of the event.
    pub sequence: u64,
}

/// Asks the desktop to end a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// The command.
    pub command_id: String,
    /// Why; `cancelled` when absent.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How far a desktop has come with a command, as it is logged for the time after a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum CommandProgress {
    /// It was started; nothing says that it ended.
    Started,
    /// It ended. The events are those that the server had not acknowledged then, unless they were too large.
    Finished {
        /// In order; the last one ends the command.
        events: Vec<CommandEvent>,
    },
}

impl CommandProgress {
    /// How long an entry is kept.
    pub const RETENTION: Duration = Duration::from_secs(24 * 3600);
}
