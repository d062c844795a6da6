//! The browsers in which a person is signed in.

use axum::extract::{Path, State};
use serde::Serialize;
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::SessionAuth;
use crate::bus::Topic;
use crate::credentials::session;
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, not_found};
use crate::store::iso;

/// A browser that is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Names the session; signs nobody in.
    pub id: String,
    /// Whether this request came with it.
    pub current: bool,
    /// Where the sign-in came from.
    pub address: Option<String>,
    /// What the browser calls itself.
    pub user_agent: Option<String>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601; up to five minutes late.
    pub last_used_at: String,
    /// ISO 8601; use moves it.
    pub expires_at: String,
}

/// The living sessions of the person, in all its organizations, newest first.
#[utoipa::path(get, path = "/sessions", tag = "sessions", responses((status = 200, body = Data<Vec<SessionRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<Data<Vec<SessionRecord>>> {
    let rows = session::list(&app.store, caller.user.identity_id).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch sessions")?;
    let record = |row: crate::store::entity::session::Model| SessionRecord {
        current: caller.session.as_deref() == Some(row.id_hash.as_str()),
        last_used_at: iso(row.created_at.max(row.expires_at - session::ROLLING)),
        id: row.id_hash,
        address: row.address,
        user_agent: row.user_agent,
        created_at: iso(row.created_at),
        expires_at: iso(row.expires_at),
    };
    Ok(Data::new(rows.into_iter().map(record).collect()))
}

/// Ends a session of the person at once, with the streams that it opened.
#[utoipa::path(delete, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Path(id): Path<String>,
) -> ApiResult<Data<DeleteResponse>> {
    let ended = async {
        let tx = app.store.begin().await?;
        if !session::revoke(&tx, caller.user.identity_id, &id).await? {
            return Err(not_found("Session"));
        }
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::SessionRevoked, &id, json!({})).await?;
        Ok(tx.commit().await?)
    };
    ended.await.context("Failed to end the session")?;
    app.bus.publish(Topic::Credentials);
    Ok(DeleteResponse::answer())
}
