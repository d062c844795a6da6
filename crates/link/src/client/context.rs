//! What the client and the session of one connection share.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopgate_home::Credentials;
use tokio::sync::watch;
use uuid::Uuid;

use super::analytics::AnalyticsQueue;
use super::hello::HelloInfo;
use super::timing::ClientTiming;
use crate::executor::Executor;

/// What the client asks about this desktop before each connection, so that changed settings count.
pub trait LinkSettings: Send + Sync + 'static {
    /// Origin of the relay.
    fn relay_origin(&self) -> String;

    /// What the desktop says of itself.
    fn hello(&self) -> HelloInfo;

    /// The user's switch.
    fn enabled(&self) -> bool {
        true
    }
}

/// Settings that do not change while the program runs.
#[derive(Debug, Clone)]
pub struct FixedSettings {
    /// Origin of the relay.
    pub relay_origin: String,
    /// What the desktop says of itself.
    pub hello: HelloInfo,
}

impl LinkSettings for FixedSettings {
    fn relay_origin(&self) -> String {
        self.relay_origin.clone()
    }

    fn hello(&self) -> HelloInfo {
        self.hello.clone()
    }
}

/// What a client works with.
pub struct ClientConfig {
    /// Where to connect, and as what.
    pub settings: Arc<dyn LinkSettings>,
    /// The key, and the proof of its possession.
    pub credentials: Arc<Credentials>,
    /// Runs the commands.
    pub executor: Arc<Executor>,
    /// Its time limits.
    pub timing: ClientTiming,
}

/// State of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    /// Starting.
    Idle,
    /// Registered; commands come in.
    Online {
        /// This desktop's target.
        target_id: Uuid,
        /// Whether the server hands signatures of browser keys on.
        supports_signing: bool,
    },
    /// Not connected; tries go on.
    Degraded {
        /// Why, for a person.
        error: String,
    },
}

/// Configuration and state of a client.
pub(super) struct LinkContext {
    pub(super) config: ClientConfig,
    pub(super) state: watch::Sender<LinkState>,
    ever_online: AtomicBool,
    pub(super) analytics: AnalyticsQueue,
}

impl LinkContext {
    pub(super) fn new(config: ClientConfig) -> Self {
        let (state, _) = watch::channel(LinkState::Idle);
        Self { config, state, ever_online: AtomicBool::new(false), analytics: AnalyticsQueue::default() }
    }

    pub(super) fn was_ever_online(&self) -> bool {
        self.ever_online.load(Ordering::Relaxed)
    }

    pub(super) fn set_state(&self, state: LinkState) {
        if matches!(state, LinkState::Online { .. }) {
            self.ever_online.store(true, Ordering::Relaxed);
        }
        self.state.send_if_modified(|current| {
            let changed = *current != state;
            *current = state;
            changed
        });
    }
}
