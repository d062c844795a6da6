//! Asks a desktop to stop the work of a loop.

use loopgate_api::link::{LinkCommand, USER_INTENT};
use loopgate_api::operation::OperationId;
use serde_json::json;

use super::command::{self, NewCommand, launch_command};
use super::signing::SignedIntent;
use crate::app::ControlPlaneState;
use crate::error::ApiResult;
use crate::store::entity::agent_loop;

/// Sends the wish in the background. It is the best that can be done: a desktop that is not
/// connected hears of it when it connects again, and its own heartbeat tells it the rest.
pub fn spawn(app: &ControlPlaneState, row: &agent_loop::Model, intent: Option<SignedIntent>) {
    let (app, row) = (app.clone(), row.clone());
    app.clone().tasks.spawn(async move {
        if let Err(error) = kill(&app, &row, intent).await {
            tracing::warn!(loop_id = %row.id, error = %error.body.error, "kill was not sent");
        }
    });
}

async fn kill(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
    intent: Option<SignedIntent>,
) -> ApiResult<()> {
    let Some(target_id) = row.compute_target_id else { return Ok(()) };
    // A loop that was never sent has nothing to be killed.
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
        // Not the loop's launch: the fate of this command says nothing about the loop.
        loop_id: None,
        expires_after: None,
        idempotency_key: Some(format!("loop-kill:{}", row.id)),
        signature: signature.clone(),
        request,
    };
    let stored = command::store(app, new).await?;
    let is_signed = signature.is_some();
    let Err(reason) = command::deliver(app, &stored.row, signature) else { return Ok(()) };
    if is_signed {
        command::expire(app, stored.row.id, &command::undelivered(reason, true)).await?;
    } else {
        tracing::info!(loop_id = %row.id, "desktop is not connected; the kill waits for it");
    }
    Ok(())
}
