//! Configuration and state shared by the client and its sessions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopgate_home::Credentials;
use tokio::sync::watch;
use uuid::Uuid;

use super::analytics::AnalyticsQueue;
use super::hello::HelloInfo;
use super::timing::ClientTiming;
use crate::executor::Executor;

/// Settings of this desktop. Read before each connection attempt, so that changes apply without a restart.
pub trait LinkSettings: Send + Sync + 'static {
    /// Origin of the control plane's relay, for example `https://relay.example.com`.
    fn relay_origin(&self) -> String;

    /// Properties that the desktop reports in its hello.
    fn hello(&self) -> HelloInfo;

    /// Whether the user allows the connection.
    fn enabled(&self) -> bool {
        true
    }
}

/// Settings that do not change while the process runs.
#[derive(Debug, Clone)]
pub struct FixedSettings {
    /// Origin of the control plane's relay.
    pub relay_origin: String,
    /// Properties that the desktop reports in its hello.
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

/// Configuration of a [`Client`](super::Client).
pub struct ClientConfig {
    /// Relay origin, hello and the user's switch.
    pub settings: Arc<dyn LinkSettings>,
    /// API key and proof of possession.
    pub credentials: Arc<Credentials>,
    /// Runs the received commands.
    pub executor: Arc<Executor>,
    /// Timeouts and retry intervals.
    pub timing: ClientTiming,
}

/// Connection state of a desktop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    /// No connection attempt has finished.
    Idle,
    /// Registered at the control plane; commands are received.
    Online {
        /// Id of this desktop's compute target.
        target_id: Uuid,
        /// Whether the control plane forwards signatures of browser keys.
        supports_signing: bool,
    },
    /// Not connected; the client keeps retrying.
    Degraded {
        /// Error message shown to the user.
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
        // A retry that fails with the same error is not a change.
        self.state.send_if_modified(|current| {
            let changed = *current != state;
            *current = state;
            changed
        });
    }
}
