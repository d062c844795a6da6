//! Runner tokens at rest: sealed with the desktop's key and decrypted only for a call.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use loopgate_api::ids::LoopId;
use sea_orm::sea_query::OnConflict;
use sea_orm::{ActiveValue, EntityTrait as _};
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::entity::token;
use super::{JobStore, StoreError};

/// A token with the values of its claims.
#[derive(Debug, Clone)]
pub struct StoredToken {
    pub token: TokenText,
    /// Expiry, milliseconds since the epoch, when known.
    pub expires_at: Option<i64>,
    /// Token id (`jti` claim), when known.
    pub jti: Option<String>,
    /// Idempotency key of a refresh that is not completed.
    pub last_idempotency_key: Option<String>,
}

/// A token text; `Debug` does not print the secret.
#[derive(Debug, Clone)]
pub struct TokenText(pub SecretString);

/// Plain text of the sealed document; only stored after encryption.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TokenDocument {
    token: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    jti: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_idempotency_key: Option<String>,
}

impl StoredToken {
    /// Creates a token; expiry and id are read from its claims when it is a JWT.
    #[must_use]
    pub fn new(token: SecretString) -> Self {
        let claims = claims(token.expose_secret());
        let expires_at =
            claims.as_ref().and_then(|claims| claims.get("exp")?.as_i64()).map(|seconds| seconds * 1000);
        let jti = claims.as_ref().and_then(|claims| claims.get("jti")?.as_str()).map(str::to_owned);
        Self { token: TokenText(token), expires_at, jti, last_idempotency_key: None }
    }
}

/// Returns the claims of a JWT without verification: only the issuer can verify them, and here they only
/// schedule the renewal.
fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?).ok()
}

impl JobStore {
    /// Stores the token of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError::Seal`] or [`StoreError::Database`].
    pub async fn put_token(&self, id: LoopId, stored_token: &StoredToken) -> Result<(), StoreError> {
        let plain = TokenDocument {
            token: stored_token.token.0.expose_secret().to_owned(),
            expires_at: stored_token.expires_at,
            jti: stored_token.jti.clone(),
            last_idempotency_key: stored_token.last_idempotency_key.clone(),
        };
        let sealed = self.credentials.seal(&serde_json::to_vec(&plain)?).ok_or(StoreError::Seal)?;
        let row = token::ActiveModel {
            loop_id: ActiveValue::Set(id.to_string()),
            sealed: ActiveValue::Set(sealed),
        };
        let replace =
            OnConflict::column(token::Column::LoopId).update_column(token::Column::Sealed).to_owned();
        token::Entity::insert(row).on_conflict(replace).exec_without_returning(&self.db).await?;
        self.durable.flush(&self.db).await;
        Ok(())
    }

    /// Returns the token of a loop; a token that cannot be decrypted counts as absent.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the row cannot be read.
    pub async fn token(&self, id: LoopId) -> Result<Option<StoredToken>, StoreError> {
        let row = token::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.and_then(|row| {
            let plain: TokenDocument =
                serde_json::from_slice(&self.credentials.open_sealed(&row.sealed)?).ok()?;
            Some(StoredToken {
                token: TokenText(plain.token.into()),
                expires_at: plain.expires_at,
                jti: plain.jti,
                last_idempotency_key: plain.last_idempotency_key,
            })
        }))
    }

    /// Deletes the token of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the row cannot be deleted.
    pub async fn delete_token(&self, id: LoopId) -> Result<(), StoreError> {
        token::Entity::delete_by_id(id.to_string()).exec(&self.db).await?;
        self.durable.flush(&self.db).await;
        Ok(())
    }

    /// Returns the loops that have a stored token.
    ///
    /// # Errors
    /// Fails with [`StoreError::Database`] when the rows cannot be read.
    pub async fn loops_with_token(&self) -> Result<Vec<LoopId>, StoreError> {
        let rows = token::Entity::find().all(&self.db).await?;
        Ok(rows.iter().filter_map(|row| row.loop_id.parse().ok()).collect())
    }
}
