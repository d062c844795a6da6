//! Runner tokens, with which a runner reports the progress of one loop.
//!
//! A token contains its loop, organization and slot id (`jti`). The loop's row contains the slot in force, so
//! exchanging a token invalidates the old one.

use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::{ApiError, ApiResult};
use crate::store::entity::agent_loop;

/// Lifetime of a token in seconds. Runners exchange it before it expires.
const TTL_SECONDS: i64 = 8 * 3600;

const AUDIENCE: &str = "loopgate-runner";
const ISSUER: &str = "loopgate-api";

/// Claims of a runner token.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunnerTokenClaims {
    pub sub: Uuid,
    /// Organization of the loop.
    #[serde(rename = "orgId")]
    pub organization_id: Uuid,
    /// Token slot; the token is in force while the loop's row contains it.
    pub jti: Uuid,
    aud: String,
    iss: String,
    iat: i64,
    /// Expiry in seconds since the Unix epoch.
    pub exp: i64,
}

/// A newly issued token.
#[derive(Debug, Clone)]
pub struct IssuedToken {
    pub token: SecretString,
    /// Token slot of the token.
    pub jti: Uuid,
    /// Expiry in milliseconds since the Unix epoch.
    pub expires_at: i64,
}

/// Issues and verifies runner tokens.
pub struct RunnerTokens {
    encoding: EncodingKey,
    decoding: DecodingKey,
    validation: Validation,
}

impl RunnerTokens {
    /// Creates the signer from a shared secret (HS256).
    pub fn new(secret: &SecretString) -> Self {
        let secret = secret.expose_secret().as_bytes();
        let mut validation = Validation::new(Algorithm::HS256);
        validation.set_audience(&[AUDIENCE]);
        validation.set_issuer(&[ISSUER]);
        validation.set_required_spec_claims(&["exp", "aud", "iss", "sub"]);
        // The tokens are verified by the server that issued them, so clock skew is no concern.
        validation.leeway = 0;
        Self {
            encoding: EncodingKey::from_secret(secret),
            decoding: DecodingKey::from_secret(secret),
            validation,
        }
    }

    /// Issues a token with a new slot for a loop.
    pub fn issue(&self, loop_id: Uuid, organization_id: Uuid, now_ms: i64) -> ApiResult<IssuedToken> {
        self.issue_for_slot(loop_id, organization_id, Uuid::new_v4(), now_ms)
    }

    /// Issues a token for a given slot. The result depends only on the arguments, so the token of a lost
    /// response can be issued again and need not be stored.
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

    /// Issues the token in force of a loop again; `None` when the loop has none.
    pub fn in_force(&self, row: &agent_loop::Model) -> ApiResult<Option<IssuedToken>> {
        let Some((jti, expires_at)) = row.active_token_jti.zip(row.token_expires_at) else { return Ok(None) };
        let issued_at = expires_at - TTL_SECONDS * 1000;
        self.issue_for_slot(row.id, row.organization_id, jti, issued_at).map(Some)
    }

    /// Verifies signature, expiry, audience and issuer. Does not check whether the slot is in force.
    pub fn read(&self, token: &str) -> Option<RunnerTokenClaims> {
        decode::<RunnerTokenClaims>(token, &self.decoding, &self.validation).ok().map(|data| data.claims)
    }
}

/// Returns whether a bearer credential has the form of a JWT. API keys contain no dots.
pub fn looks_like_token(bearer: &str) -> bool {
    bearer.matches('.').count() == 2
}
