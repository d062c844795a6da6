//! Commands to a desktop, with their acknowledgements and events.

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
    /// Parameter with a single value: `name=value`.
    One(String),
    /// Parameter with several values: `name=first&name=second`.
    Many(Vec<String>),
}

impl QueryValue {
    /// Returns the values in their order.
    #[must_use]
    pub fn values(&self) -> &[String] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Many(values) => values,
        }
    }
}

/// Another user than the owner of the desktop, who requested a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Requester {
    /// Id of the user.
    pub user_id: String,
    /// Full name of the user.
    pub name: String,
    /// E-mail address of the user; unique in the organization, unlike the name.
    pub email: String,
}

impl fmt::Display for Requester {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The address first: it is unique, and a policy for this text must not apply to another user whose name
        // imitates it.
        write!(f, "{} ({})", self.email, self.name)
    }
}

/// A request for the desktop's gateway.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LinkCommand {
    /// Idempotency key: a command is executed at most once per id.
    pub command_id: String,
    /// Operation of the path, as stated by the sender.
    pub operation_id: String,
    /// HTTP method, in upper or lower case.
    pub method: String,
    /// Path of the request; starts with `/api/gateway/`.
    pub path: String,
    /// Headers for the gateway; entries with non-string values are dropped.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// Query parameters of the request.
    #[serde(default, deserialize_with = "lenient::map", skip_serializing_if = "BTreeMap::is_empty")]
    pub query: BTreeMap<String, QueryValue>,
    /// Body of the request: a string is sent unchanged, any other value as JSON.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
    /// Timeout in milliseconds, measured from the start of the execution; absent for the default.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Time of creation, ISO 8601.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub queued_at: Option<String>,
    /// Expiry, ISO 8601 by the server's clock; a desktop rejects a command received later.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    /// Commands with the same key run one at a time; absent for no restriction.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub lock_key: Option<String>,
    /// Whether the desktop's user must approve the command first.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub requires_approval: Option<bool>,
    /// Reason to display with the approval request.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub approval_reason: Option<String>,
    /// User who requested the command; absent when it is the owner of the desktop. Such a command needs the
    /// owner's approval, unless a policy of the owner names this user.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub requester: Option<Requester>,
    /// Whether a streamed response is expected; informational only.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub streaming: Option<bool>,
    /// Signature by a browser key; never stored by the server.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub signature: Option<String>,
    /// Exact text that was signed, a signature payload as JSON.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub signature_payload: Option<String>,
    /// Fingerprint of the browser key; absent for unsigned commands.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub public_key_fingerprint: Option<String>,
}

impl LinkCommand {
    /// Returns the command without the members that its signature does not cover, so that a server cannot
    /// change the effect of a signed command. Two members stay because they only restrict it: `expires_at` can
    /// prevent the execution, and without `requester` the command of a member would count as the owner's.
    #[must_use]
    pub fn into_signed_parts(self) -> Self {
        Self {
            command_id: self.command_id,
            method: self.method,
            path: self.path,
            query: self.query,
            body: self.body,
            expires_at: self.expires_at,
            requester: self.requester,
            ..Self::default()
        }
    }
}

/// Decision of the desktop on a received command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum CommandState {
    /// Queued, or received before.
    Accepted,
    /// Rejected, and will not be executed.
    Failed,
}

/// Acknowledgement of a command by the desktop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandAck {
    /// Id of the acknowledged command.
    pub command_id: String,
    /// Whether the command is queued, running or finished.
    pub accepted: bool,
    /// Same as `accepted`, as a word; absent from old desktops.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub state: Option<CommandState>,
    /// Reason for the rejection, written for the user.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Stable error code of the rejection; absent from desktops up to version 0.13.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
}

impl CommandAck {
    /// Error code for a command that was received after its `expires_at`.
    pub const EXPIRED: &'static str = "expired";
    /// Error code of a desktop that requires signed commands but has no authorized key.
    pub const NO_KEYS_AUTHORIZED: &'static str = "no_keys_authorized";
    /// Error code for a signature by a key that the desktop's user has not authorized.
    pub const UNKNOWN_SIGNING_KEY: &'static str = "unknown_signing_key";

    /// Creates the acknowledgement of an accepted command.
    pub fn accepted(command_id: impl Into<String>) -> Self {
        Self {
            command_id: command_id.into(),
            accepted: true,
            state: Some(CommandState::Accepted),
            reason: None,
            code: None,
        }
    }

    /// Creates the acknowledgement of a rejected command.
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

/// Type of a command's event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum EventType {
    /// The execution started or changed its state.
    Status,
    /// A part of a streamed response.
    Chunk,
    /// The response, or a result within a stream.
    Result,
    /// An error; the last event only with `terminal: true`.
    Error,
    /// End of the execution; the last event.
    Done,
}

impl EventType {
    /// Returns the wire name, for example `chunk`.
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

    /// Returns whether an event of this type with this data is the last of its command.
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

/// Reason why a command ended without a response of the gateway: `code` of its last event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CommandFailure {
    /// The command's own timeout expired.
    Timeout,
    /// The gateway did not respond in time.
    GatewayTimeout,
    /// The desktop restarted during the execution.
    Interrupted,
    /// Too many events of the command are unacknowledged.
    BufferOverflow,
    /// The response exceeds the maximum size of a message.
    ResultTooLarge,
    /// The gateway's response stream ended prematurely.
    StreamFailed,
    /// Path and query do not form a valid request target.
    MalformedRequestTarget,
    /// The server could not provide the credentials that it adds to a signed loop request.
    CredentialsUnavailable,
    /// What the server sent for a signed start is not what the user signed.
    PayloadMismatch,
    /// A handler of the gateway panicked.
    InternalError,
}

/// A response of the gateway with a status other than 2xx: `gatewayError` of a command's last event. The
/// event's `error` has the same information as text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct GatewayError {
    /// HTTP status code of the response.
    pub status_code: u16,
    /// `error` of the body: the message for the user.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// `code` of the body: the stable error code.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// `reason` of the body: distinguishes errors with the same code.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl GatewayError {
    /// Creates the error from a response body; members are absent if the body has another form.
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
    /// Id of the command that the event belongs to.
    pub command_id: String,
    /// Sequence number within the command, from 1 without gaps.
    pub sequence: u64,
    /// Type of the event.
    pub event_type: EventType,
    /// Content of the event; null when missing.
    #[serde(default)]
    pub data: Value,
}

impl CommandEvent {
    /// Returns whether this is the last event of its command.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        self.event_type.is_terminal(&self.data)
    }
}

/// Cumulative acknowledgement of a command's events by the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandEventAck {
    /// Id of the command whose events are acknowledged.
    pub command_id: String,
    /// Highest sequence number for which this and all earlier events were received.
    pub sequence: u64,
}

/// Request to cancel a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cancel {
    /// Id of the command to cancel.
    pub command_id: String,
    /// Reason for the cancellation; `cancelled` when absent.
    #[serde(default, deserialize_with = "lenient::or_default", skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// State of a command in the desktop's log, from which it recovers after a restart.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "camelCase")]
pub enum CommandProgress {
    /// Started; not known to have finished.
    Started,
    /// Finished. Has the events that were unacknowledged at that time, unless they were too large for the
    /// log.
    Finished {
        /// Unacknowledged events in order, ending with the last event of the command.
        events: Vec<CommandEvent>,
    },
}

impl CommandProgress {
    /// Time after which an entry of the log is deleted.
    pub const RETENTION: Duration = Duration::from_secs(24 * 3600);
}
