//! What this desktop reports to the control plane beside the events of its loops.
//!
//! Hands over what the rooms tell of themselves; the link keeps it or drops it. Nobody waits for it.

use std::sync::Arc;

use jiff::Timestamp;
use loopgate_api::link::{Analytics, Telemetry};
use loopgate_api::time::now_iso;
use loopgate_gateway::{ApprovalEvent, Decision, ResolvedApproval};
use loopgate_link::client::Client;
use loopgate_link::executor::Executor;
use serde_json::{Value, json};
use tokio::sync::broadcast::{Receiver, error::RecvError};
use tokio::sync::watch;

/// Passes on what loops, or the gateway, report, until nobody reports any more.
pub async fn telemetry(mut reported: Receiver<Telemetry>, executor: Arc<Executor>) {
    loop {
        match reported.recv().await {
            Ok(telemetry) => executor.telemetry(telemetry),
            Err(RecvError::Lagged(dropped)) => tracing::info!(dropped, "reports came too fast"),
            Err(RecvError::Closed) => return,
        }
    }
}

/// Tells of each path that was refused because it is outside of the sandbox, and never which.
pub async fn blocked(mut times: watch::Receiver<u64>, client: Arc<Client>) {
    let mut told = 0;
    while times.changed().await.is_ok() {
        let now = *times.borrow_and_update();
        for _ in told..now {
            client.analytics(analytics(
                "sandbox_blocked_operation",
                &json!({"operation_class": "path_denied"}),
            ));
        }
        told = now;
    }
}

/// Tells of each request that had to wait for the owner, and of how that ended; never what it asked.
pub async fn approvals(mut events: Receiver<ApprovalEvent>, client: Arc<Client>) {
    loop {
        match events.recv().await {
            Ok(event) => client.analytics(approval(&event)),
            Err(RecvError::Lagged(dropped)) => tracing::info!(dropped, "approvals came too fast"),
            Err(RecvError::Closed) => return,
        }
    }
}

fn approval(event: &ApprovalEvent) -> Analytics {
    match event {
        ApprovalEvent::Requested(request) => {
            analytics("approval_requested", &json!({"operation_type": request.operation_id}))
        }
        ApprovalEvent::Resolved(resolved) => {
            let properties = json!({
                "operation_type": resolved.request.operation_id,
                "outcome": outcome(resolved.decision),
                "time_to_resolve_ms": waited_ms(resolved),
            });
            analytics("approval_resolved", &properties)
        }
    }
}

const fn outcome(decision: Decision) -> &'static str {
    match decision {
        Decision::Approved | Decision::AlwaysAllow => "granted",
        Decision::Denied => "denied",
        Decision::Expired => "timed_out",
    }
}

/// How long a request waited; nothing when the clock was set back meanwhile.
fn waited_ms(resolved: &ResolvedApproval) -> u64 {
    let at = |time: &str| time.parse::<Timestamp>().map(Timestamp::as_millisecond).unwrap_or_default();
    let waited = at(&resolved.resolved_at) - at(&resolved.request.created_at);
    u64::try_from(waited).unwrap_or_default()
}

fn analytics(event: &str, properties: &Value) -> Analytics {
    Analytics {
        event: event.to_owned(),
        properties: properties.as_object().cloned().unwrap_or_default(),
        occurred_at: Some(now_iso()),
    }
}
