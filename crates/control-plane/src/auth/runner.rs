//! Runner tokens: the right of one desktop process to report about one loop.
//!
//! A token names its loop, its organization and a slot id (`jti`). The loop's row names the slot
//! that is in force, so exchanging a token makes the old one worthless.

use axum::extract::{FromRef, FromRequestParts, RawPathParams};
use http::StatusCode;
use http::request::Parts;
use jsonwebtoken::{Algorithm, DecodingKey, EncodingKey, Header, Validation, decode, encode};
use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::bearer;
use crate::app::App;
use crate::error::{ApiError, ApiResult, Named};
use crate::store::Store;
use crate::store::column::Word;
use crate::store::entity::agent_loop;

/// Seconds that a token lives.
pub const TTL_SECONDS: i64 = 8 * 3600;

const AUDIENCE: &str = "loopgate-runner";
const ISSUER: &str = "loopgate-api";

/// What a token says.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Claims {
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
pub struct Issued {
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
    pub fn issue(&self, loop_id: Uuid, organization_id: Uuid, now_ms: i64) -> ApiResult<Issued> {
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
    ) -> ApiResult<Issued> {
        let iat = now_ms / 1000;
        let claims = Claims {
            sub: loop_id,
            organization_id,
            jti,
            aud: AUDIENCE.to_owned(),
            iss: ISSUER.to_owned(),
            iat,
            exp: iat + TTL_SECONDS,
        };
        let token = encode(&Header::default(), &claims, &self.encoding).map_err(ApiError::internal)?;
        Ok(Issued { token: token.into(), jti: claims.jti, expires_at: claims.exp * 1000 })
    }

    /// Reads a token; no database is asked.
    pub fn read(&self, token: &str) -> Option<Claims> {
        decode::<Claims>(token, &self.decoding, &self.validation).ok().map(|data| data.claims)
    }
}

/// Whether a bearer credential has the form of a runner token; session ids and keys have no dots.
pub fn looks_like_token(bearer: &str) -> bool {
    bearer.matches('.').count() == 2
}

/// The claims of a request's token, which must be that of the loop in the path.
pub fn claims_for(app: &App, parts: &Parts, path_id: Option<Uuid>) -> ApiResult<Claims> {
    let refuse = |status, text: &str| ApiError::new(status, text);
    let token =
        bearer(&parts.headers).ok_or_else(|| refuse(StatusCode::UNAUTHORIZED, "Missing runner token"))?;
    let claims = app
        .runner_tokens
        .read(token)
        .ok_or_else(|| refuse(StatusCode::UNAUTHORIZED, "Invalid or expired runner token"))?;
    if Some(claims.sub) != path_id {
        return Err(refuse(StatusCode::FORBIDDEN, "Token does not match loop"));
    }
    Ok(claims)
}

/// A valid token of the loop in the path, its slot not yet looked at.
#[derive(Debug, Clone)]
pub struct RunnerClaims(pub Claims);

impl<S: Send + Sync> FromRequestParts<S> for RunnerClaims
where
    App: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let path = RawPathParams::from_request_parts(parts, state).await.ok();
        let id = path.as_ref().and_then(|path| path.iter().find(|(name, _)| *name == "id"));
        let id = id.and_then(|(_, text)| Uuid::try_parse(text).ok());
        claims_for(&App::from_ref(state), parts, id).map(Self)
    }
}

/// The runner of the loop in the path, its token in force.
#[derive(Debug, Clone)]
pub struct Runner {
    /// The loop as it was when the request came.
    pub row: agent_loop::Model,
    /// What the token says.
    pub claims: Claims,
}

impl<S: Send + Sync> FromRequestParts<S> for Runner
where
    App: FromRef<S>,
{
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        let RunnerClaims(claims) = RunnerClaims::from_request_parts(parts, state).await?;
        let app = App::from_ref(state);
        let row = loop_of(&app.store, &claims).await.named("Authentication failed")?;
        hold_slot(&app.store, &row, claims.jti).await.named("Authentication failed")?;
        Ok(Self { row, claims })
    }
}

/// The loop that a token names.
pub async fn loop_of(store: &Store, claims: &Claims) -> ApiResult<agent_loop::Model> {
    let row = agent_loop::Entity::find_by_id(claims.sub).one(store.reader()).await?;
    let row = row.ok_or_else(|| ApiError::new(StatusCode::FORBIDDEN, "Loop not found"))?;
    if row.organization_id != claims.organization_id {
        return Err(ApiError::new(StatusCode::FORBIDDEN, "Token org mismatch"));
    }
    Ok(row)
}

/// Demands that `jti` is the slot in force. An empty slot of an unfinished or badly ended loop is
/// taken again by the last token that was issued for it, and by no other.
pub async fn hold_slot(store: &Store, row: &agent_loop::Model, jti: Uuid) -> ApiResult<()> {
    let stale = || ApiError::new(StatusCode::UNAUTHORIZED, "jti_mismatch").code("jti_mismatch");
    match row.active_token_jti {
        Some(active) if active == jti => return Ok(()),
        Some(_) => return Err(stale()),
        None if row.status.0 == LoopStatus::Completed || row.last_token_jti != Some(jti) => {
            return Err(stale());
        }
        None => {}
    }
    let pinned = agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::ActiveTokenJti, Expr::value(jti))
        .filter(agent_loop::Column::Id.eq(row.id))
        .filter(agent_loop::Column::ActiveTokenJti.is_null())
        .filter(agent_loop::Column::Status.ne(Word(LoopStatus::Completed)))
        .exec(store.writer())
        .await?;
    if pinned.rows_affected == 1 {
        return Ok(());
    }
    let again = agent_loop::Entity::find_by_id(row.id).one(store.writer()).await?;
    if again.and_then(|row| row.active_token_jti) == Some(jti) { Ok(()) } else { Err(stale()) }
}
