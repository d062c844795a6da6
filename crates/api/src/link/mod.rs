//! What travels between a desktop and the control plane: frames, and the payload of every event.
//!
//! Both ends read and write these types. Reading is lenient: unknown members are ignored, and an
//! optional member of the wrong type counts as absent. Nothing here knows of sockets or timers.

mod command;
mod frame;
mod hello;
mod lenient;
mod report;

pub use command::{
    Cancel, Command, CommandAck, CommandEvent, CommandEventAck, CommandFailure, CommandState, EventType,
    GatewayError, QueryValue,
};
pub use frame::{Envelope, Frame, NotAFrame};
pub use hello::{Hello, HelloAck, HelloNack, InvalidHello, NackReason, ServerCapabilities};
pub use report::{
    Accepted, Analytics, Presence, PresenceState, Severity, Telemetry, TelemetryIssue, TelemetryRejected,
    Trace,
};

/// Subprotocol that the desktop offers and the server selects.
pub const SUBPROTOCOL: &str = "loopgate.v1";

/// Path of the WebSocket below the relay origin.
pub const LINK_PATH: &str = "/desktop-gateway";

/// Path that a managed key's proof of possession signs for the upgrade, with `POST`.
pub const KEY_VERIFICATION_PATH: &str = "/internal/api-keys/verify";

/// Largest message in either direction, bytes after reassembly.
pub const MAX_MESSAGE_BYTES: usize = 10 * 1024 * 1024;

/// Names of the events.
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

/// Close codes of the WebSocket.
pub mod close {
    /// Wanted end.
    pub const NORMAL: u16 = 1000;
    /// The server shuts down or restarts.
    pub const GOING_AWAY: u16 = 1001;
    /// Violation of the protocol, for example a missing subprotocol.
    pub const PROTOCOL: u16 = 1002;
    /// Binary frame.
    pub const UNSUPPORTED: u16 = 1003;
    /// Text that is not UTF-8.
    pub const INVALID_TEXT: u16 = 1007;
    /// Message above the limit.
    pub const TOO_BIG: u16 = 1009;
    /// Internal error of the server.
    pub const INTERNAL: u16 = 1011;
    /// Too far behind: the send queue is full.
    pub const TRY_AGAIN_LATER: u16 = 1013;
    /// Not a frame, or an invalid hello.
    pub const MALFORMED: u16 = 4400;
    /// The key ended while connected.
    pub const KEY_ENDED: u16 = 4401;
    /// No longer allowed.
    pub const FORBIDDEN: u16 = 4403;
    /// No hello in time.
    pub const NO_HELLO: u16 = 4408;
    /// The gateway id belongs to somebody else.
    pub const GATEWAY_CONFLICT: u16 = 4409;
    /// The same target connected again.
    pub const SUPERSEDED: u16 = 4410;
}

#[cfg(test)]
mod tests;
