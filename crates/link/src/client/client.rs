//! Connection loop of the desktop: connects, serves, and reconnects with backoff.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::link::Analytics;
use loopgate_api::redact;
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::context::{ClientConfig, LinkContext, LinkState};
use super::dial::{self, DialError};
use super::timing::{Backoff, Retry};
use super::{queue_report, session};

/// Keeps a desktop connected to the control plane.
pub struct Client {
    context: LinkContext,
    settings_changed: Notify,
}

/// Outcome of one connection attempt.
struct AttemptResult {
    retry: Retry,
    error: String,
}

impl AttemptResult {
    fn new(retry: Retry, error: impl Into<String>) -> Self {
        Self { retry, error: error.into() }
    }
}

impl Client {
    /// Creates a client; it connects when [`Client::run`] is called.
    #[must_use]
    pub fn new(config: ClientConfig) -> Arc<Self> {
        Arc::new(Self { context: LinkContext::new(config), settings_changed: Notify::new() })
    }

    /// Queues an analytics event for the control plane. Dropped if it is not sent in time.
    pub fn analytics(&self, analytics: Analytics) {
        self.context.analytics.push(analytics);
    }

    /// Subscribes to the state of the connection.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<LinkState> {
        self.context.state.subscribe()
    }

    /// Signals changed settings or credentials: ends the current wait and connects immediately.
    pub fn settings_changed(&self) {
        self.settings_changed.notify_one();
    }

    /// Connects and reconnects until `stop` is cancelled, then closes the connection. Does not stop the
    /// executor; see [`Executor::shutdown`](crate::executor::Executor::shutdown).
    pub async fn run(&self, stop: CancellationToken) {
        let executor = &self.context.config.executor;
        let reporting = queue_report::report(executor.stats(), &self.context.config.timing, |telemetry| {
            executor.telemetry(telemetry);
        });
        tokio::select! {
            () = self.stay_connected(&stop) => {}
            () = reporting => {}
        }
    }

    async fn stay_connected(&self, stop: &CancellationToken) {
        let timing = &self.context.config.timing;
        let mut target = None;
        let mut backoff = Backoff::default();
        let mut degraded_since = None;
        while !stop.is_cancelled() {
            let attempt = self.attempt(&mut target, &mut backoff, stop).await;
            if stop.is_cancelled() {
                break;
            }
            let error = redact::credentials(&attempt.error);
            tracing::warn!(error, "not connected to the control plane, retrying");
            if matches!(*self.context.state.borrow(), LinkState::Online { .. }) {
                degraded_since = None;
            }
            self.context.set_state(LinkState::Degraded { error });
            let since = *degraded_since.get_or_insert_with(Instant::now);
            // A failure that only the user can fix is not caused by a stale target id.
            if attempt.retry != Retry::Slow && since.elapsed() >= timing.watchdog {
                // The target id is discarded: a stale one could be the reason for the failures. The hello
                // then registers the desktop by its gateway id.
                tracing::warn!("degraded for too long, registering again");
                target = None;
                degraded_since = None;
            }
            let wait = match attempt.retry {
                Retry::Backoff => backoff.next(timing),
                Retry::Superseded => timing.superseded_retry,
                Retry::Slow => timing.slow_retry,
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

    /// Makes one connection attempt, and serves the connection until it ends.
    async fn attempt(
        &self,
        target: &mut Option<Uuid>,
        backoff: &mut Backoff,
        stop: &CancellationToken,
    ) -> AttemptResult {
        let config = &self.context.config;
        if !config.settings.enabled() {
            return AttemptResult::new(Retry::Slow, "Cloud connection disabled by user");
        }
        let Some(key) = config.credentials.api_key() else {
            return AttemptResult::new(Retry::Slow, "Missing API key for cloud socket connection");
        };
        let url = match dial::link_url(&config.settings.relay_origin()) {
            Ok(url) => url,
            Err(error) => return AttemptResult::new(Retry::Slow, error.to_string()),
        };
        let dialing = timeout(config.timing.connect, dial::dial(&url, &key, &config.credentials));
        let dialed = tokio::select! {
            dialed = dialing => dialed,
            () = stop.cancelled() => return AttemptResult::new(Retry::Backoff, "stopped"),
        };
        let socket = match dialed {
            Ok(Ok(socket)) => socket,
            // Before the first successful connection the most likely reason is a wrong key, so the
            // message says so. Later it may also be a revoked key or a fault of the server.
            Ok(Err(DialError::Unauthorized(_))) if !self.context.was_ever_online() => {
                let text = "Authentication failed -- verify your API key in Settings";
                return AttemptResult::new(Retry::Slow, text);
            }
            Ok(Err(error)) => {
                // A clock is corrected without a change of the settings, so the next attempt is not delayed.
                let retry =
                    if matches!(error, DialError::Unauthorized(_)) { Retry::Slow } else { Retry::Backoff };
                return AttemptResult::new(retry, format!("Cloud socket connection failed: {error}"));
            }
            Err(_) => return AttemptResult::new(Retry::Backoff, "Cloud socket connection failed: timed out"),
        };
        let ended = session::serve(&self.context, socket, target, stop).await;
        if ended.was_online {
            backoff.reset();
        }
        let error = match ended.retry {
            Retry::Slow if !self.context.was_ever_online() && ended.unauthorized => {
                "Authentication failed -- verify your API key in Settings".to_owned()
            }
            _ => format!("Cloud socket disconnected: {}", ended.reason),
        };
        AttemptResult::new(ended.retry, error)
    }
}
