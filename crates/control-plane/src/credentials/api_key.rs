//! API keys: how they look, how they are found, and how a desktop's key is replaced.

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
use crate::store::entity::api_key::{self, KeySource};
use crate::store::{Store, now};

/// What a key may be used for. No scope includes another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Reads.
    Read,
    /// Makes and changes things, and connects a desktop.
    Write,
    /// Deletes.
    Delete,
    /// Only administrators may grant it. No route asks for it: what only administrators may do is
    /// decided by the role of the key's owner.
    Admin,
}

impl Scope {
    /// Scopes of a key for which none were asked, and of the keys of desktops.
    pub const DEFAULT: [Self; 3] = [Self::Read, Self::Write, Self::Delete];

    /// The scope that a request with this method needs, on every route that takes a key.
    pub fn required_by(method: &Method) -> Self {
        match *method {
            Method::GET | Method::HEAD => Self::Read,
            Method::DELETE => Self::Delete,
            _ => Self::Write,
        }
    }
}

/// A fresh key: the prefix and 64 hex digits.
pub fn fresh() -> String {
    format!("{API_KEY_PREFIX}{}", hex::encode(random_secret()))
}

/// Finds the living key with this plaintext.
pub async fn find(store: &Store, plaintext: &str) -> Result<Option<api_key::Model>, DbErr> {
    find_by_hash(store, &sha256_hex(plaintext)).await
}

/// Finds the living key whose plaintext has this hash.
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

/// The scopes of a key. What is stored and unknown here grants nothing.
pub fn scopes(key: &api_key::Model) -> Vec<Scope> {
    let stored = key.scopes.as_array().into_iter().flatten();
    stored.filter_map(|scope| Scope::deserialize(scope).ok()).collect()
}

/// Whether a key has a scope.
pub fn has_scope(key: &api_key::Model, scope: Scope) -> bool {
    scopes(key).contains(&scope)
}

/// Notes that a key was accepted.
pub async fn touch(store: &Store, id: Uuid) -> Result<(), DbErr> {
    api_key::Entity::update_many()
        .col_expr(api_key::Column::LastUsedAt, Expr::value(now()))
        .filter(api_key::Column::Id.eq(id))
        .exec(store.writer())
        .await?;
    Ok(())
}

/// Revokes the living managed keys of a person's desktop.
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
        .filter(api_key::Column::Source.eq(StoredEnum(KeySource::DesktopManaged)))
        .filter(api_key::Column::RevokedAt.is_null())
        .exec(tx)
        .await?;
    Ok(())
}

/// Makes a new managed key for a person's desktop in place of the living ones, and answers its plaintext.
pub async fn rotate_managed(
    tx: &DatabaseTransaction,
    organization_id: Uuid,
    user_id: Uuid,
    gateway_id: Uuid,
    public_key: String,
) -> Result<String, DbErr> {
    revoke_managed(tx, organization_id, user_id, gateway_id).await?;
    let plaintext = fresh();
    let row = api_key::ActiveModel {
        id: Set(Uuid::now_v7()),
        organization_id: Set(organization_id),
        user_id: Set(user_id),
        name: Set(format!("Desktop {gateway_id}")),
        key_hash: Set(sha256_hex(&plaintext)),
        source: Set(StoredEnum(KeySource::DesktopManaged)),
        scopes: Set(json!(Scope::DEFAULT)),
        gateway_id: Set(Some(gateway_id)),
        bound_public_key: Set(Some(public_key)),
        created_at: Set(now()),
        ..Default::default()
    };
    api_key::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(plaintext)
}
