//! Keys of people and desktops.

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
use crate::store::entity::api_key::{self, KeySource};
use crate::store::{iso, now};

/// A key, never its secret.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ApiKeyRecord {
    /// Id.
    pub id: Uuid,
    /// Its organization.
    pub organization_id: Uuid,
    /// Its owner.
    pub user_id: Uuid,
    /// Its name.
    pub name: String,
    /// What every key begins with.
    pub key_prefix: &'static str,
    /// ISO 8601.
    pub expires_at: Option<String>,
    /// What it may be used for.
    pub scopes: Vec<Scope>,
    /// ISO 8601.
    pub last_used_at: Option<String>,
    /// ISO 8601.
    pub created_at: String,
    /// ISO 8601.
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

/// A new key, with its secret.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreatedApiKey {
    /// The record.
    #[serde(flatten)]
    pub record: ApiKeyRecord,
    /// The key itself; shown this once.
    pub plaintext: String,
}

/// A key to be made.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CreateApiKey {
    /// 1 to 100 characters.
    #[serde(default)]
    pub name: String,
    /// ISO 8601.
    pub expires_at: Option<String>,
    /// Exactly what the key may be used for; `read`, `write` and `delete` when left out. `admin` can
    /// only be granted by administrators.
    pub scopes: Option<Vec<Scope>>,
}

/// Keys of the whole organization for administrators, own ones for others; newest first.
#[utoipa::path(get, path = "/api-keys", tag = "api-keys", responses((status = 200, body = Data<Vec<ApiKeyRecord>>), ErrorResponses))]
pub async fn list(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
) -> ApiResult<Data<Vec<ApiKeyRecord>>> {
    let mut found =
        api_key::Entity::find().filter(api_key::Column::OrganizationId.eq(caller.organization_id()));
    if !caller.is_admin() {
        found = found.filter(api_key::Column::UserId.eq(caller.user.id));
    }
    let rows = found.order_by_desc(api_key::Column::CreatedAt).all(app.store.reader()).await;
    let rows = rows.map_err(Into::into).context("Failed to fetch API keys")?;
    Ok(Data::new(rows.into_iter().map(ApiKeyRecord::from).collect()))
}

/// Makes a key and shows its secret once.
#[utoipa::path(post, path = "/api-keys", tag = "api-keys", request_body = CreateApiKey,
    responses((status = 200, body = Data<CreatedApiKey>), ErrorResponses))]
pub async fn create(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    Body(body): Body<CreateApiKey>,
) -> ApiResult<Data<CreatedApiKey>> {
    let expires_at = check(&body)?;
    let mut scopes = body.scopes.unwrap_or_else(|| Scope::DEFAULT.to_vec());
    if scopes.contains(&Scope::Admin) && !caller.is_admin() {
        return Err(forbidden());
    }
    scopes.sort_unstable();
    scopes.dedup();
    let plaintext = keys::fresh();
    let row = api_key::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(caller.organization_id()),
        user_id: Set(caller.user.id),
        name: Set(body.name),
        key_hash: Set(sha256_hex(&plaintext)),
        source: Set(StoredEnum(KeySource::UserCreated)),
        scopes: Set(json!(scopes)),
        expires_at: Set(expires_at),
        created_at: Set(now()),
        ..Default::default()
    };
    let made = async {
        let tx = app.store.begin().await?;
        let row = api_key::Entity::insert(row).exec_with_returning(&tx).await?;
        let details = json!({"name": row.name, "scopes": row.scopes, "expiresAt": row.expires_at.map(iso)});
        let organization = caller.organization_id();
        caller.actor().record(&tx, organization, AuditAction::KeyCreated, row.id, details).await?;
        tx.commit().await?;
        Ok(row)
    };
    let row = made.await.context("Failed to create API key")?;
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

/// Revokes a key at once, also for a desktop that is connected with it.
#[utoipa::path(delete, path = "/api-keys/{id}", tag = "api-keys", params(("id" = Uuid, Path)),
    responses((status = 200, body = Data<DeleteResponse>), ErrorResponses))]
pub async fn delete(
    State(app): State<ControlPlaneState>,
    SessionAuth(caller): SessionAuth,
    id: Id,
) -> ApiResult<Data<DeleteResponse>> {
    let id = id.or_unknown("API key")?;
    let mut living = api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(now()))
        .filter(api_key::Column::Id.eq(id))
        .filter(api_key::Column::OrganizationId.eq(caller.organization_id()))
        .filter(api_key::Column::RevokedAt.is_null());
    if !caller.is_admin() {
        living = living.filter(api_key::Column::UserId.eq(caller.user.id));
    }
    let revoked = async {
        let tx = app.store.begin().await?;
        if living.exec(&tx).await?.rows_affected == 0 {
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
