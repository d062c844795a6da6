//! API keys: format, lookup, scopes, and rotation of the keys of desktops.

use http::Method;
use loopgate_api::names::API_KEY_PREFIX;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use sea_orm::{Condition, DatabaseTransaction};
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;
use uuid::Uuid;

use super::secret::{random_secret, sha256_hex};
use crate::store::column::StoredEnum;
use crate::store::entity::api_key::{self, ApiKeySource};
use crate::store::{Store, now};

/// Scope of an API key. No scope includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Permits requests that only read.
    Read,
    /// Permits creating and changing resources, and connecting a desktop.
    Write,
    /// Permits requests with the method DELETE.
    Delete,
    /// Reserved for administrators to grant. No route requires it: administrative routes check the role of
    /// the key's owner.
    Admin,
}

impl Scope {
    /// Scopes of keys that are created without any, and of the keys of desktops.
    pub const DEFAULT: [Self; 3] = [Self::Read, Self::Write, Self::Delete];

    /// Returns the scope that a request with this method requires.
    pub fn required_by(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Self::Read,
            Method::DELETE => Self::Delete,
            _ => Self::Write,
        }
    }
}

/// Generates a key: the prefix and 64 hex digits.
pub fn generate() -> String {
    format!("{API_KEY_PREFIX}{}", hex::encode(random_secret()))
}

/// Finds the valid key with this plaintext.
pub async fn find(store: &Store, plaintext: &str) -> Result<Option<api_key::Model>, DbErr> {
    find_by_hash(store, &sha256_hex(plaintext)).await
}

/// Finds the key with this hash that is neither revoked nor expired.
pub async fn find_by_hash(store: &Store, hash: &str) -> Result<Option<api_key::Model>, DbErr> {
    api_key::Entity::find()
        .filter(api_key::Column::KeyHash.eq(hash))
        .filter(api_key::Column::RevokedAt.is_null())
        .filter(
            Condition::any()
                .add(api_key::Column::ExpiresAt.is_null())
                .add(api_key::Column::ExpiresAt.gt(now())),
        )
        .one(store.reader())
        .await
}

/// Returns the scopes of a key. Unknown scopes are ignored and grant nothing.
pub fn scopes(key: &api_key::Model) -> Vec<Scope> {
    let names = key.scopes.as_array().into_iter().flatten();
    names.filter_map(|scope| Scope::deserialize(scope).ok()).collect()
}

/// Returns whether a key has a scope.
pub fn has_scope(key: &api_key::Model, scope: Scope) -> bool {
    scopes(key).contains(&scope)
}

/// Records that a key was used.
pub async fn touch(store: &Store, id: Uuid) -> Result<(), DbErr> {
    api_key::Entity::update_many()
        .col_expr(api_key::Column::LastUsedAt, Expr::value(now()))
        .filter(api_key::Column::Id.eq(id))
        .exec(store.writer())
        .await?;
    Ok(())
}

/// Revokes the valid managed keys of a user's desktop.
pub async fn revoke_managed(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    user_id: Uuid,
    gateway_id: Uuid,
) -> Result<(), DbErr> {
    api_key::Entity::update_many()
        .col_expr(api_key::Column::RevokedAt, Expr::value(now()))
        .filter(api_key::Column::OrganizationId.eq(organization_id))
        .filter(api_key::Column::UserId.eq(user_id))
        .filter(api_key::Column::GatewayId.eq(gateway_id))
        .filter(api_key::Column::Source.eq(StoredEnum(ApiKeySource::DesktopManaged)))
        .filter(api_key::Column::RevokedAt.is_null())
        .exec(tx)
        .await?;
    Ok(())
}

/// Replaces the managed key of a user's desktop and returns the new plaintext.
pub async fn rotate_managed(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    user_id: Uuid,
    gateway_id: Uuid,
    public_key: String,
) -> Result<String, DbErr> {
    // The unique partial index allows one valid managed key, so revoke before inserting.
    revoke_managed(tx, organization_id, user_id, gateway_id).await?;
    let plaintext = generate();
    let row = api_key::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(organization_id),
        user_id: Set(user_id),
        name: Set(format!("Desktop {gateway_id}")),
        key_hash: Set(sha256_hex(&plaintext)),
        source: Set(StoredEnum(ApiKeySource::DesktopManaged)),
        scopes: Set(json!(Scope::DEFAULT)),
        gateway_id: Set(Some(gateway_id)),
        bound_public_key: Set(Some(public_key)),
        created_at: Set(now()),
        ..Default::default()
    };
    api_key::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(plaintext)
}
