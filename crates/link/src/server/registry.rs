//! Registry of connections: which connection a target has, and sending to it.

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

/// Concurrent connections per API key, registered or not. A desktop has one, and a second during a reconnect
/// until the loss of the first is detected; the surplus allows for desktops that share a key.
const MAX_CONNECTIONS_PER_KEY: usize = 10;
/// Concurrent connections per user, who can create any number of keys. Far above the desktops of a person, because
/// one user may also run a fleet of machines.
const MAX_CONNECTIONS_PER_USER: usize = 1024;

/// Reason of a close with [`close::SUPERSEDED`].
const SUPERSEDED: &str = "the same target connected again";

/// Error of sending a frame to a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum SendError {
    /// The target has no connection, or its connection was closed because its send queue is full.
    #[error("target_not_connected")]
    NotConnected,
    /// The frame exceeds the message limit of the protocol.
    #[error("command_too_large")]
    TooLarge,
}

/// Requests the end of a connection from another task.
#[derive(Default)]
pub(super) struct CloseHandle {
    closing: OnceLock<CloseReason>,
    token: CancellationToken,
}

impl CloseHandle {
    /// Requests the end of the connection. Later calls do not change the reason.
    pub(super) fn end(&self, code: u16, reason: &str) {
        // An error means that a reason is set already; the first one wins.
        let _ = self.closing.set(CloseReason::new(code, reason));
        self.token.cancel();
    }

    /// Waits until the end is requested, and returns the reason.
    pub(super) async fn requested(&self) -> CloseReason {
        self.token.cancelled().await;
        self.closing.get().cloned().unwrap_or_else(|| CloseReason::new(close::NORMAL, ""))
    }
}

/// Handle of a registered connection.
#[derive(Clone)]
pub(super) struct ConnectionHandle {
    pub(super) session: DesktopSession,
    pub(super) outbox: Arc<SendQueue>,
    pub(super) close_handle: Arc<CloseHandle>,
}

#[derive(Default)]
struct ConnectionTable {
    /// The current connection of each target, by target id.
    connected: HashMap<Uuid, ConnectionHandle>,
    /// All connections with their principal, registered or not, by session id. Used to close them by key.
    open: HashMap<Uuid, (Identity, Arc<CloseHandle>)>,
    /// Targets whose last connection is being reported as disconnected. A new connection waits for the report
    /// to finish, so that its "online" is not overwritten by "offline".
    leaving: HashMap<Uuid, watch::Receiver<()>>,
}

/// Registry of all link connections of this control plane.
pub struct ConnectionRegistry<H> {
    pub(super) host: H,
    pub(super) timing: ServerTiming,
    pub(super) budget: ByteBudget,
    table: Mutex<ConnectionTable>,
    serving: TaskTracker,
    closed: CancellationToken,
}

impl<H: Host> ConnectionRegistry<H> {
    /// Creates a registry with the timeouts of the protocol.
    pub fn new(host: H) -> Arc<Self> {
        Self::with_timing(host, ServerTiming::default())
    }

    /// Creates a registry with custom timeouts.
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

    pub const fn host(&self) -> &H {
        &self.host
    }

    /// Registers a new connection until the returned guard is dropped. Requests its end at once when the key
    /// or the user has too many connections, or the registry is shutting down.
    pub(super) fn open(&self, identity: Identity) -> ConnectionGuard<'_, H> {
        let session_id = Uuid::new_v4();
        let close_handle = Arc::new(CloseHandle::default());
        let (with_key, of_user) = {
            let mut table = self.lock();
            table.open.insert(session_id, (identity, Arc::clone(&close_handle)));
            let of_user = table.open.values().filter(|(open, _)| open.user_id == identity.user_id);
            (of_user.clone().filter(|(open, _)| open.key_id == identity.key_id).count(), of_user.count())
        };
        if with_key > MAX_CONNECTIONS_PER_KEY {
            close_handle.end(close::TRY_AGAIN_LATER, "too many connections with this key");
        }
        if of_user > MAX_CONNECTIONS_PER_USER {
            close_handle.end(close::TRY_AGAIN_LATER, "too many connections of this user");
        }
        // Checked after the insert: either `shutdown` finds this connection in the table, or this check sees
        // the cancellation.
        if self.closed.is_cancelled() {
            close_handle.end(close::GOING_AWAY, "shutting down");
        }
        let token = self.serving.token();
        ConnectionGuard { registry: self, session_id, close_handle, _token: token }
    }

    /// Sends a command to a desktop. Success means that it was queued, not that the desktop accepted it.
    ///
    /// # Errors
    /// See [`SendError`]. The command stays outstanding and is sent after the next hello.
    pub fn deliver(&self, target: Uuid, command: &LinkCommand) -> Result<(), SendError> {
        self.send(target, &Frame::event(event::COMMAND, command))
    }

    /// Sends a cancellation of a command to a desktop.
    ///
    /// # Errors
    /// See [`SendError`].
    pub fn cancel(&self, target: Uuid, cancel: &Cancel) -> Result<(), SendError> {
        self.send(target, &Frame::event(event::CANCEL, cancel))
    }

    /// Returns whether a target has a registered connection.
    pub fn is_connected(&self, target: Uuid) -> bool {
        self.lock().connected.contains_key(&target)
    }

    /// Returns the ids of all targets with a registered connection.
    pub fn connected_targets(&self) -> Vec<Uuid> {
        self.lock().connected.keys().copied().collect()
    }

    /// Returns the current connection of each target.
    pub fn sessions(&self) -> Vec<DesktopSession> {
        self.lock().connected.values().map(|handle| handle.session).collect()
    }

    /// Returns the principal of each connection, registered or not.
    pub fn identities(&self) -> Vec<Identity> {
        self.lock().open.values().map(|(identity, _)| *identity).collect()
    }

    /// Closes the connections of a key that was revoked or expired.
    pub fn close_key(&self, key_id: Uuid) {
        self.close_where(close::KEY_ENDED, "key revoked or expired", |identity| identity.key_id == key_id);
    }

    /// Closes the connections whose principal matches, for example those of a deactivated user.
    pub fn close_where(&self, code: u16, reason: &str, matches: impl Fn(&Identity) -> bool) {
        for (identity, close_handle) in self.lock().open.values() {
            if matches(identity) {
                close_handle.end(code, reason);
            }
        }
    }

    /// Closes a connection whose target has connected again elsewhere.
    pub fn supersede(&self, session: &DesktopSession) {
        let table = self.lock();
        if table.is_current(session)
            && let Some(handle) = table.connected.get(&session.target_id)
        {
            handle.close_handle.end(close::SUPERSEDED, SUPERSEDED);
        }
    }

    /// Closes the connection of a target that was removed.
    pub fn close_target(&self, target: Uuid) {
        if let Some(handle) = self.lock().connected.get(&target) {
            handle.close_handle.end(close::NORMAL, "target removed");
        }
    }

    /// Closes all connections, refuses new ones, and returns when all have ended.
    pub async fn shutdown(&self) {
        self.closed.cancel();
        self.close_where(close::GOING_AWAY, "shutting down", |_| true);
        self.serving.close();
        // No timeout here: each connection ends within its own close and host timeouts.
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

    /// Makes a connection the current one of its target and closes the previous one as superseded.
    pub(super) async fn connect(&self, handle: ConnectionHandle) {
        let target = handle.session.target_id;
        let (previous, leaving) = {
            let mut table = self.lock();
            (table.connected.insert(target, handle), table.leaving.get(&target).cloned())
        };
        if let Some(previous) = previous {
            previous.close_handle.end(close::SUPERSEDED, SUPERSEDED);
        }
        if let Some(mut leaving) = leaving {
            // The sender is dropped when the report has finished; `changed` then returns an error.
            let _ = leaving.changed().await;
        }
    }

    /// Removes a connection. Reports it to the host unless a newer connection has superseded it.
    pub(super) async fn disconnect(&self, session: &DesktopSession) {
        let report_done = {
            let mut table = self.lock();
            if !table.is_current(session) {
                return;
            }
            let (report_done, leaving) = watch::channel(());
            table.connected.remove(&session.target_id);
            table.leaving.insert(session.target_id, leaving);
            report_done
        };
        let report = self.host.disconnected(session);
        if tokio::time::timeout(self.timing.host_call, report).await.is_err() {
            tracing::warn!(target_id = %session.target_id, "host call timed out, disconnect of the target not stored");
        }
        self.lock().leaving.remove(&session.target_id);
        drop(report_done);
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

/// Removes a connection on drop, also when its task panics or is aborted.
pub(super) struct ConnectionGuard<'a, H: Host> {
    registry: &'a ConnectionRegistry<H>,
    pub(super) session_id: Uuid,
    pub(super) close_handle: Arc<CloseHandle>,
    /// Keeps [`ConnectionRegistry::shutdown`] waiting until this connection has ended.
    _token: TaskTrackerToken,
}

impl<H: Host> Drop for ConnectionGuard<'_, H> {
    fn drop(&mut self) {
        let mut table = self.registry.lock();
        table.open.remove(&self.session_id);
        // `disconnect` has usually removed it already, but a panic skips that.
        table.connected.retain(|_, handle| handle.session.session_id != self.session_id);
    }
}
