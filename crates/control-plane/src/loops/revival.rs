//! Resumes loops that the reaper timed out, and issues a new runner token to a desktop whose token is no
//! longer accepted, because it expired while the desktop was away or the response with the token was lost.

use http::StatusCode;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QueryOrder, QuerySelect, UpdateMany};
use serde_json::json;

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::credentials::runner_token::IssuedToken;
use crate::error::{ApiError, ApiResult};
use crate::loop_state::{self, NewEvent};
use crate::store::entity::{agent_loop, api_key, compute_target, loop_event};
use crate::store::now;

/// Returns the error for a heartbeat of a finished loop.
pub fn terminal_loop_error() -> ApiError {
    ApiError::new(StatusCode::GONE, "Loop is no longer running").code("TERMINAL_LOOP")
}

/// Returns a loop that the reaper timed out to RUNNING, for a valid token. Returns whether it runs again.
pub async fn revive(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    jti: Uuid,
    expires_at: i64,
) -> Result<bool, DbErr> {
    use agent_loop::Column;
    // A runner that reported the time-out itself has stopped; only time-outs by the reaper are reversible.
    if row.status.0 != LoopStatus::TimedOut || !was_reaped(tx, row.id).await? {
        return Ok(false);
    }
    let columns = |update: UpdateMany<_>| {
        with_token(update, jti, expires_at)
            .col_expr(Column::CompletedAt, Expr::value(None::<i64>))
            .col_expr(Column::Error, Expr::value(None::<Json>))
            .col_expr(Column::LastRunnerHeartbeatAt, Expr::value(now()))
    };
    loop_state::apply(tx, row.id, LoopStatus::Running, columns).await?;
    let event_id = format!("reap_reversed:{}", Uuid::now_v7());
    let data = json!({"eventId": event_id, "timestamp": loopgate_api::time::now_iso()});
    loop_state::append(tx, row.id, NewEvent::internal("reap_reversed", event_id, data)).await?;
    Ok(true)
}

/// Returns whether the reaper set the loop's last error, and not its runner.
async fn was_reaped(tx: &DatabaseTransaction, loop_id: Uuid) -> Result<bool, DbErr> {
    let last = loop_event::Entity::find()
        .filter(loop_event::Column::LoopId.eq(loop_id))
        .filter(loop_event::Column::Kind.eq("error"))
        .order_by_desc(loop_event::Column::Sequence)
        .one(tx)
        .await?;
    Ok(last.is_some_and(|event| event.data.get("reaper").is_some()))
}

/// Issues a token for a loop, and resumes the loop when the reaper timed it out.
///
/// # Errors
/// Fails with [`terminal_loop_error`] for an unknown loop, or one with another terminal status.
pub async fn issue_token(app: &ControlPlaneState, loop_id: Uuid) -> ApiResult<IssuedToken> {
    let tx = app.store.begin().await?;
    let row = agent_loop::Entity::find_by_id(loop_id)
        .lock_exclusive()
        .one(&tx)
        .await?
        .ok_or_else(terminal_loop_error)?;
    let issued = app.runner_tokens.issue(row.id, row.organization_id, now())?;
    if row.status.0.is_terminal() {
        if !revive(&tx, &row, issued.jti, issued.expires_at).await? {
            return Err(terminal_loop_error());
        }
    } else {
        let renewed = with_token(agent_loop::Entity::update_many(), issued.jti, issued.expires_at)
            .col_expr(agent_loop::Column::LastRunnerHeartbeatAt, Expr::value(now()));
        renewed.filter(agent_loop::Column::Id.eq(row.id)).exec(&tx).await?;
    }
    tx.commit().await?;
    app.bus.publish(Topic::Loop(row.id));
    Ok(issued)
}

fn with_token(
    update: UpdateMany<agent_loop::Entity>,
    jti: Uuid,
    expires_at: i64,
) -> UpdateMany<agent_loop::Entity> {
    use agent_loop::Column;
    update
        .col_expr(Column::ActiveTokenJti, Expr::value(jti))
        .col_expr(Column::LastTokenJti, Expr::value(jti))
        .col_expr(Column::TokenExpiresAt, Expr::value(expires_at))
}

/// Returns whether a key is bound to the desktop that a loop was dispatched to.
pub async fn is_of_desktop(
    app: &ControlPlaneState,
    row: &agent_loop::Model,
    key: &api_key::Model,
) -> Result<bool, DbErr> {
    let (Some(gateway_id), Some(target_id)) = (key.bound_gateway(), row.compute_target_id) else {
        return Ok(false);
    };
    let target = compute_target::Entity::find_by_id(target_id).one(app.store.reader()).await?;
    // Gateway ids are unique for each owner only.
    Ok(target.is_some_and(|target| {
        target.gateway_id == Some(gateway_id)
            && (target.organization_id, target.user_id) == (key.organization_id, key.user_id)
    }))
}
