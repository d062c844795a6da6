//! What keeps a loop alive in the eyes of the control plane: heartbeats, and a token that is renewed
//! before it ends.

use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::LoopId;
use loopgate_api::link::Severity;
use serde_json::Value;

use crate::reporting::telemetry;
use crate::runtime::Runtime;

/// The first heartbeat comes at once, but not of all loops in the same moment.
const FIRST_WITHIN: Duration = Duration::from_secs(2);
/// A token whose refresh failed is not asked for again before this.
const REFRESH_REST: Duration = Duration::from_secs(300);

/// Answers to a heartbeat by which the control plane says that a loop is over.
const GIVEN_UP: [u16; 3] = [401, 404, 410];

/// Sends heartbeats and renews the token until it is dropped. Never decides about the loop: a
/// control plane that has given it up does not end a process that lives.
pub(crate) async fn keep_alive(runtime: &Arc<Runtime>, id: LoopId) {
    tokio::join!(beat(runtime, id), renew(runtime, id));
}

async fn beat(runtime: &Arc<Runtime>, id: LoopId) {
    let mut woken = runtime.woken.subscribe();
    tokio::time::sleep(FIRST_WITHIN.min(runtime.timing.heartbeat).mul_f64(rand::random())).await;
    loop {
        let answer =
            runtime.tokens.call(id, |token| async move { runtime.cloud.heartbeat(id, &token).await }).await;
        match answer {
            Ok(Some(fresh)) => {
                if let Err(error) = runtime.tokens.take(id, fresh).await {
                    tracing::warn!(loop_id = %id, %error, "the token of a revived loop was not stored");
                }
            }
            Ok(None) => {}
            Err(error) => {
                tracing::info!(loop_id = %id, %error, "heartbeat not accepted; the loop goes on");
                if error.status().is_some_and(|status| GIVEN_UP.contains(&status)) {
                    report_given_up(runtime, id);
                }
            }
        }
        tokio::select! {
            () = tokio::time::sleep(runtime.timing.heartbeat) => {}
            _ = woken.changed() => {
                // Whatever comes of it, the heartbeat follows.
                if let Err(error) = runtime.tokens.refresh(id).await {
                    tracing::info!(loop_id = %id, %error, "the loop's token was not renewed after a sleep");
                }
            }
        }
    }
}

fn report_given_up(runtime: &Runtime, id: LoopId) {
    let category = "loop.heartbeat.terminal_finalization_suppressed";
    let message = "The control plane has given a loop up whose process lives; it goes on";
    runtime.report(telemetry::of_loop(id), Severity::Warn, category, message, Value::Null);
}

/// Renews the token before it ends, until it is dropped.
pub(crate) async fn renew(runtime: &Arc<Runtime>, id: LoopId) {
    let mut woken = runtime.woken.subscribe();
    // A token that does not tell its end is renewed when it is refused.
    while let Some(expires_at) = runtime.tokens.expires_at(id).await {
        let now = jiff::Timestamp::now().as_millisecond();
        let left = u64::try_from(expires_at.saturating_sub(now)).unwrap_or(0);
        let wait = Duration::from_millis(left).saturating_sub(runtime.timing.refresh_skew);
        tokio::select! {
            () = tokio::time::sleep(wait) => {}
            // The clock by which the token ends has jumped: look at it again.
            _ = woken.changed() => continue,
        }
        if let Err(error) = runtime.tokens.refresh(id).await {
            tracing::info!(loop_id = %id, %error, "the loop's token was not renewed");
            tokio::time::sleep(REFRESH_REST).await;
        } else if wait.is_zero() {
            // A life shorter than the skew: half of it is left, not a tight circle of renewals.
            tokio::time::sleep(REFRESH_REST.min(runtime.timing.refresh_skew)).await;
        }
    }
    std::future::pending::<()>().await;
}
