//! Challenges with which a page proves to a loopback gateway who is signed in.
//!
//! Signed, alive for a minute, and used once: the id of an unused one is a row, and using it
//! deletes the row.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};
use crate::store::entity::challenge;
use crate::store::{Store, now};

const AUDIENCE: &str = "desktop-local-gateway";
const ISSUER: &str = "loopgate-api";
const TTL_SECONDS: i64 = 60;
const SECRET_LENGTH: usize = 32;
const SECRET_VARIETY: usize = 8;

/// Claims of a challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChallengeClaims {
    /// Id of the user.
    pub sub: Uuid,
    /// Id of the organization.
    #[serde(rename = "orgId")]
    pub organization_id: Uuid,
    /// Origin of the page.
    pub origin: String,
    /// Its id.
    pub jti: Uuid,
    aud: String,
    iss: String,
    iat: i64,
    /// Seconds since the epoch.
    pub exp: i64,
}

/// Signs and reads challenges; without a good secret there are none.
pub struct Challenges {
    keys: Option<(EncodingKey, DecodingKey)>,
    validation: Validation,
}

impl Challenges {
    /// A secret that is too short or too plain counts as none.
    pub fn new(secret: &SecretString) -> Self {
        let text = secret.expose_secret();
        let variety = text.chars().collect::<std::collections::HashSet<_>>().len();
        let good = text.chars().count() >= SECRET_LENGTH && variety >= SECRET_VARIETY;
        let keys = good
            .then(|| (EncodingKey::from_secret(text.as_bytes()), DecodingKey::from_secret(text.as_bytes())));
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        validation.leeway = 0;
        Self { keys, validation }
    }

    /// Whether challenges can be made at all.
    pub const fn is_configured(&self) -> bool {
        self.keys.is_some()
    }

    /// Makes a challenge; answers it with its end in milliseconds since the epoch.
    pub async fn issue(
        &self,
        store: &Store,
        user_id: Uuid,
        organization_id: Uuid,
        origin: &str,
    ) -> ApiResult<(String, i64)> {
        let (encoding, _) = self.keys.as_ref().ok_or_else(|| ApiError::internal("no challenge secret"))?;
        let iat = now() / 1000;
        let claims = ChallengeClaims {
            sub: user_id,
            organization_id,
            origin: origin.to_owned(),
            jti: Uuid::new_v4(),
            aud: AUDIENCE.to_owned(),
            iss: ISSUER.to_owned(),
            iat,
            exp: iat + TTL_SECONDS,
        };
        purge(store).await?;
        let row = challenge::ActiveModel { jti: Set(claims.jti), expires_at: Set(claims.exp * 1000) };
        challenge::Entity::insert(row).exec_without_returning(store.writer()).await?;
        let token = encode(&Header::default(), &claims, encoding).map_err(ApiError::internal)?;
        Ok((token, claims.exp * 1000))
    }

    /// Reads a challenge.
    pub fn read(&self, token: &str) -> Option<ChallengeClaims> {
        let (_, decoding) = self.keys.as_ref()?;
        decode::<ChallengeClaims>(token, decoding, &self.validation).ok().map(|data| data.claims)
    }

    /// Consumes a challenge; `false` when it was consumed before or has expired.
    pub async fn consume(&self, store: &Store, jti: Uuid) -> Result<bool, DbErr> {
        purge(store).await?;
        let used = challenge::Entity::delete_by_id(jti).exec(store.writer()).await?;
        Ok(used.rows_affected == 1)
    }
}

async fn purge(store: &Store) -> Result<(), DbErr> {
    challenge::Entity::delete_many()
        .filter(challenge::Column::ExpiresAt.lte(now()))
        .exec(store.writer())
        .await?;
    Ok(())
}
