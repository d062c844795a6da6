//! What this desktop reports to the control plane beside the events of its loops.
//!
//! Hands over what the rooms tell of themselves; the link keeps it or drops it. Nobody waits for it.

use std::sync::Arc;

use loopgate_api::link::{Analytics, Telemetry};
use loopgate_api::time::now_iso;
use loopgate_link::client::Client;
use loopgate_link::executor::Executor;
use serde_json::json;
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

/// Tells of each path that was refused because it lies outside of the sandbox, and never which.
pub async fn blocked(mut times: watch::Receiver<u64>, client: Arc<Client>) {
    let mut told = 0;
    while times.changed().await.is_ok() {
        let now = *times.borrow_and_update();
        for _ in told..now {
            client.analytics(blocked_operation());
        }
        told = now;
    }
}

fn blocked_operation() -> Analytics {
    let properties = json!({"operation_class": "path_denied"});
    Analytics {
        event: "sandbox_blocked_operation".to_owned(),
        properties: properties.as_object().cloned().unwrap_or_default(),
        occurred_at: Some(now_iso()),
    }
}
