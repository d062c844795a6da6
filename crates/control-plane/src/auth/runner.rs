//! Authentication of a loop's runner by its token.

use axum::extract::{FromRequestParts, RawPathParams};
use http::StatusCode;
use http::request::Parts;
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;

use crate::app::ControlPlaneState;
use crate::credentials::header::bearer;
use crate::credentials::runner_token::RunnerTokenClaims;
use crate::error::{ApiError, ApiResult, ResultExt};
use crate::loops::revival::terminal_loop_error;
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::agent_loop;

/// Verifies the token of a request. Returns 401 when it is missing, invalid or expired, and 403 when it
/// belongs to another loop.
pub fn claims_for(
    app: &ControlPlaneState,
    parts: &Parts,
    path_id: Option<Uuid>,
) -> ApiResult<RunnerTokenClaims> {
    let token = bearer(&parts.headers)
        .ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "Missing runner token"))?;
    let claims = app
        .runner_tokens
        .read(token)
        .ok_or_else(|| ApiError::new(StatusCode::UNAUTHORIZED, "Invalid or expired runner token"))?;
    if Some(claims.sub) != path_id {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Token does not match loop"));
    }
    Ok(claims)
}

/// A valid token of the loop in the path. It may have been replaced by a newer one: for routes that must
/// accept a stale token, such as the refresh.
#[derive(Debug, Clone)]
pub struct RunnerClaims(pub RunnerTokenClaims);

impl FromRequestParts<ControlPlaneState> for RunnerClaims {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let path = RawPathParams::from_request_parts(parts, app).await.ok();
        let id = path.as_ref().and_then(|path| path.iter().find(|(name, _)| *name == "id"));
        let id = id.and_then(|(_, text)| Uuid::try_parse(text).ok());
        claims_for(app, parts, id).map(Self)
    }
}

/// The runner of the loop in the path, with the token that is in force.
#[derive(Debug, Clone)]
pub struct RunnerAuth {
    /// Row of the loop when the request arrived.
    pub row: agent_loop::Model,
    pub claims: RunnerTokenClaims,
}

impl RunnerAuth {
    /// Returns 410 when the loop has ended in one of the statuses.
    pub fn refuse_in(&self, ended: &[LoopStatus]) -> ApiResult<()> {
        if ended.contains(&self.row.status.0) { Err(terminal_loop_error()) } else { Ok(()) }
    }
}

impl FromRequestParts<ControlPlaneState> for RunnerAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let RunnerClaims(claims) = RunnerClaims::from_request_parts(parts, app).await?;
        let row = loop_of(&app.store, &claims).await.context("Authentication failed")?;
        claim_token_slot(&app.store, &row, claims.jti).await.context("Authentication failed")?;
        Ok(Self { row, claims })
    }
}

/// Returns the loop of a token, or 403 when it does not exist or belongs to another organization.
pub async fn loop_of(store: &Store, claims: &RunnerTokenClaims) -> ApiResult<agent_loop::Model> {
    let row = agent_loop::Entity::find_by_id(claims.sub).one(store.reader()).await?;
    let row = row.ok_or_else(|| ApiError::new(StatusCode::FORBIDDEN, "Loop not found"))?;
    if row.organization_id != claims.organization_id {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Token org mismatch"));
    }
    Ok(row)
}

/// Requires that `jti` is the token slot in force. When the slot of a loop that has not ended is empty, the last
/// issued token claims it; every other token is rejected. The last token of a loop that ended otherwise than by
/// its completion is accepted: its runner learns from the responses that it must stop.
pub async fn claim_token_slot(store: &Store, row: &agent_loop::Model, jti: Uuid) -> ApiResult<()> {
    let stale = || ApiError::new(StatusCode::UNAUTHORIZED, "jti_mismatch").code("jti_mismatch");
    match row.active_token_jti {
        Some(active) if active == jti => return Ok(()),
        Some(_) => return Err(stale()),
        None if row.status.0 == LoopStatus::Completed || row.last_token_jti != Some(jti) => {
            return Err(stale());
        }
        // An ended loop has no slot to claim; late requests of its last runner still need an answer.
        None if row.status.0.is_terminal() => return Ok(()),
        None => {}
    }
    // Conditional update: of two runners with valid tokens, only one claims the slot.
    let result = agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::ActiveTokenJti, Expr::value(jti))
        .filter(agent_loop::Column::Id.eq(row.id))
        .filter(agent_loop::Column::ActiveTokenJti.is_null())
        .filter(agent_loop::Column::Status.ne(StoredEnum(LoopStatus::Completed)))
        .exec(store.writer())
        .await?;
    if result.rows_affected == 1 {
        return Ok(());
    }
    // No row was updated. A concurrent request of the same runner may have claimed the slot with this token.
    let current = agent_loop::Entity::find_by_id(row.id).one(store.writer()).await?;
    if current.and_then(|row| row.active_token_jti) == Some(jti) { Ok(()) } else { Err(stale()) }
}
