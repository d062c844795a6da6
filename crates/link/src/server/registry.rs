//! The connection of each target, and how it is reached.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use loopgate_api::link::{Cancel, Frame, LinkCommand, MAX_MESSAGE_BYTES, close, event};
use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use uuid::Uuid;

use super::byte_budget::ByteBudget;
use super::host::{DesktopSession, Host, Identity};
use super::timing::ServerTiming;
use crate::outbox::{CloseReason, SendQueue};

/// Connections that one key may have at once, registered or not: a desktop has one, and a second while the
/// first is being given up.
const MAX_CONNECTIONS_PER_KEY: usize = 10;

/// A frame that could not be handed to a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The target has no connection, or lost it over this frame.
    #[error("target_not_connected")]
    NotConnected,
    /// No connection could carry it.
    #[error("command_too_large")]
    TooLarge,
}

/// How a connection is ended from outside its own task.
#[derive(Default)]
pub(super) struct CloseHandle {
    closing: OnceLock<CloseReason>,
    token: CancellationToken,
}

impl CloseHandle {
    /// Ends the connection; only the first reason counts.
    pub(super) fn end(&self, code: u16, reason: &str) {
        let _ = self.closing.set(CloseReason::new(code, reason));
        self.token.cancel();
    }

    /// Returns when the connection is to end.
    pub(super) async fn requested(&self) -> CloseReason {
        self.token.cancelled().await;
        self.closing.get().cloned().unwrap_or_else(|| CloseReason::new(close::NORMAL, ""))
    }
}

/// Handle of one connection.
#[derive(Clone)]
pub(super) struct ConnectionHandle {
    pub(super) session: DesktopSession,
    pub(super) outbox: Arc<SendQueue>,
    pub(super) close_handle: Arc<CloseHandle>,
}

#[derive(Default)]
struct ConnectionTable {
    /// The current connection of each target.
    connected: HashMap<Uuid, ConnectionHandle>,
    /// Every connection with an identity, registered or not; to close them by key.
    open: HashMap<Uuid, (Identity, Arc<CloseHandle>)>,
    /// Targets whose last connection is being reported as closed: a newer one waits for that, so
    /// that "offline" never overwrites its "online".
    leaving: HashMap<Uuid, watch::Receiver<()>>,
}

/// Every connection of this control plane.
pub struct ConnectionRegistry<H> {
    pub(super) host: H,
    pub(super) timing: ServerTiming,
    pub(super) budget: ByteBudget,
    table: Mutex<ConnectionTable>,
    serving: TaskTracker,
    closed: CancellationToken,
}

impl<H: Host> ConnectionRegistry<H> {
    /// A registry with the timers of the protocol.
    pub fn new(host: H) -> Arc<Self> {
        Self::with_timing(host, ServerTiming::default())
    }

    /// A registry with other timers.
    pub fn with_timing(host: H, timing: ServerTiming) -> Arc<Self> {
        Arc::new(Self {
            host,
            timing,
            budget: ByteBudget::default(),
            table: Mutex::default(),
            serving: TaskTracker::new(),
            closed: CancellationToken::new(),
        })
    }

    /// The control plane behind it.
    pub const fn host(&self) -> &H {
        &self.host
    }

    /// Admits a connection, which is in the registry until the guard is dropped. One beyond those that its
    /// key may have is closed at once.
    pub(super) fn open(&self, identity: Identity) -> ConnectionGuard<'_, H> {
        let session_id = Uuid::new_v4();
        let close_handle = Arc::new(CloseHandle::default());
        let of_key = {
            let mut table = self.lock();
            table.open.insert(session_id, (identity, Arc::clone(&close_handle)));
            table.open.values().filter(|(open, _)| open.key_id == identity.key_id).count()
        };
        if of_key > MAX_CONNECTIONS_PER_KEY {
            close_handle.end(close::TRY_AGAIN_LATER, "too many connections with this key");
        }
        if self.closed.is_cancelled() {
            close_handle.end(close::GOING_AWAY, "shutting down");
        }
        let token = self.serving.token();
        ConnectionGuard { registry: self, session_id, close_handle, _token: token }
    }

    /// Hands a command to a desktop. Success says that it is on its way, not that it is accepted.
    ///
    /// # Errors
    /// See [`SendError`]; the command then waits for the next hello.
    pub fn deliver(&self, target: Uuid, command: &LinkCommand) -> Result<(), SendError> {
        self.send(target, &Frame::event(event::COMMAND, command))
    }

    /// Asks a desktop to end a command.
    ///
    /// # Errors
    /// See [`SendError`].
    pub fn cancel(&self, target: Uuid, cancel: &Cancel) -> Result<(), SendError> {
        self.send(target, &Frame::event(event::CANCEL, cancel))
    }

    /// Whether a target has a registered connection.
    pub fn is_connected(&self, target: Uuid) -> bool {
        self.lock().connected.contains_key(&target)
    }

    /// Every target with a registered connection.
    pub fn connected_targets(&self) -> Vec<Uuid> {
        self.lock().connected.keys().copied().collect()
    }

    /// Who opened each connection, registered or not.
    pub fn identities(&self) -> Vec<Identity> {
        self.lock().open.values().map(|(identity, _)| *identity).collect()
    }

    /// Ends the connections of a key that was revoked or expired.
    pub fn close_key(&self, key_id: Uuid) {
        self.close_where(close::KEY_ENDED, "key revoked or expired", |identity| identity.key_id == key_id);
    }

    /// Ends the connections that match, for example those of a user who became inactive.
    pub fn close_where(&self, code: u16, reason: &str, matches: impl Fn(&Identity) -> bool) {
        for (identity, close_handle) in self.lock().open.values() {
            if matches(identity) {
                close_handle.end(code, reason);
            }
        }
    }

    /// Ends the connection of a target that was removed.
    pub fn close_target(&self, target: Uuid) {
        if let Some(handle) = self.lock().connected.get(&target) {
            handle.close_handle.end(close::NORMAL, "target removed");
        }
    }

    /// Closes every connection and accepts no new one; returns when all are closed.
    pub async fn shutdown(&self) {
        self.closed.cancel();
        self.close_where(close::GOING_AWAY, "shutting down", |_| true);
        self.serving.close();
        // Each connection ends by itself within its close and host limits.
        self.serving.wait().await;
    }

    fn send(&self, target: Uuid, frame: &Frame) -> Result<(), SendError> {
        let text = frame.to_text();
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(SendError::TooLarge);
        }
        let handle = self.lock().connected.get(&target).cloned().ok_or(SendError::NotConnected)?;
        handle.outbox.push_text(text, false).map_err(|_| {
            handle.close_handle.end(close::TRY_AGAIN_LATER, "too far behind");
            SendError::NotConnected
        })
    }

    /// Makes a connection its target's current one; the former one is superseded.
    pub(super) async fn connect(&self, handle: ConnectionHandle) {
        let target = handle.session.target_id;
        let (former, leaving) = {
            let mut table = self.lock();
            (table.connected.insert(target, handle), table.leaving.get(&target).cloned())
        };
        if let Some(former) = former {
            former.close_handle.end(close::SUPERSEDED, "the same target connected again");
        }
        if let Some(mut leaving) = leaving {
            // The sender's end is the signal.
            let _ = leaving.changed().await;
        }
    }

    /// Forgets a connection. Its end is reported unless a newer one took its place.
    pub(super) async fn disconnect(&self, session: &DesktopSession) {
        let reported = {
            let mut table = self.lock();
            if !table.is_current(session) {
                return;
            }
            let (reported, leaving) = watch::channel(());
            table.connected.remove(&session.target_id);
            table.leaving.insert(session.target_id, leaving);
            reported
        };
        let report = self.host.disconnected(session);
        if tokio::time::timeout(self.timing.host_call, report).await.is_err() {
            tracing::warn!(target_id = %session.target_id, "the end of a connection could not be stored in time");
        }
        self.lock().leaving.remove(&session.target_id);
        drop(reported);
    }

    fn lock(&self) -> MutexGuard<'_, ConnectionTable> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionTable {
    fn is_current(&self, session: &DesktopSession) -> bool {
        self.connected
            .get(&session.target_id)
            .is_some_and(|handle| handle.session.session_id == session.session_id)
    }
}

/// Forgets a connection however its task ends, a panic of the host included.
pub(super) struct ConnectionGuard<'a, H: Host> {
    registry: &'a ConnectionRegistry<H>,
    pub(super) session_id: Uuid,
    pub(super) close_handle: Arc<CloseHandle>,
    /// The shutdown waits for it.
    _token: TaskTrackerToken,
}

impl<H: Host> Drop for ConnectionGuard<'_, H> {
    fn drop(&mut self) {
        let mut table = self.registry.lock();
        table.open.remove(&self.session_id);
        table.connected.retain(|_, handle| handle.session.session_id != self.session_id);
    }
}
