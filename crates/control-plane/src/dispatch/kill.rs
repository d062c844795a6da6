//! Request to a desktop to kill the processes of a loop.

use loopgate_api::link::{LinkCommand, USER_INTENT};
use loopgate_api::operation::OperationId;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::json;

use super::command::{self, CommandSignature, NewCommand, UnstoredSecret, launch_command};
use super::signing::SignedIntent;
use crate::app::ControlPlaneState;
use crate::error::ApiResult;
use crate::store::column::StoredEnum;
use crate::store::entity::agent_loop;
use crate::store::entity::desktop_command::{self, CommandStatus};
use crate::store::now;

/// A kill command that is stored, and not sent yet.
pub struct StoredKill {
    row: desktop_command::Model,
    signature: Option<CommandSignature>,
}

/// Stores the kill command of a loop in the transaction that ends the loop, so that a loop that has ended is
/// also stopped when this process dies. A launch command that no desktop has acknowledged is withdrawn.
/// Returns `None` for a loop that no desktop has received.
pub async fn store(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    intent: Option<SignedIntent>,
) -> ApiResult<Option<StoredKill>> {
    let Some(target_id) = row.compute_target_id else { return Ok(None) };
    let Some(launch) = launch_command(tx, row.id).await? else { return Ok(None) };
    withdraw(tx, &launch).await?;
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
    let row = command::insert(tx, new).await.map_err(command::insert_error)?;
    Ok(Some(StoredKill { row, signature }))
}

/// Requests cancellation of a launch command that its desktop has not acknowledged: a desktop that connects
/// later then does not receive it.
async fn withdraw(tx: &DatabaseTransaction, launch: &desktop_command::Model) -> Result<(), DbErr> {
    use desktop_command::Column;
    desktop_command::Entity::update_many()
        .col_expr(Column::CancelRequestedAt, Expr::value(now()))
        .filter(Column::Id.eq(launch.id))
        .filter(Column::Status.eq(StoredEnum(CommandStatus::Queued)))
        .exec(tx)
        .await?;
    Ok(())
}

/// Sends a stored kill command, after the commit. A desktop that is not connected receives an unsigned one
/// when it reconnects; a signed one expires, and the loop's next event or heartbeat stops it instead.
pub async fn send(app: &ControlPlaneState, StoredKill { row, signature }: StoredKill) -> ApiResult<()> {
    let is_signed = signature.is_some();
    let Err(reason) = command::deliver(app, &row, signature.map(UnstoredSecret::Signature)) else {
        return Ok(());
    };
    if is_signed {
        command::expire(app.store.writer(), row.id, &command::undelivered(reason, true)).await?;
    } else {
        tracing::info!(command_id = %row.id, "desktop not connected, kill command queued");
    }
    Ok(())
}
