//! Heartbeats of loops, and renewal of their runner tokens before expiry.

use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::link::Severity;
use serde_json::Value;
use tokio::sync::watch;

use crate::reporting::control_plane::ControlPlaneClient;
use crate::reporting::ended_loops::EndedLoops;
use crate::reporting::telemetry::{self, TelemetrySender};
use crate::reporting::tokens::Tokens;
use crate::timing::RuntimeTiming;

/// Upper bound of the random delay before the first heartbeat, so that recovered loops do not all send at
/// once.
const FIRST_WITHIN: Duration = Duration::from_secs(2);
/// Minimum delay between attempts after a failed renewal.
const REFRESH_REST: Duration = Duration::from_secs(300);

/// Statuses by which the control plane does not accept the loop or its token. They do not prove that the loop
/// has ended: the database may have been restored from a backup, or a proxy may have responded.
const REFUSED: [u16; 3] = [401, 404, 410];

/// Sends heartbeats and renews tokens of loops.
#[derive(Clone)]
pub(crate) struct HeartbeatSender {
    cloud: ControlPlaneClient,
    tokens: Tokens,
    telemetry: TelemetrySender,
    timing: RuntimeTiming,
    /// Incremented when the machine resumes from suspend or its clock is set.
    woken: watch::Sender<u64>,
    ended: EndedLoops,
}

impl HeartbeatSender {
    pub const fn new(
        cloud: ControlPlaneClient,
        tokens: Tokens,
        telemetry: TelemetrySender,
        timing: RuntimeTiming,
        woken: watch::Sender<u64>,
        ended: EndedLoops,
    ) -> Self {
        Self { cloud, tokens, telemetry, timing, woken, ended }
    }

    /// Sends heartbeats and renews the token until the future is dropped. A loop that the control plane has
    /// ended is stopped. A loop that was only timed out is not: its heartbeat resumes it.
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
                // The control plane revived the loop and replaced its token.
                Ok(Some(fresh)) => {
                    if let Err(error) = self.tokens.take(id, fresh).await {
                        tracing::warn!(loop_id = %id, %error, "cannot store the token of the revived loop");
                    }
                }
                Ok(None) => {}
                Err(error) if error.is_ended_loop() => self.ended.report(id),
                Err(error) => {
                    tracing::info!(loop_id = %id, %error, "heartbeat rejected; the loop continues");
                    if error.status().is_some_and(|status| REFUSED.contains(&status)) {
                        self.report_refused_loop(id);
                    }
                }
            }
            tokio::select! {
                () = tokio::time::sleep(self.timing.heartbeat) => {}
                _ = woken.changed() => {
                    // A failed renewal is not fatal: the heartbeat follows in any case.
                    if let Err(error) = self.tokens.refresh(id).await {
                        tracing::info!(loop_id = %id, %error, "cannot renew the loop's token after a suspend");
                    }
                }
            }
        }
    }

    fn report_refused_loop(&self, id: LoopId) {
        let category = "loop.heartbeat.terminal_finalization_suppressed";
        let message =
            "The control plane does not accept a loop whose process is alive; the process continues";
        self.telemetry.report(telemetry::of_loop(id), Severity::Warn, category, message, Value::Null);
    }

    /// Renews the token before it expires, until the future is dropped.
    pub async fn renew(&self, id: LoopId) {
        let mut woken = self.woken.subscribe();
        // A token without a known expiry is only renewed when it is rejected.
        while let Some(expires_at) = self.tokens.expires_at(id).await {
            let now = jiff::Timestamp::now().as_millisecond();
            let remaining_ms = u64::try_from(expires_at.saturating_sub(now)).unwrap_or(0);
            let wait = Duration::from_millis(remaining_ms).saturating_sub(self.timing.refresh_skew);
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                // The wall clock, which the expiry refers to, has jumped: compute the wait again.
                _ = woken.changed() => continue,
            }
            if let Err(error) = self.tokens.refresh(id).await {
                tracing::info!(loop_id = %id, %error, "cannot renew the loop's token");
                tokio::time::sleep(REFRESH_REST).await;
            } else if wait.is_zero() {
                // The lifetime is shorter than the skew, so the wait is zero. Without this delay the token
                // would be renewed in a busy loop.
                tokio::time::sleep(REFRESH_REST.min(self.timing.refresh_skew)).await;
            }
        }
        std::future::pending::<()>().await;
    }
}
