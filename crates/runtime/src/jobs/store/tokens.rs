//! Runner tokens at rest: sealed by the desktop's vault, opened only for a call.

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

/// A token and what is known of it.
#[derive(Debug, Clone)]
pub struct StoredToken {
    /// The token.
    pub token: TokenText,
    /// End of its life, milliseconds since the epoch, when it says so itself.
    pub expires_at: Option<i64>,
    /// Its id.
    pub jti: Option<String>,
    /// Key of a refresh that was begun and not finished.
    pub last_idempotency_key: Option<String>,
}

/// A token that cannot be printed.
#[derive(Debug, Clone)]
pub struct TokenText(pub SecretString);

/// The sealed form. Never leaves this file in plain text.
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
    /// A token as it came: its end and id are read from it when it is a JWT.
    #[must_use]
    pub fn new(token: SecretString) -> Self {
        let claims = claims(token.expose_secret());
        let expires_at =
            claims.as_ref().and_then(|claims| claims.get("exp")?.as_i64()).map(|seconds| seconds * 1000);
        let jti = claims.as_ref().and_then(|claims| claims.get("jti")?.as_str()).map(str::to_owned);
        Self { token: TokenText(token), expires_at, jti, last_idempotency_key: None }
    }
}

/// The claims of a JWT, unverified: only its issuer can verify it, and only its end matters here.
fn claims(token: &str) -> Option<Value> {
    let payload = token.split('.').nth(1)?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?).ok()
}

impl JobStore {
    /// Stores the token of a loop.
    ///
    /// # Errors
    /// [`StoreError::Seal`], [`StoreError::Database`].
    pub async fn put_token(&self, id: LoopId, stored: &StoredToken) -> Result<(), StoreError> {
        let plain = TokenDocument {
            token: stored.token.0.expose_secret().to_owned(),
            expires_at: stored.expires_at,
            jti: stored.jti.clone(),
            last_idempotency_key: stored.last_idempotency_key.clone(),
        };
        let sealed = self.credentials.seal(&serde_json::to_vec(&plain)?).ok_or(StoreError::Seal)?;
        let row = token::ActiveModel {
            loop_id: ActiveValue::Set(id.to_string()),
            sealed: ActiveValue::Set(sealed),
        };
        let replace =
            OnConflict::column(token::Column::LoopId).update_column(token::Column::Sealed).to_owned();
        token::Entity::insert(row).on_conflict(replace).exec_without_returning(&self.db).await?;
        self.durable.reached(&self.db).await;
        Ok(())
    }

    /// The token of a loop; one that cannot be opened counts as absent.
    ///
    /// # Errors
    /// [`StoreError::Database`].
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

    /// Forgets the token of a loop.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn delete_token(&self, id: LoopId) -> Result<(), StoreError> {
        token::Entity::delete_by_id(id.to_string()).exec(&self.db).await?;
        self.durable.reached(&self.db).await;
        Ok(())
    }

    /// The loops of which a token is stored.
    ///
    /// # Errors
    /// [`StoreError::Database`].
    pub async fn loops_with_token(&self) -> Result<Vec<LoopId>, StoreError> {
        let rows = token::Entity::find().all(&self.db).await?;
        Ok(rows.iter().filter_map(|row| row.loop_id.parse().ok()).collect())
    }
}
