//! Which target is connected, and the ways to reach it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use axum::extract::ws::WebSocket;
use loopgate_api::link::{Cancel, Command, Frame, MAX_MESSAGE_BYTES, close, event};
use thiserror::Error;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use uuid::Uuid;

use super::{Host, Identity, Session};
use crate::outbox::{Closing, Outbox};

/// Waits of the server's end.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// From the upgrade to the hello.
    pub hello: Duration,
    /// Between pings.
    pub ping: Duration,
    /// From a ping to its pong.
    pub pong: Duration,
    /// Between signs of life that the host is told.
    pub touch: Duration,
    /// Each step of the registration.
    pub registration_step: Duration,
    /// Any other call of the host.
    pub host_call: Duration,
    /// For the last frames and the close to leave.
    pub close: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            hello: Duration::from_secs(30),
            ping: Duration::from_secs(25),
            pong: Duration::from_secs(20),
            touch: Duration::from_secs(30),
            registration_step: Duration::from_secs(5),
            host_call: Duration::from_secs(10),
            close: Duration::from_secs(5),
        }
    }
}

/// A frame that could not be handed to a desktop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Undelivered {
    /// The target has no connection, or lost it over this frame.
    #[error("target_not_connected")]
    NotConnected,
    /// No connection could carry it.
    #[error("command_too_large")]
    TooLarge,
}

/// How a connection is ended from outside its own task.
#[derive(Default)]
pub(super) struct Ending {
    closing: OnceLock<Closing>,
    token: CancellationToken,
}

impl Ending {
    /// Ends the connection; only the first reason counts.
    pub(super) fn end(&self, code: u16, reason: &str) {
        let _ = self.closing.set(Closing::new(code, reason));
        self.token.cancel();
    }

    /// Returns when the connection is to end.
    pub(super) async fn wanted(&self) -> Closing {
        self.token.cancelled().await;
        self.closing.get().cloned().unwrap_or_else(|| Closing::new(close::NORMAL, ""))
    }
}

/// One connection, as others see it.
#[derive(Clone)]
pub(super) struct Line {
    pub(super) session: Session,
    pub(super) outbox: Arc<Outbox>,
    pub(super) ending: Arc<Ending>,
}

#[derive(Default)]
struct Lines {
    /// The current connection of each target.
    connected: HashMap<Uuid, Line>,
    /// Every connection with an identity, registered or not; for ending them by key.
    open: HashMap<Uuid, (Identity, Arc<Ending>)>,
    /// Targets whose last connection is being reported as gone: a newer one waits for that, so
    /// that "offline" never overwrites its "online".
    leaving: HashMap<Uuid, watch::Receiver<()>>,
}

/// Every connection of this control plane.
pub struct Switchboard<H> {
    pub(super) host: H,
    pub(super) timing: Timing,
    lines: Mutex<Lines>,
    serving: TaskTracker,
    closed: CancellationToken,
}

impl<H: Host> Switchboard<H> {
    /// A switchboard with the timers of the protocol.
    pub fn new(host: H) -> Arc<Self> {
        Self::with_timing(host, Timing::default())
    }

    /// A switchboard with other timers.
    pub fn with_timing(host: H, timing: Timing) -> Arc<Self> {
        Arc::new(Self {
            host,
            timing,
            lines: Mutex::default(),
            serving: TaskTracker::new(),
            closed: CancellationToken::new(),
        })
    }

    /// The control plane behind it.
    pub const fn host(&self) -> &H {
        &self.host
    }

    /// Serves one upgraded connection until it ends.
    pub async fn serve(self: Arc<Self>, socket: WebSocket, identity: Identity) {
        let session_id = Uuid::new_v4();
        let ending = Arc::new(Ending::default());
        self.lock().open.insert(session_id, (identity, Arc::clone(&ending)));
        if self.closed.is_cancelled() {
            ending.end(close::GOING_AWAY, "shutting down");
        }
        let closing = Closed { switchboard: &self, session_id };
        let serving = super::connection::serve(&self, socket, identity, session_id, ending);
        self.serving.track_future(serving).await;
        drop(closing);
    }

    /// Hands a command to a desktop. Success says that it is on its way, not that it is accepted.
    ///
    /// # Errors
    /// See [`Undelivered`]; the command then waits for the next hello.
    pub fn deliver(&self, target: Uuid, command: &Command) -> Result<(), Undelivered> {
        self.send(target, &Frame::event(event::COMMAND, command))
    }

    /// Asks a desktop to end a command.
    ///
    /// # Errors
    /// See [`Undelivered`].
    pub fn cancel(&self, target: Uuid, cancel: &Cancel) -> Result<(), Undelivered> {
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

    /// Ends the connections of a key that was revoked or expired.
    pub fn close_key(&self, key_id: Uuid) {
        self.close_where(close::KEY_ENDED, "key revoked or expired", |identity| identity.key_id == key_id);
    }

    /// Ends the connections that match, for example those of a user who became inactive.
    pub fn close_where(&self, code: u16, reason: &str, matches: impl Fn(&Identity) -> bool) {
        for (identity, ending) in self.lock().open.values() {
            if matches(identity) {
                ending.end(code, reason);
            }
        }
    }

    /// Ends the connection of a target that was removed.
    pub fn close_target(&self, target: Uuid) {
        if let Some(line) = self.lock().connected.get(&target) {
            line.ending.end(close::NORMAL, "target removed");
        }
    }

    /// Ends every connection and takes no new one; returns when all are gone.
    pub async fn shutdown(&self) {
        self.closed.cancel();
        self.close_where(close::GOING_AWAY, "shutting down", |_| true);
        self.serving.close();
        // Each connection ends by itself within its close and host limits.
        self.serving.wait().await;
    }

    fn send(&self, target: Uuid, frame: &Frame) -> Result<(), Undelivered> {
        let text = frame.to_text();
        if text.len() > MAX_MESSAGE_BYTES {
            return Err(Undelivered::TooLarge);
        }
        let line = self.lock().connected.get(&target).cloned().ok_or(Undelivered::NotConnected)?;
        line.outbox.push_text(text, false).map_err(|_| {
            line.ending.end(close::TRY_AGAIN_LATER, "too far behind");
            Undelivered::NotConnected
        })
    }

    /// Makes a connection its target's current one; the former one is superseded.
    pub(super) async fn connect(&self, line: Line) {
        let target = line.session.target_id;
        let (former, leaving) = {
            let mut lines = self.lock();
            (lines.connected.insert(target, line), lines.leaving.get(&target).cloned())
        };
        if let Some(former) = former {
            former.ending.end(close::SUPERSEDED, "the same target connected again");
        }
        if let Some(mut leaving) = leaving {
            // The sender's end is the signal.
            let _ = leaving.changed().await;
        }
    }

    /// Forgets a connection. Its end is reported unless a newer one took its place.
    pub(super) async fn disconnect(&self, session: &Session) {
        let reported = {
            let mut lines = self.lock();
            if !lines.is_current(session) {
                return;
            }
            let (reported, leaving) = watch::channel(());
            lines.connected.remove(&session.target_id);
            lines.leaving.insert(session.target_id, leaving);
            reported
        };
        let report = self.host.disconnected(session);
        if tokio::time::timeout(self.timing.host_call, report).await.is_err() {
            tracing::warn!(target_id = %session.target_id, "the end of a connection could not be stored in time");
        }
        self.lock().leaving.remove(&session.target_id);
        drop(reported);
    }

    fn lock(&self) -> MutexGuard<'_, Lines> {
        self.lines.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lines {
    fn is_current(&self, session: &Session) -> bool {
        self.connected
            .get(&session.target_id)
            .is_some_and(|line| line.session.session_id == session.session_id)
    }
}

/// Forgets a connection however its task ends, a panic of the host included.
struct Closed<'a, H: Host> {
    switchboard: &'a Switchboard<H>,
    session_id: Uuid,
}

impl<H: Host> Drop for Closed<'_, H> {
    fn drop(&mut self) {
        let mut lines = self.switchboard.lock();
        lines.open.remove(&self.session_id);
        lines.connected.retain(|_, line| line.session.session_id != self.session_id);
    }
}
