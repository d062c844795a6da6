//! Exchanges a runner token for a new one.

use http::StatusCode;
use loopgate_api::job::LoopStatus;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{DatabaseTransaction, QueryOrder, QuerySelect};
use serde_json::json;

use crate::app::ControlPlaneState;
use crate::bus::Topic;
use crate::credentials::runner_token::{IssuedToken, RunnerTokenClaims};
use crate::error::{ApiError, ApiResult};
use crate::loop_state::{self, NewEvent, stored_statuses};
use crate::store::entity::{agent_loop, loop_token_refresh};
use crate::store::now;

/// Exchanges in the last minute.
const RATE_LIMIT: u64 = 6;
const RATE_WINDOW: i64 = 60_000;
/// Rows that are kept for a loop.
const MAX_STORED: u64 = 50;

/// Who asked, for the record.
pub struct RefreshRequest {
    /// `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// `User-Agent`.
    pub user_agent: Option<String>,
}

/// Exchanges the token in force; the old one is worthless from then on. The same token and key get the
/// same new token until that is exchanged in its turn, because the answer may have been lost.
pub async fn refresh(
    app: &ControlPlaneState,
    claims: &RunnerTokenClaims,
    requester: RefreshRequest,
) -> ApiResult<IssuedToken> {
    let tx = app.store.begin().await?;
    let row = agent_loop::Entity::find_by_id(claims.sub).lock_exclusive().one(&tx).await?;
    let row = row
        .filter(|row| row.organization_id == claims.organization_id)
        .ok_or_else(|| refuse(StatusCode::NOT_FOUND, "Loop not found", "LOOP_NOT_FOUND"))?;
    let used = loop_token_refresh::Entity::find_by_id(claims.jti).one(&tx).await?;
    let generate = |jti, at| {
        app.runner_tokens.issue_for_slot(row.id, row.organization_id, jti, at).map_err(|_| {
            refuse(StatusCode::INTERNAL_SERVER_ERROR, "Failed to refresh token", "GENERATION_FAILED")
        })
    };
    if let Some(used) = used.as_ref().filter(|used| is_repeated(&row, used, &requester)) {
        return generate(used.new_jti, used.created_at);
    }
    check(&tx, &row, claims, used.is_some()).await?;
    let at = now();
    let issued = generate(Uuid::new_v4(), at)?;
    rotate(&tx, &row, claims.jti, &issued).await?;
    record(&tx, &row, claims.jti, &issued, requester, at).await?;
    tx.commit().await?;
    app.bus.publish(Topic::Loop(row.id));
    Ok(issued)
}

fn refuse(status: StatusCode, text: &str, code: &str) -> ApiError {
    ApiError::new(status, text).code(code)
}

/// Whether a request repeats the exchange that made the token in force.
fn is_repeated(
    row: &agent_loop::Model,
    used: &loop_token_refresh::Model,
    requester: &RefreshRequest,
) -> bool {
    row.status.0 == LoopStatus::Running
        && row.active_token_jti == Some(used.new_jti)
        && used.idempotency_key.is_some()
        && used.idempotency_key == requester.idempotency_key
}

async fn check(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    claims: &RunnerTokenClaims,
    was_used: bool,
) -> ApiResult<()> {
    if row.status.0 != LoopStatus::Running {
        return Err(refuse(StatusCode::CONFLICT, "Loop is not running", "NOT_RUNNING"));
    }
    if row.token_expires_at.is_none_or(|at| at <= now()) {
        return Err(refuse(StatusCode::UNAUTHORIZED, "Token expired", "TOKEN_EXPIRED"));
    }
    if row.active_token_jti != Some(claims.jti) {
        let code = if was_used { "JTI_ALREADY_USED" } else { "JTI_MISMATCH" };
        return Err(refuse(StatusCode::UNAUTHORIZED, "Token is not in force", code));
    }
    let recent = loop_token_refresh::Entity::find()
        .filter(loop_token_refresh::Column::LoopId.eq(row.id))
        .filter(loop_token_refresh::Column::CreatedAt.gt(now() - RATE_WINDOW))
        .count(tx)
        .await?;
    if recent >= RATE_LIMIT {
        return Err(refuse(StatusCode::TOO_MANY_REQUESTS, "Too many refreshes", "RATE_LIMITED"));
    }
    Ok(())
}

async fn rotate(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    old: Uuid,
    issued: &IssuedToken,
) -> ApiResult<()> {
    use agent_loop::Column;
    let rotated = agent_loop::Entity::update_many()
        .col_expr(Column::ActiveTokenJti, Expr::value(issued.jti))
        .col_expr(Column::LastTokenJti, Expr::value(issued.jti))
        .col_expr(Column::TokenExpiresAt, Expr::value(issued.expires_at))
        .filter(Column::Id.eq(row.id))
        .filter(Column::ActiveTokenJti.eq(old))
        .filter(Column::Status.is_in(stored_statuses([LoopStatus::Running])))
        .exec(tx)
        .await?;
    if rotated.rows_affected == 1 {
        return Ok(());
    }
    Err(refuse(StatusCode::CONFLICT, "Another refresh was faster", "RACE_LOST"))
}

async fn record(
    tx: &DatabaseTransaction,
    row: &agent_loop::Model,
    old: Uuid,
    issued: &IssuedToken,
    requester: RefreshRequest,
    at: i64,
) -> Result<(), DbErr> {
    let audit = loop_token_refresh::ActiveModel {
        jti: Set(old),
        loop_id: Set(row.id),
        new_jti: Set(issued.jti),
        idempotency_key: Set(requester.idempotency_key.clone()),
        created_at: Set(at),
    };
    loop_token_refresh::Entity::insert(audit).exec_without_returning(tx).await?;
    let surplus = loop_token_refresh::Entity::find()
        .filter(loop_token_refresh::Column::LoopId.eq(row.id))
        .order_by_desc(loop_token_refresh::Column::CreatedAt)
        .offset(MAX_STORED)
        .limit(MAX_STORED)
        .all(tx)
        .await?;
    loop_token_refresh::Entity::delete_many()
        .filter(loop_token_refresh::Column::Jti.is_in(surplus.into_iter().map(|row| row.jti)))
        .exec(tx)
        .await?;
    let event_id = format!("token_refreshed:{}", issued.jti);
    let data = json!({
        "eventId": event_id,
        "prevJti": old,
        "newJti": issued.jti,
        "exp": issued.expires_at / 1000,
        "requesterUa": requester.user_agent,
        "idempotencyKey": requester.idempotency_key,
    });
    loop_state::append(tx, row.id, NewEvent::internal("token_refreshed", event_id, data)).await
}
