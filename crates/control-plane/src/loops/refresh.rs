//! Exchange of a runner token for a new one.

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
use crate::loop_state::{self, NewEvent, status_values};
use crate::store::entity::{agent_loop, loop_token_refresh};
use crate::store::now;

// Exchanges per loop within `RATE_WINDOW` milliseconds. Normally a runner refreshes once per token lifetime.
const RATE_LIMIT: u64 = 6;
const RATE_WINDOW: i64 = 60_000;
// Exchanges kept per loop. Old ones are needed only to recognize tokens that were already exchanged.
const MAX_STORED: u64 = 50;

/// Origin of a request, for the audit event.
pub struct RefreshRequest {
    /// Value of the `Idempotency-Key` header.
    pub idempotency_key: Option<String>,
    /// Value of the `User-Agent` header.
    pub user_agent: Option<String>,
}

/// Exchanges the current token, which becomes invalid. The response may be lost, so a repeated request with
/// the same token and idempotency key returns the same new token until that one is exchanged.
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
    let exchange = loop_token_refresh::Entity::find_by_id(claims.jti).one(&tx).await?;
    // A token is a function of slot and time of issue. A repeated exchange returns the identical token,
    // although tokens are not stored.
    let generate = |jti, at| {
        app.runner_tokens.issue_for_slot(row.id, row.organization_id, jti, at).map_err(|_| {
            refuse(StatusCode::INTERNAL_SERVER_ERROR, "Failed to refresh token", "GENERATION_FAILED")
        })
    };
    if let Some(exchange) = exchange.as_ref().filter(|exchange| is_repeated(&row, exchange, &requester)) {
        return generate(exchange.new_jti, exchange.created_at);
    }
    check(&tx, &row, claims, exchange.is_some()).await?;
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

/// Returns whether a request repeats the exchange that issued the current token.
fn is_repeated(
    row: &agent_loop::Model,
    exchange: &loop_token_refresh::Model,
    requester: &RefreshRequest,
) -> bool {
    row.status.0 == LoopStatus::Running
        && row.active_token_jti == Some(exchange.new_jti)
        && exchange.idempotency_key.is_some()
        && exchange.idempotency_key == requester.idempotency_key
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
        return Err(refuse(StatusCode::UNAUTHORIZED, "Token was replaced by a newer one", code));
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
        .filter(Column::Status.is_in(status_values([LoopStatus::Running])))
        .exec(tx)
        .await?;
    if rotated.rows_affected == 1 {
        return Ok(());
    }
    Err(refuse(StatusCode::CONFLICT, "A concurrent request has already refreshed the token", "RACE_LOST"))
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
    // Each exchange adds one row, so one batch always contains the whole surplus.
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
