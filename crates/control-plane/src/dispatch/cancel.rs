//! Cancellation of a loop by a user.

use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use serde_json::json;

use super::kill;
use super::signing::SignedIntent;
use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::bus::Topic;
use crate::error::{ApiResult, conflict};
use crate::loop_state::{self, NewEvent, TransitionResult};
use crate::store::entity::agent_loop;

/// Cancels a loop and requests its desktop to kill the processes. The loop is cancelled even when the desktop
/// is not connected. Returns 409 for a loop with a terminal status.
pub async fn cancel(
    app: &ControlPlaneState,
    row: agent_loop::Model,
    intent: Option<SignedIntent>,
    actor: &Actor,
) -> ApiResult<agent_loop::Model> {
    let tx = app.store.begin().await?;
    if let TransitionResult::Refused(from) =
        loop_state::apply(&tx, row.id, LoopStatus::Cancelled, |update| update).await?
    {
        return Err(conflict(format!("Invalid status transition: {} → CANCELLED", from.as_str())));
    }
    let data = json!({"reason": "Cancelled by user", "timestamp": loopgate_api::time::now_iso()});
    let event = NewEvent::internal("cancelled", format!("cancelled:{}", Uuid::now_v7()), data);
    loop_state::append(&tx, row.id, event).await?;
    let kill = kill::store(&tx, &row, intent).await?;
    let details = json!({"computeTargetId": row.compute_target_id});
    actor.record(&tx, row.organization_id, AuditAction::LoopCancelled, row.id, details).await?;
    tx.commit().await?;
    // Published after the commit, so that a stream that wakes up reads the new status.
    app.bus.publish(Topic::Loop(row.id));
    app.bus.publish(Topic::Organization(row.organization_id));
    if let Some(kill) = kill {
        kill::send(app, kill).await?;
    }
    crate::loops::find(app.store.reader(), row.organization_id, row.id).await
}
