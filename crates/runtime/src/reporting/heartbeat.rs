//! Heartbeats, and runner tokens that are renewed before they expire.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::link::Severity;
use serde_json::Value;
use tokio::sync::watch;

use crate::reporting::control_plane::ControlPlaneClient;
use crate::reporting::telemetry::{self, TelemetrySender};
use crate::reporting::tokens::Tokens;
use crate::timing::RuntimeTiming;

/// The first heartbeat comes at once, but not of all loops in the same moment.
const FIRST_WITHIN: Duration = Duration::from_secs(2);
/// A token whose refresh failed is not asked for again before this.
const REFRESH_REST: Duration = Duration::from_secs(300);

/// Answers to a heartbeat by which the control plane says that a loop is over.
const GIVEN_UP: [u16; 3] = [401, 404, 410];

/// Keeps loops alive at the control plane.
#[derive(Clone)]
pub(crate) struct HeartbeatSender {
    cloud: ControlPlaneClient,
    tokens: Tokens,
    telemetry: TelemetrySender,
    timing: RuntimeTiming,
    /// Counts how often the machine woke up.
    woken: watch::Sender<u64>,
}

impl HeartbeatSender {
    pub const fn new(
        cloud: ControlPlaneClient,
        tokens: Tokens,
        telemetry: TelemetrySender,
        timing: RuntimeTiming,
        woken: watch::Sender<u64>,
    ) -> Self {
        Self { cloud, tokens, telemetry, timing, woken }
    }

    /// Sends heartbeats and renews the token until it is dropped. Never decides about the loop: a
    /// control plane that has given it up does not end a process that lives.
    pub async fn keep_alive(&self, id: LoopId) {
        tokio::join!(self.beat(id), self.renew(id));
    }

    async fn beat(&self, id: LoopId) {
        let mut woken = self.woken.subscribe();
        tokio::time::sleep(FIRST_WITHIN.min(self.timing.heartbeat).mul_f64(rand::random())).await;
        loop {
            let cloud = &self.cloud;
            let answer = self.tokens.call(id, |token| async move { cloud.heartbeat(id, &token).await }).await;
            match answer {
                Ok(Some(fresh)) => {
                    if let Err(error) = self.tokens.take(id, fresh).await {
                        tracing::warn!(loop_id = %id, %error, "the token of a revived loop was not stored");
                    }
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::info!(loop_id = %id, %error, "heartbeat not accepted; the loop goes on");
                    if error.status().is_some_and(|status| GIVEN_UP.contains(&status)) {
                        self.report_given_up(id);
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(self.timing.heartbeat) => {}
                _ = woken.changed() => {
                    // Whatever comes of it, the heartbeat follows.
                    if let Err(error) = self.tokens.refresh(id).await {
                        tracing::info!(loop_id = %id, %error, "the loop's token was not renewed after a sleep");
                    }
                }
            }
        }
    }

    fn report_given_up(&self, id: LoopId) {
        let category = "loop.heartbeat.terminal_finalization_suppressed";
        let message = "The control plane has given a loop up whose process lives; it goes on";
        self.telemetry.report(telemetry::of_loop(id), Severity::Warn, category, message, Value::Null);
    }

    /// Renews the token before it ends, until it is dropped.
    pub async fn renew(&self, id: LoopId) {
        let mut woken = self.woken.subscribe();
        // A token that does not tell its end is renewed when it is refused.
        while let Some(expires_at) = self.tokens.expires_at(id).await {
            let now = jiff::Timestamp::now().as_millisecond();
            let left = u64::try_from(expires_at.saturating_sub(now)).unwrap_or(0);
            let wait = Duration::from_millis(left).saturating_sub(self.timing.refresh_skew);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                // The clock by which the token ends has jumped: look at it again.
                _ = woken.changed() => continue,
            }
            if let Err(error) = self.tokens.refresh(id).await {
                tracing::info!(loop_id = %id, %error, "the loop's token was not renewed");
                tokio::time::sleep(REFRESH_REST).await;
            } else if wait.is_zero() {
                // A life shorter than the skew: half of it is left, not a tight circle of renewals.
                tokio::time::sleep(REFRESH_REST.min(self.timing.refresh_skew)).await;
            }
        }
        std::future::pending::<()>().await;
    }
}
