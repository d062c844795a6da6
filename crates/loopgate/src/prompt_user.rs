//! Notifies the owner of requests that wait for an approval.

use std::sync::Arc;

use loopgate_gateway::{ApprovalEvent, Gateway, PendingApproval};
use loopgate_runtime::{ApprovalNotice, Runtime};
use tokio::sync::broadcast::{Receiver, error::RecvError};

/// Notifies the owner of each new request, until the gateway has stopped.
pub async fn run(mut events: Receiver<ApprovalEvent>, gateway: Gateway, runtime: Arc<Runtime>) {
    loop {
        match events.recv().await {
            Ok(ApprovalEvent::Requested(request)) => {
                runtime.notifications.notify_of_approval(&notice(request, &gateway))
            }
            Ok(ApprovalEvent::Resolved(_)) => {}
            // Notifications are best-effort: `loopgate approvals` lists every request.
            Err(RecvError::Lagged(dropped)) => {
                tracing::info!(dropped, "dropped approval notifications: too many requests")
            }
            Err(RecvError::Closed) => return,
        }
    }
}

fn notice(request: PendingApproval, gateway: &Gateway) -> ApprovalNotice {
    ApprovalNotice {
        command: gateway.approval_command(request.id),
        loop_id: request.loop_id,
        id: request.id,
        reason: request.reason,
        operation: request.operation_id.as_str(),
        method: request.method,
        path: request.path,
        action: request.action,
        location: request.location,
        waits_until: request.waits_until,
    }
}
