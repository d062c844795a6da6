//! Frames of the link between a desktop and the control plane, and the payloads of their events.
//!
//! Both sides use these types. Parsing is lenient: unknown members are ignored, and an optional member of the
//! wrong type counts as absent. This module does no I/O and has no timers.

pub mod close;
mod command;
mod frame;
mod hello;
mod lenient;
mod report;
mod schema;
mod signature;

pub use command::{
    Cancel, CommandAck, CommandEvent, CommandEventAck, CommandFailure, CommandProgress, CommandState,
    EventType, GatewayError, LinkCommand, QueryValue, Requester,
};
pub use frame::{Envelope, Frame, InvalidFrame};
pub use hello::{Hello, HelloAck, HelloNack, InvalidHello, NackReason, ServerCapabilities};
pub use report::{
    Analytics, Presence, PresenceState, ReportAck, Severity, Telemetry, TelemetryIssue, TelemetryRejected,
    Trace,
};

pub use schema::json_schema;
pub use signature::{
    BrowserKeyCommand, BrowserPublicKey, Fingerprint, InvalidBrowserKey, InvalidFingerprint,
    REQUEST_KEY_APPROVAL, REVOKE_KEY, SignaturePayload, USER_INTENT, body_hash, canonical_json,
};

/// WebSocket subprotocol that the desktop offers and the server selects.
pub const SUBPROTOCOL: &str = "loopgate.v1";

/// Path of the WebSocket, relative to the relay origin.
pub const LINK_PATH: &str = "/desktop-gateway";

/// Path, with method `POST`, for which a managed key signs its proof of possession in the upgrade request.
pub const KEY_VERIFICATION_PATH: &str = "/internal/api-keys/verify";

/// Maximum size of a message in either direction, in bytes after reassembly.
pub const MAX_MESSAGE_BYTES: usize = 10 * 1024 * 1024;

/// Category of the telemetry about changed approval policies, which the control plane stores in its audit log.
pub const APPROVAL_POLICIES_CHANGED: &str = "approvals.policies_changed";

/// Event names of all frames.
pub mod event {
    #![allow(missing_docs, reason = "each constant is its own text")]
    pub const HELLO: &str = "desktop.hello";
    pub const HELLO_ACK: &str = "desktop.hello.ack";
    pub const HELLO_NACK: &str = "desktop.hello.nack";
    pub const COMMAND: &str = "desktop.command";
    pub const COMMAND_ACK: &str = "desktop.command.ack";
    pub const COMMAND_EVENT: &str = "desktop.command.event";
    pub const COMMAND_EVENT_ACK: &str = "desktop.command.event.ack";
    pub const CANCEL: &str = "desktop.cancel";
    pub const PRESENCE: &str = "desktop.presence";
    pub const TELEMETRY: &str = "desktop.telemetry";
    pub const ANALYTICS: &str = "desktop.analytics";
    pub const AGENT_SESSIONS: &str = "desktop.agent-sessions";
    pub const TELEMETRY_VALIDATION_FAILED: &str = "telemetry.validation_failed";
}

#[cfg(test)]
mod tests;
