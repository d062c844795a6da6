//! API keys of users and desktops.

use axum::extract::State;
use sea_orm::ActiveValue::Set;
use sea_orm::QueryOrder;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::AuditAction;
use crate::auth::SessionAuth;
use crate::bus::Topic;
use crate::credentials::api_key::{self as keys, Scope};
use crate::credentials::secret::sha256_hex;
use crate::envelope::{Data, DeleteResponse};
use crate::error::{ApiResult, ErrorResponses, ResultExt, ValidationIssues, forbidden, not_found};
use crate::extract::{Body, Id};
use crate::store::column::StoredEnum;
use crate::store::entity::api_key::{self, ApiKeySource};
use crate::store::{iso, now};

/// An API key without its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRecord {
    /// Id of the key.
    pub id: Uuid,
    /// Organization of the key.
    pub organization_id: Uuid,
    /// Id of the owner.
    pub user_id: Uuid,
    /// Name that the owner chose.
    pub name: String,
    /// Prefix of every API key.
    pub key_prefix: &'static str,
    /// Expiry, ISO 8601; null when it does not expire.
    pub expires_at: Option<String>,
    /// Scopes that the key grants.
    pub scopes: Vec<Scope>,
    /// Time of the last use, ISO 8601.
    pub last_used_at: Option<String>,
    /// Creation time, ISO 8601.
    pub created_at: String,
    /// Time of the revocation, ISO 8601; null for a valid key.
    pub revoked_at: Option<String>,
}

impl From<api_key::Model> for ApiKeyRecord {
    fn from(row: api_key::Model) -> Self {
        Self {
            scopes: keys::scopes(&row),
            id: row.id,
            organization_id: row.organization_id,
            user_id: row.user_id,
            name: row.name,
            key_prefix: loopgate_api::names::API_KEY_PREFIX,
            expires_at: row.expires_at.map(iso),
            last_used_at: row.last_used_at.map(iso),
            created_at: iso(row.created_at),
            revoked_at: row.revoked_at.map(iso),
        }
    }
}

/// A new API key with its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedApiKey {
    /// The key without its secret.
    #[serde(flatten)]
    pub record: ApiKeyRecord,
    /// API key in plain text; it cannot be retrieved again.
    pub plaintext: String,
}

/// API key to create.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateApiKey {
    /// Name, 1 to 100 characters.
    #[serde(default)]
    pub name: String,
    /// Expiry, ISO 8601; does not expire when absent.
    pub expires_at: Option<String>,
    /// Scopes to grant, at least one; `read`, `write` and `delete` by default. Only administrators can grant
    /// `admin`.
    pub scopes: Option<Vec<Scope>>,
}

/// Lists API keys, newest first: those of the organization for administrators, the caller's own for other
/// users.
#[utoipa::path(get, path = "/api-keys", tag = "api-keys", responses((status = 200, body = Data<Vec<ApiKeyRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<Data<Vec<ApiKeyRecord>>> {
    let mut keys_query =
        api_key::Entity::find().filter(api_key::Column::OrganizationId.eq(caller.organization_id()));
    if !caller.is_admin() {
        keys_query = keys_query.filter(api_key::Column::UserId.eq(caller.user.id));
    }
    let rows = keys_query.order_by_desc(api_key::Column::CreatedAt).all(app.store.reader()).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch API keys")?;
    Ok(Data::new(rows.into_iter().map(ApiKeyRecord::from).collect()))
}

/// Creates an API key. The response contains its secret, which cannot be retrieved again.
#[utoipa::path(post, path = "/api-keys", tag = "api-keys", request_body = CreateApiKey,
    responses((status = 200, body = Data<CreatedApiKey>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Body(body): Body<CreateApiKey>,
) -> ApiResult<Data<CreatedApiKey>> {
    let expires_at = check(&body)?;
    let mut scopes = body.scopes.unwrap_or_else(|| Scope::DEFAULT.to_vec());
    // A key must not grant more than the role of its creator.
    if scopes.contains(&Scope::Admin) && !caller.is_admin() {
        return Err(forbidden());
    }
    scopes.sort_unstable();
    scopes.dedup();
    let plaintext = keys::generate();
    let row = api_key::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(caller.organization_id()),
        user_id: Set(caller.user.id),
        name: Set(body.name),
        key_hash: Set(sha256_hex(&plaintext)),
        source: Set(StoredEnum(ApiKeySource::UserCreated)),
        scopes: Set(json!(scopes)),
        expires_at: Set(expires_at),
        created_at: Set(now()),
        ..Default::default()
    };
    let created = async {
        let tx = app.store.begin().await?;
        let row = api_key::Entity::insert(row).exec_with_returning(&tx).await?;
        let details = json!({"name": row.name, "scopes": row.scopes, "expiresAt": row.expires_at.map(iso)});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::KeyCreated, row.id, details).await?;
        tx.commit().await?;
        Ok(row)
    };
    let row = created.await.context("Failed to create API key")?;
    Ok(Data::new(CreatedApiKey { record: row.into(), plaintext }))
}

fn check(body: &CreateApiKey) -> ApiResult<Option<i64>> {
    let mut issues = ValidationIssues::default();
    issues.require(!body.name.is_empty(), "name", "Name is required");
    issues.length("name", &body.name, 0, 100);
    let expires_at = body.expires_at.as_ref().map(|text| text.parse::<jiff::Timestamp>());
    issues.require(!matches!(expires_at, Some(Err(_))), "expiresAt", "must be an ISO 8601 instant");
    let names_none = body.scopes.as_ref().is_some_and(Vec::is_empty);
    issues.require(!names_none, "scopes", "must name at least one scope");
    issues.into_result()?;
    Ok(expires_at.and_then(Result::ok).map(|at| at.as_millisecond()))
}

/// Revokes an API key and closes the connections that use it immediately.
#[utoipa::path(delete, path = "/api-keys/{id}", tag = "api-keys", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    id: Id,
) -> ApiResult<Data<DeleteResponse>> {
    let id = id.or_unknown("API key")?;
    let mut revocation = api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(now()))
        .filter(api_key::Column::Id.eq(id))
        .filter(api_key::Column::OrganizationId.eq(caller.organization_id()))
        // Keeps the time of an earlier revocation.
        .filter(api_key::Column::RevokedAt.is_null());
    if !caller.is_admin() {
        revocation = revocation.filter(api_key::Column::UserId.eq(caller.user.id));
    }
    let revoked = async {
        let tx = app.store.begin().await?;
        if revocation.exec(&tx).await?.rows_affected == 0 {
            return Err(not_found("API key"));
        }
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::KeyRevoked, id, json!({})).await?;
        Ok(tx.commit().await?)
    };
    revoked.await.context("Failed to delete API key")?;
    app.bus.publish(Topic::Credentials);
    Ok(DeleteResponse::answer())
}
