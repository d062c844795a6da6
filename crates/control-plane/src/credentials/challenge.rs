//! Challenges with which a page proves to a loopback gateway which user is signed in.
//!
//! A challenge is a JWT that is valid for a minute and once: a row contains the id of an unused challenge,
//! and using it deletes the row.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use sea_orm::ActiveValue::Set;
use sea_orm::prelude::*;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use crate::error::{ApiError, ApiResult};
use crate::store::entity::challenge;
use crate::store::{Store, now};

// Audience and issuer keep tokens of one kind from being accepted as another, even with the same secret.
const AUDIENCE: &str = "desktop-local-gateway";
const ISSUER: &str = "loopgate-api";
// Long enough for the page's requests to the gateway and from there to the control plane.
const TTL_SECONDS: i64 = 60;
// Requirements for a secret: 256 bits for HS256, and enough different characters to exclude placeholders.
const SECRET_LENGTH: usize = 32;
const SECRET_VARIETY: usize = 8;

/// Claims of a challenge.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ChallengeClaims {
    pub sub: Uuid,
    #[serde(rename = "orgId")]
    pub organization_id: Uuid,
    /// Origin of the page that requested the challenge.
    pub origin: String,
    /// Id of the challenge, the key of its row.
    pub jti: Uuid,
    aud: String,
    iss: String,
    iat: i64,
    /// Expiry in seconds since the Unix epoch.
    pub exp: i64,
}

/// Issues and verifies challenges. Without an acceptable secret it does neither.
pub struct Challenges {
    keys: Option<(EncodingKey, DecodingKey)>,
    validation: Validation,
}

impl Challenges {
    /// Creates the signer. A secret that is too short or too uniform counts as missing.
    pub fn new(secret: &SecretString) -> Self {
        let text = secret.expose_secret();
        let variety = text.chars().collect::<std::collections::HashSet<_>>().len();
        let is_acceptable = text.chars().count() >= SECRET_LENGTH && variety >= SECRET_VARIETY;
        let keys = is_acceptable
            .then(|| (EncodingKey::from_secret(text.as_bytes()), DecodingKey::from_secret(text.as_bytes())));
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        // Issuer and verifier share this clock.
        validation.leeway = 0;
        Self { keys, validation }
    }

    /// Returns whether challenges can be issued.
    pub const fn is_configured(&self) -> bool {
        self.keys.is_some()
    }

    /// Issues a challenge. Returns it with its expiry in milliseconds since the Unix epoch.
    pub async fn issue(
        &self,
        store: &Store,
        user_id: Uuid,
        organization_id: Uuid,
        origin: &str,
    ) -> ApiResult<(String, i64)> {
        let (encoding, _) = self
            .keys
            .as_ref()
            .ok_or_else(|| ApiError::internal("LOCAL_GATEWAY_JWT_SECRET is missing or too weak"))?;
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

    /// Verifies a challenge's signature and expiry without consuming it.
    pub fn read(&self, token: &str) -> Option<ChallengeClaims> {
        let (_, decoding) = self.keys.as_ref()?;
        decode::<ChallengeClaims>(token, decoding, &self.validation).ok().map(|data| data.claims)
    }

    /// Consumes a challenge. Returns `false` when it was already consumed or has expired.
    pub async fn consume(&self, store: &Store, jti: Uuid) -> Result<bool, DbErr> {
        purge(store).await?;
        // The deletion decides between concurrent uses: only one of them deletes the row.
        let result = challenge::Entity::delete_by_id(jti).exec(store.writer()).await?;
        Ok(result.rows_affected == 1)
    }
}

async fn purge(store: &Store) -> Result<(), DbErr> {
    challenge::Entity::delete_many()
        .filter(challenge::Column::ExpiresAt.lte(now()))
        .exec(store.writer())
        .await?;
    Ok(())
}
