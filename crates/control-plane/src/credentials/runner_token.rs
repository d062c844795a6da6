//! Runner tokens: the right of one desktop process to report about one loop.
//!
//! A token names its loop, its organization and a slot id (`jti`). The loop's row names the slot
//! that is in force, so exchanging a token makes the old one worthless.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};

/// Seconds that a token lives.
pub const TTL_SECONDS: i64 = 8 * 3600;

const AUDIENCE: &str = "loopgate-runner";
const ISSUER: &str = "loopgate-api";

/// Claims of a runner token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerTokenClaims {
    /// Id of the loop.
    pub sub: Uuid,
    /// Id of its organization.
    #[serde(rename = "orgId")]
    pub organization_id: Uuid,
    /// The slot.
    pub jti: Uuid,
    aud: String,
    iss: String,
    iat: i64,
    /// Seconds since the epoch.
    pub exp: i64,
}

/// A token that has just been made.
#[derive(Debug, Clone)]
pub struct IssuedToken {
    /// The token.
    pub token: SecretString,
    /// Its slot.
    pub jti: Uuid,
    /// Milliseconds since the epoch.
    pub expires_at: i64,
}

/// Signs and reads tokens.
pub struct RunnerTokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl RunnerTokens {
    /// Uses one secret for both directions.
    pub fn new(secret: &SecretString) -> Self {
        let secret = secret.expose_secret().as_bytes();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        validation.leeway = 0;
        Self {
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            validation,
        }
    }

    /// Makes a token for a loop.
    pub fn issue(&self, loop_id: Uuid, organization_id: Uuid, now_ms: i64) -> ApiResult<IssuedToken> {
        self.issue_for_slot(loop_id, organization_id, Uuid::new_v4(), now_ms)
    }

    /// Makes the token of a slot. The same arguments give the same token, so one whose answer was lost
    /// is made again and need not be stored.
    pub fn issue_for_slot(
        &self,
        loop_id: Uuid,
        organization_id: Uuid,
        jti: Uuid,
        now_ms: i64,
    ) -> ApiResult<IssuedToken> {
        let iat = now_ms / 1000;
        let claims = RunnerTokenClaims {
            sub: loop_id,
            organization_id,
            jti,
            aud: AUDIENCE.to_owned(),
            iss: ISSUER.to_owned(),
            iat,
            exp: iat + TTL_SECONDS,
        };
        let token = encode(&Header::default(), &claims, &self.encoding).map_err(ApiError::internal)?;
        Ok(IssuedToken { token: token.into(), jti: claims.jti, expires_at: claims.exp * 1000 })
    }

    /// Reads a token; no database is asked.
    pub fn read(&self, token: &str) -> Option<RunnerTokenClaims> {
        decode::<RunnerTokenClaims>(token, &self.decoding, &self.validation).ok().map(|data| data.claims)
    }
}

/// Whether a bearer credential has the form of a runner token; session ids and keys have no dots.
pub fn looks_like_token(bearer: &str) -> bool {
    bearer.matches('.').count() == 2
}
