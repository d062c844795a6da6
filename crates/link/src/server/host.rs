//! The interface to the control plane that stores what desktops report.

use std::collections::BTreeMap;
use std::future::Future;

use loopgate_api::link::{
    Analytics, Cancel, CommandAck, CommandEvent, Hello, HelloNack, LinkCommand, Presence, ReportAck,
    ServerCapabilities, Telemetry,
};
use uuid::Uuid;

/// Who opened a connection: the owner of its key. The key itself is not stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Identity {
    /// Owner of the key.
    pub user_id: Uuid,
    /// The key's organization.
    pub organization_id: Uuid,
    /// The key.
    pub key_id: Uuid,
}

/// A registered connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DesktopSession {
    /// The desktop's target.
    pub target_id: Uuid,
    /// This connection.
    pub session_id: Uuid,
    /// Who opened it.
    pub identity: Identity,
}

/// What an accepted hello is answered with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AcceptedHello {
    /// The desktop's target, now online.
    pub target_id: Uuid,
    /// What the control plane offers on this connection.
    pub server_capabilities: ServerCapabilities,
}

/// What a target has yet to finish.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OutstandingCommands {
    /// Every command that is not terminal → last sequence that is stored, 0 when there is none.
    pub resume_from_sequence: BTreeMap<String, u64>,
    /// The same commands without those that are to be cancelled, oldest first.
    pub pending: Vec<LinkCommand>,
    /// Those that are to be cancelled, whether the desktop has them or not.
    pub cancelled: Vec<Cancel>,
}

/// What became of a command event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventOutcome {
    /// It is stored; it is acknowledged.
    Stored,
    /// It was stored before; it is acknowledged and has no effect.
    Duplicate,
    /// Events before it are missing; the desktop gets the last stored sequence.
    Gap(u64),
    /// Its command is unknown or belongs to another target; there is no acknowledgement.
    Ignored,
}

/// Where an event belongs, given the last sequence that is stored for its command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SequenceCheck {
    /// It is the next one.
    Next,
    /// It is stored already.
    Duplicate,
    /// Events before it are missing.
    Gap,
}

impl SequenceCheck {
    /// Compares an event's sequence with the last one that is stored (0 when there is none).
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

/// The interface of the control plane for the registry.
///
/// Calls for one command come one after the other in the order in which the desktop sent them;
/// calls for different commands, and the other calls, run beside each other. Each is given up
/// after a time ([`super::ServerTiming`]), and dropped when its connection ends; the desktop then sends
/// again what was not acknowledged.
pub trait Host: Send + Sync + 'static {
    /// Finds or makes the desktop's target, stores what the hello says, sets the target online.
    ///
    /// # Errors
    /// A refusal; the connection is closed after it.
    fn register(
        &self,
        identity: &Identity,
        session_id: Uuid,
        hello: Hello,
    ) -> impl Future<Output = Result<AcceptedHello, HelloNack>> + Send;

    /// Lists what the target has yet to finish. Called when the target can be reached already, so
    /// that a command created meanwhile is either in the list or delivered by
    /// [`super::ConnectionRegistry::deliver`]; one that is both runs once.
    ///
    /// # Errors
    /// A refusal; the connection is closed after it.
    fn outstanding(
        &self,
        session: &DesktopSession,
    ) -> impl Future<Output = Result<OutstandingCommands, HelloNack>> + Send;

    /// Stores the desktop's decision about a command.
    fn command_ack(&self, session: &DesktopSession, ack: CommandAck) -> impl Future<Output = ()> + Send;

    /// Stores an event, or says why not. A failure of the storage is [`EventOutcome::Ignored`]: the
    /// desktop keeps the event and sends it again.
    fn command_event(
        &self,
        session: &DesktopSession,
        event: CommandEvent,
    ) -> impl Future<Output = EventOutcome> + Send;

    /// Stores state and load; counts as a sign of life.
    fn presence(&self, session: &DesktopSession, presence: Presence) -> impl Future<Output = ()> + Send;

    /// Takes a telemetry event that is valid, within the rate and free of credentials.
    fn telemetry(&self, session: &DesktopSession, telemetry: Telemetry) -> impl Future<Output = ()> + Send;

    /// Takes an analytics event. Off unless the control plane says otherwise.
    fn analytics(&self, _: &DesktopSession, _: Analytics) -> impl Future<Output = ReportAck> + Send {
        async { ReportAck::no("feature_disabled") }
    }

    /// The desktop is still there: sets it online and its last sign of life to now.
    fn touch(&self, session: &DesktopSession) -> impl Future<Output = ()> + Send;

    /// The target's connection ended and no newer one took its place: sets it offline.
    fn disconnected(&self, session: &DesktopSession) -> impl Future<Output = ()> + Send;
}
