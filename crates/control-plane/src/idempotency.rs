//! Requests that may be sent several times, but take effect once.
//!
//! The client creates a key with its form and sends it with each attempt. The transaction that carries out the request
//! stores what it created under the key, so that a repetition returns the same document or loop: after a lost
//! response, a second press of the button, or in another tab.

use axum::extract::FromRequestParts;
use http::request::Parts;
use loopgate_api::link::canonical_json;
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, DatabaseTransaction};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::app::ControlPlaneState;
use crate::auth::Caller;
use crate::error::{ApiError, ApiResult, bad_request, conflict};
use crate::store::entity::keyed_request;
use crate::store::now;

const HEADER: &str = "idempotency-key";
const KEY_LIMIT: usize = 200;
/// Milliseconds for which a key is kept.
const KEPT: i64 = 24 * 60 * 60 * 1000;

/// The header `Idempotency-Key` of a request, 1 to 200 visible ASCII characters.
pub struct IdempotencyKey(Option<String>);

impl FromRequestParts<ControlPlaneState> for IdempotencyKey {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &ControlPlaneState) -> ApiResult<Self> {
        let Some(value) = parts.headers.get(HEADER) else { return Ok(Self(None)) };
        let key = value.to_str().map(str::trim).unwrap_or_default();
        if key.is_empty() || key.len() > KEY_LIMIT {
            return Err(bad_request("Idempotency-Key must have 1 to 200 visible ASCII characters"));
        }
        Ok(Self(Some(key.to_owned())))
    }
}

impl IdempotencyKey {
    /// Returns the key with the fingerprint of the request, or `None` for a request without a key. `request` consists
    /// of everything that all attempts have in common: not of signatures.
    pub fn of(self, caller: &Caller, request: &impl Serialize) -> ApiResult<Option<KeyedRequest>> {
        let Some(key) = self.0 else { return Ok(None) };
        let json = canonical_json(&serde_json::to_value(request)?);
        Ok(Some(KeyedRequest {
            user_id: caller.user.id,
            key,
            fingerprint: hex::encode(Sha256::digest(json)),
        }))
    }
}

/// A request with an idempotency key.
#[derive(Debug, Clone)]
pub struct KeyedRequest {
    user_id: Uuid,
    key: String,
    fingerprint: String,
}

/// What a request created.
#[derive(Debug, Clone, Copy, Default)]
pub struct CreatedRows {
    pub document_id: Option<Uuid>,
    pub loop_id: Option<Uuid>,
}

/// Returns what an earlier attempt of a request created; nothing for a first attempt, and for a request without a key.
/// Returns 409 when the key was sent with another request.
pub async fn earlier(db: &impl ConnectionTrait, request: Option<&KeyedRequest>) -> ApiResult<CreatedRows> {
    let Some(request) = request else { return Ok(CreatedRows::default()) };
    let row = keyed_request::Entity::find_by_id((request.user_id, request.key.clone())).one(db).await?;
    let Some(row) = row.filter(|row| row.created_at > now() - KEPT) else {
        return Ok(CreatedRows::default());
    };
    if row.fingerprint != request.fingerprint {
        return Err(
            conflict("Idempotency key collision with different payload").code("idempotency_key_collision")
        );
    }
    Ok(CreatedRows { document_id: row.document_id, loop_id: row.loop_id })
}

impl KeyedRequest {
    /// Returns the idempotency key of the command that carries out the request. Keys of users, and of kinds of requests, are
    /// independent of each other.
    pub fn command_key(&self, kind: &str) -> String {
        format!("{kind}:{}:{}", self.user_id, self.key)
    }

    /// Stores what the request created, in its transaction, and removes the expired keys of the user.
    pub async fn store(self, tx: &DatabaseTransaction, created: CreatedRows) -> Result<(), DbErr> {
        keyed_request::Entity::delete_many()
            .filter(keyed_request::Column::UserId.eq(self.user_id))
            .filter(keyed_request::Column::CreatedAt.lte(now() - KEPT))
            .exec(tx)
            .await?;
        let row = keyed_request::ActiveModel {
            user_id: Set(self.user_id),
            key: Set(self.key),
            fingerprint: Set(self.fingerprint),
            document_id: Set(created.document_id),
            loop_id: Set(created.loop_id),
            created_at: Set(now()),
        };
        keyed_request::Entity::insert(row).exec_without_returning(tx).await.map(drop)
    }
}
