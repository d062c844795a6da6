//! The runner of a loop, by its token.

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
use crate::store::Store;
use crate::store::column::StoredEnum;
use crate::store::entity::agent_loop;

/// The claims of a request's token, which must be that of the loop in the path.
pub fn claims_for(
    app: &ControlPlaneState,
    parts: &Parts,
    path_id: Option<Uuid>,
) -> ApiResult<RunnerTokenClaims> {
    let refuse = |status, text: &str| ApiError::new(status, text);
    let token =
        bearer(&parts.headers).ok_or_else(|| refuse(StatusCode::UNAUTHORIZED, "Missing runner token"))?;
    let claims = app
        .runner_tokens
        .read(token)
        .ok_or_else(|| refuse(StatusCode::UNAUTHORIZED, "Invalid or expired runner token"))?;
    if Some(claims.sub) != path_id {
        return Err(refuse(StatusCode::FORBIDDEN, "Token does not match loop"));
    }
    Ok(claims)
}

/// A valid token of the loop in the path; whether a newer one has replaced it is not checked.
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

/// The runner of the loop in the path, its token in force.
#[derive(Debug, Clone)]
pub struct RunnerAuth {
    /// The loop as it was when the request came.
    pub row: agent_loop::Model,
    /// Claims of the token.
    pub claims: RunnerTokenClaims,
}

impl FromRequestParts<ControlPlaneState> for RunnerAuth {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &ControlPlaneState) -> ApiResult<Self> {
        let RunnerClaims(claims) = RunnerClaims::from_request_parts(parts, app).await?;
        let row = loop_of(&app.store, &claims).await.context("Authentication failed")?;
        hold_slot(&app.store, &row, claims.jti).await.context("Authentication failed")?;
        Ok(Self { row, claims })
    }
}

/// The loop that a token names.
pub async fn loop_of(store: &Store, claims: &RunnerTokenClaims) -> ApiResult<agent_loop::Model> {
    let row = agent_loop::Entity::find_by_id(claims.sub).one(store.reader()).await?;
    let row = row.ok_or_else(|| ApiError::new(StatusCode::FORBIDDEN, "Loop not found"))?;
    if row.organization_id != claims.organization_id {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Token org mismatch"));
    }
    Ok(row)
}

/// Demands that `jti` is the slot in force. An empty slot of an unfinished or badly ended loop is
/// taken again by the last token that was issued for it, and by no other.
pub async fn hold_slot(store: &Store, row: &agent_loop::Model, jti: Uuid) -> ApiResult<()> {
    let stale = || ApiError::new(StatusCode::UNAUTHORIZED, "jti_mismatch").code("jti_mismatch");
    match row.active_token_jti {
        Some(active) if active == jti => return Ok(()),
        Some(_) => return Err(stale()),
        None if row.status.0 == LoopStatus::Completed || row.last_token_jti != Some(jti) => {
            return Err(stale());
        }
        None => {}
    }
    let pinned = agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::ActiveTokenJti, Expr::value(jti))
        .filter(agent_loop::Column::Id.eq(row.id))
        .filter(agent_loop::Column::ActiveTokenJti.is_null())
        .filter(agent_loop::Column::Status.ne(StoredEnum(LoopStatus::Completed)))
        .exec(store.writer())
        .await?;
    if pinned.rows_affected == 1 {
        return Ok(());
    }
    let again = agent_loop::Entity::find_by_id(row.id).one(store.writer()).await?;
    if again.and_then(|row| row.active_token_jti) == Some(jti) { Ok(()) } else { Err(stale()) }
}
