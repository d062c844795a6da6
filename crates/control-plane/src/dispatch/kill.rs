//! Request to a desktop to kill the processes of a loop.

use loopgate_api::link::{LinkCommand, USER_INTENT};
use loopgate_api::operation::OperationId;
use serde_json::json;

use super::command::{self, NewCommand, launch_command};
use super::signing::SignedIntent;
use crate::app::ControlPlaneState;
use crate::error::ApiResult;
use crate::store::entity::agent_loop;

/// Sends the request in the background. Best-effort: a desktop that is not connected receives it on
/// reconnect; until then, the response to its next heartbeat stops the loop.
pub fn spawn(app: &ControlPlaneState, row: &agent_loop::Model, intent: Option<SignedIntent>) {
    let (app, row) = (app.clone(), row.clone());
    app.clone().tasks.spawn(async move {
        if let Err(error) = kill(&app, &row, intent).await {
            tracing::warn!(loop_id = %row.id, error = %error.body.error, "failed to send kill command");
        }
    });
}

async fn kill(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
    intent: Option<SignedIntent>,
) -> ApiResult<()> {
    let Some(target_id) = row.compute_target_id else { return Ok(()) };
    // Without a launch command no desktop has started the loop.
    if launch_command(app, row.id).await?.is_none() {
        return Ok(());
    }
    let mut body = json!({"loopId": row.id});
    let signature = intent.map(|intent| {
        body[USER_INTENT] = intent.body;
        intent.signature
    });
    let request = LinkCommand {
        operation_id: OperationId::OrchestratorLoopKill.as_str().to_owned(),
        method: "POST".to_owned(),
        path: "/api/gateway/orchestrator/loop/kill".to_owned(),
        body: Some(body),
        ..LinkCommand::default()
    };
    let new = NewCommand {
        organization_id: row.organization_id,
        user_id: row.user_id,
        target_id,
        // `loop_id` marks launch commands only: a failed kill must not fail the loop.
        loop_id: None,
        expires_after: None,
        idempotency_key: Some(format!("loop-kill:{}", row.id)),
        actor: None,
        signature: signature.clone(),
        request,
    };
    let command = command::store(app, new).await?;
    let is_signed = signature.is_some();
    let Err(reason) = command::deliver(app, &command.row, signature) else { return Ok(()) };
    if is_signed {
        command::expire(app, command.row.id, &command::undelivered(reason, true)).await?;
    } else {
        tracing::info!(loop_id = %row.id, "desktop not connected, kill command queued");
    }
    Ok(())
}
