//! Browser sessions of a user.

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

/// A browser in which the user is signed in.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SessionRecord {
    /// Hash of the session id. It identifies the session, but does not authenticate.
    pub id: String,
    /// Whether this request used the session.
    pub current: bool,
    /// IP address at sign-in.
    pub address: Option<String>,
    /// `User-Agent` header at sign-in.
    pub user_agent: Option<String>,
    /// Time of the sign-in, ISO 8601.
    pub created_at: String,
    /// Time of the last use, ISO 8601; up to five minutes behind.
    pub last_used_at: String,
    /// Expiry, ISO 8601; each use extends it.
    pub expires_at: String,
}

/// Lists the unexpired sessions of the user in all organizations, newest first.
#[utoipa::path(get, path = "/sessions", tag = "sessions", responses((status = 200, body = Data<Vec<SessionRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<Data<Vec<SessionRecord>>> {
    let rows = session::list(&app.store, caller.user.identity_id).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch sessions")?;
    // The time of the last use is not stored. Use extends the expiry to `now + ROLLING`, so it is derived
    // from that.
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

/// Revokes a session of the user and closes its streams immediately.
#[utoipa::path(delete, path = "/sessions/{id}", tag = "sessions", params(("id" = String, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Path(id): Path<String>,
) -> ApiResult<Data<DeleteResponse>> {
    let revoked = async {
        let tx = app.store.begin().await?;
        // Restricted to the caller's identity: other users' sessions are answered with 404.
        if !session::revoke(&tx, caller.user.identity_id, &id).await? {
            return Err(not_found("Session"));
        }
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::SessionRevoked, &id, json!({})).await?;
        Ok(tx.commit().await?)
    };
    revoked.await.context("Failed to end the session")?;
    // Wakes the streams of the session, which check their credential again and close.
    app.bus.publish(Topic::Credentials);
    Ok(DeleteResponse::answer())
}
