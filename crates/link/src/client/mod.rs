//! The desktop's end of the connection.
//!
//! The client connects out, stays connected, and publishes how that goes. It carries frames
//! between the control plane and the [`Executor`]; what a command does is none of its business.

mod analytics;
mod dial;
mod hello;
mod pace;
mod queue_report;
mod session;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use loopgate_api::link::Analytics;
use loopgate_api::redact;
use loopgate_home::Credentials;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub use hello::HelloFacts;
pub use pace::Timing;

use crate::executor::Executor;
use dial::DialError;
use pace::{Backoff, Pace};

/// What the client asks about this desktop before each connection, so that changed settings count.
pub trait Facts: Send + Sync + 'static {
    /// Origin of the relay.
    fn relay_origin(&self) -> String;

    /// What the desktop says of itself.
    fn hello(&self) -> HelloFacts;

    /// The user's switch.
    fn enabled(&self) -> bool {
        true
    }
}

/// Facts that do not change while the program runs.
#[derive(Debug, Clone)]
pub struct FixedFacts {
    /// Origin of the relay.
    pub relay_origin: String,
    /// What the desktop says of itself.
    pub hello: HelloFacts,
}

impl Facts for FixedFacts {
    fn relay_origin(&self) -> String {
        self.relay_origin.clone()
    }

    fn hello(&self) -> HelloFacts {
        self.hello.clone()
    }
}

/// What a client works with.
pub struct ClientConfig {
    /// Where to connect, and as what.
    pub facts: Arc<dyn Facts>,
    /// The key, and the proof of its possession.
    pub credentials: Arc<Credentials>,
    /// Runs the commands.
    pub executor: Arc<Executor>,
    /// Its waits.
    pub timing: Timing,
}

/// How the connection goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LinkState {
    /// Starting.
    Idle,
    /// Registered; commands come in.
    Online {
        /// This desktop's target.
        target_id: Uuid,
    },
    /// Not connected; tries go on.
    Degraded {
        /// Why, for a person.
        error: String,
    },
}

/// Keeps one desktop connected.
pub struct Client {
    config: ClientConfig,
    state: watch::Sender<LinkState>,
    settings_changed: Notify,
    ever_online: AtomicBool,
    analytics: analytics::Waiting,
}

/// What one try came to.
struct Attempt {
    pace: Pace,
    error: String,
}

impl Attempt {
    fn new(pace: Pace, error: impl Into<String>) -> Self {
        Self { pace, error: error.into() }
    }
}

impl Client {
    /// A client that does nothing before [`Client::run`].
    #[must_use]
    pub fn new(config: ClientConfig) -> Arc<Self> {
        let (state, _) = watch::channel(LinkState::Idle);
        let (settings_changed, ever_online) = (Notify::new(), AtomicBool::new(false));
        let analytics = analytics::Waiting::default();
        Arc::new(Self { config, state, settings_changed, ever_online, analytics })
    }

    /// Queues an analytics event for the control plane, should it take any.
    pub fn analytics(&self, analytics: Analytics) {
        self.analytics.push(analytics);
    }

    /// How the connection goes, from now on.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<LinkState> {
        self.state.subscribe()
    }

    /// Settings or credentials changed: a wait for the next try ends at once.
    pub fn settings_changed(&self) {
        self.settings_changed.notify_one();
    }

    /// Connects, and connects again, until `stop`; then the connection is closed in order. The
    /// executor goes on; see [`Executor::shutdown`].
    pub async fn run(&self, stop: CancellationToken) {
        let executor = &self.config.executor;
        let reporting = queue_report::report(executor.stats(), &self.config.timing, |telemetry| {
            executor.telemetry(telemetry);
        });
        tokio::select! {
            () = self.stay_connected(&stop) => {}
            () = reporting => {}
        }
    }

    async fn stay_connected(&self, stop: &CancellationToken) {
        let timing = &self.config.timing;
        let mut target = None;
        let mut backoff = Backoff::default();
        let mut degraded_since = None;
        while !stop.is_cancelled() {
            let attempt = self.attempt(&mut target, &mut backoff, stop).await;
            if stop.is_cancelled() {
                break;
            }
            let error = redact::credentials(&attempt.error);
            tracing::warn!(error, "not connected to the control plane");
            if matches!(*self.state.borrow(), LinkState::Online { .. }) {
                degraded_since = None;
            }
            self.set_state(LinkState::Degraded { error });
            let since = *degraded_since.get_or_insert_with(Instant::now);
            if attempt.pace != Pace::Slow && since.elapsed() >= timing.watchdog {
                tracing::warn!("degraded for too long; starting over");
                target = None;
                degraded_since = None;
            }
            let wait = match attempt.pace {
                Pace::Soon => backoff.next(timing),
                Pace::Superseded => timing.superseded_retry,
                Pace::Slow => timing.slow_retry,
            };
            self.pause(wait, stop).await;
        }
    }

    async fn pause(&self, wait: Duration, stop: &CancellationToken) {
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            () = self.settings_changed.notified() => {}
            () = stop.cancelled() => {}
        }
    }

    /// One connection, from the key to its end.
    async fn attempt(
        &self,
        target: &mut Option<Uuid>,
        backoff: &mut Backoff,
        stop: &CancellationToken,
    ) -> Attempt {
        let Self { config, .. } = self;
        if !config.facts.enabled() {
            return Attempt::new(Pace::Slow, "Cloud connection disabled by user");
        }
        let Some(key) = config.credentials.api_key() else {
            return Attempt::new(Pace::Slow, "Missing API key for cloud socket connection");
        };
        let url = match dial::link_url(&config.facts.relay_origin()) {
            Ok(url) => url,
            Err(error) => return Attempt::new(Pace::Slow, error.to_string()),
        };
        let dialing = timeout(config.timing.connect, dial::dial(&url, &key, &config.credentials));
        let dialed = tokio::select! {
            dialed = dialing => dialed,
            () = stop.cancelled() => return Attempt::new(Pace::Soon, "stopped"),
        };
        let socket = match dialed {
            Ok(Ok(socket)) => socket,
            Ok(Err(DialError::Unauthorized(_))) if !self.was_ever_online() => {
                let text = "Authentication failed -- verify your API key in Settings";
                return Attempt::new(Pace::Slow, text);
            }
            Ok(Err(error)) => {
                let pace = if matches!(error, DialError::Unauthorized(_)) { Pace::Slow } else { Pace::Soon };
                return Attempt::new(pace, format!("Cloud socket connection failed: {error}"));
            }
            Err(_) => return Attempt::new(Pace::Soon, "Cloud socket connection failed: timed out"),
        };
        let ended = session::serve(self, socket, target, stop).await;
        if ended.was_online {
            backoff.reset();
        }
        let error = match ended.pace {
            Pace::Slow if !self.was_ever_online() && ended.unauthorized => {
                "Authentication failed -- verify your API key in Settings".to_owned()
            }
            _ => format!("Cloud socket disconnected: {}", ended.reason),
        };
        Attempt::new(ended.pace, error)
    }

    fn was_ever_online(&self) -> bool {
        self.ever_online.load(Ordering::Relaxed)
    }

    fn set_state(&self, state: LinkState) {
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
