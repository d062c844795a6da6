//! Storage interface of the link: implemented by the control plane.

use std::collections::BTreeMap;
use std::future::Future;

use loopgate_api::link::{
    Analytics, Cancel, CommandAck, CommandEvent, Hello, HelloNack, LinkCommand, Presence, ReportAck,
    ServerCapabilities, Telemetry,
};
use uuid::Uuid;

/// Principal of a connection, derived from its API key. The secret itself is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    pub user_id: Uuid,
    pub organization_id: Uuid,
    pub key_id: Uuid,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesktopSession {
    /// Id of the desktop's compute target.
    pub target_id: Uuid,
    /// Id of this connection; a reconnect gets a new one.
    pub session_id: Uuid,
    /// Principal that opened the connection.
    pub identity: Identity,
}

/// Result of a successful registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedHello {
    /// Id of the desktop's compute target, which is now online.
    pub target_id: Uuid,
    /// Capabilities of the control plane on this connection.
    pub server_capabilities: ServerCapabilities,
}

/// Commands of a target without a terminal status.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutstandingCommands {
    /// Last stored sequence per command id; 0 if no event is stored.
    pub resume_from_sequence: BTreeMap<String, u64>,
    /// Commands to be sent again, oldest first. Excludes those in `cancelled`.
    pub pending: Vec<LinkCommand>,
    /// Commands with a pending cancellation, whether or not the desktop has received them.
    pub cancelled: Vec<Cancel>,
}

/// Result of ingesting a command event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOutcome {
    /// Stored now; the event is acknowledged.
    Stored,
    /// Stored before; the event is acknowledged and has no further effect.
    Duplicate,
    /// Preceding events are missing. The desktop is sent the last stored sequence and resumes after it.
    Gap(u64),
    /// The command is unknown or belongs to another target; no acknowledgement is sent.
    Ignored,
}

/// Position of an event relative to the last stored sequence of its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceCheck {
    /// Follows the last stored event directly.
    Next,
    /// Matches a stored sequence.
    Duplicate,
    /// Preceding events are missing.
    Gap,
}

impl SequenceCheck {
    /// Compares the sequence of an event with the last stored one (0 if there is none).
    #[must_use]
    pub const fn of(sequence: u64, last_stored: u64) -> Self {
        if sequence <= last_stored {
            Self::Duplicate
        } else if sequence == last_stored + 1 {
            Self::Next
        } else {
            Self::Gap
        }
    }
}

/// Stores what desktops report, and provides their outstanding commands.
///
/// Calls for one command are made sequentially, in the order in which the desktop sent its frames. Calls for
/// different commands, and all other calls, run concurrently. Each call is dropped after a timeout
/// ([`super::ServerTiming`]) and when its connection ends; the desktop then sends unacknowledged reports
/// again.
pub trait Host: Send + Sync + 'static {
    /// Finds or creates the desktop's target, stores its hello and sets the target online.
    ///
    /// # Errors
    /// Fails with the refusal to send; the connection is closed after it.
    fn register(
        &self,
        identity: &Identity,
        session_id: Uuid,
        hello: Hello,
    ) -> impl Future<Output = Result<AcceptedHello, HelloNack>> + Send;

    /// Returns the target's outstanding commands. Called after the connection is registered, so a command
    /// that is created concurrently is in the result, sent by [`super::ConnectionRegistry::deliver`], or
    /// both. The desktop runs a command once, even if it receives it twice.
    ///
    /// # Errors
    /// Fails with the refusal to send; the connection is closed after it.
    fn outstanding(
        &self,
        session: &DesktopSession,
    ) -> impl Future<Output = Result<OutstandingCommands, HelloNack>> + Send;

    /// Stores whether the desktop accepted or rejected a command.
    fn command_ack(&self, session: &DesktopSession, ack: CommandAck) -> impl Future<Output = ()> + Send;

    /// Stores an event. Returns [`EventOutcome::Ignored`] when the storage fails: the desktop retains the
    /// event and sends it again.
    fn command_event(
        &self,
        session: &DesktopSession,
        event: CommandEvent,
    ) -> impl Future<Output = EventOutcome> + Send;

    /// Stores state and load of the desktop; also counts as a heartbeat.
    fn presence(&self, session: &DesktopSession, presence: Presence) -> impl Future<Output = ()> + Send;

    /// Stores a telemetry event that passed validation, rate limit and redaction.
    fn telemetry(&self, session: &DesktopSession, telemetry: Telemetry) -> impl Future<Output = ()> + Send;

    /// Stores an analytics event. The default implementation declines with `feature_disabled`.
    fn analytics(&self, _: &DesktopSession, _: Analytics) -> impl Future<Output = ReportAck> + Send {
        async { ReportAck::rejected("feature_disabled") }
    }

    /// Records a heartbeat: sets the target online and its last-seen time to now.
    fn touch(&self, session: &DesktopSession) -> impl Future<Output = ()> + Send;

    /// Sets the target offline. Not called when a newer connection has superseded this one.
    fn disconnected(&self, session: &DesktopSession) -> impl Future<Output = ()> + Send;
}
