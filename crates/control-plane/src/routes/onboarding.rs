//! Onboarding of a desktop: a signed-in user creates a one-time attempt, and the desktop exchanges it,
//! together with its public key, for an API key that is bound to that public key.
//!
//! Responses of these routes have no envelope, and must never be cached.

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};
use sea_orm::ActiveValue::Set;
use sea_orm::DatabaseTransaction;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde::{Deserialize, Serialize};
use serde_json::json;
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::audit::{Actor, AuditAction};
use crate::auth::{Caller, ClientInfo, SessionAuth};
use crate::bus::Topic;
use crate::credentials::header::header;
use crate::credentials::secret::{random_secret, sha256_hex};
use crate::credentials::{api_key, proof};
use crate::error::ApiError;
use crate::extract::Body;
use crate::store::entity::{onboarding_attempt, user};
use crate::store::{Store, is_duplicate, iso, now};

// Time in which an attempt can be claimed, in milliseconds. One hour is enough to install the program first.
const ATTEMPT_TTL: i64 = 60 * 60 * 1000;
const ORIGIN_LIMIT: usize = 2048;
const ATTEMPT_ID_LIMIT: usize = 255;
const PEM_LIMIT: usize = 2048;
const PLATFORM_LIMIT: usize = 64;

/// Body of an error response of these routes.
#[derive(Debug, Serialize, ToSchema)]
pub struct OnboardingFailure {
    /// Stable code of the error.
    pub code: &'static str,
    /// Whether a retry of the same request can succeed.
    pub retryable: bool,
}

/// Error response: status and body.
#[derive(Debug)]
pub struct OnboardingError(StatusCode, OnboardingFailure);

const fn failure(status: StatusCode, code: &'static str, retryable: bool) -> OnboardingError {
    OnboardingError(status, OnboardingFailure { code, retryable })
}

impl IntoResponse for OnboardingError {
    fn into_response(self) -> Response {
        (self.0, [(CACHE_CONTROL, "no-store")], Json(self.1)).into_response()
    }
}

fn no_store(answer: impl Serialize) -> Response {
    ([(CACHE_CONTROL, "no-store")], Json(answer)).into_response()
}

/// Request for an onboarding attempt.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct AttemptRequest {
    /// Origin of the page, for example `https://loopgate.example.com`.
    pub web_app_origin: String,
    /// Accepted for compatibility and ignored.
    pub platform: Option<String>,
}

/// A one-time permission to connect a desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OnboardingAttempt {
    /// Secret of 43 characters; the only credential of the desktop for the claim.
    pub onboarding_attempt_id: String,
    /// Expiry, ISO 8601; one hour after creation.
    pub expires_at: String,
}

/// Creates an onboarding attempt for the signed-in user.
#[utoipa::path(post, path = "/desktop/onboarding-attempt", tag = "onboarding", request_body = AttemptRequest,
    responses((status = 200, body = OnboardingAttempt), (status = "4XX", body = OnboardingFailure)))]
pub async fn attempt(
    State(app): State<ControlPlaneState>,
    session: Result<SessionAuth, ApiError>,
    headers: HeaderMap,
    body: Result<Body<AttemptRequest>, ApiError>,
) -> Result<Response, OnboardingError> {
    let persist_failed =
        || failure(StatusCode::SERVICE_UNAVAILABLE, "ONBOARDING_ATTEMPT_PERSIST_FAILED", true);
    let forbidden = || failure(StatusCode::FORBIDDEN, "ONBOARDING_ATTEMPT_FORBIDDEN", false);
    let SessionAuth(caller) = session.map_err(|error| match error.status {
        StatusCode::UNAUTHORIZED => failure(StatusCode::UNAUTHORIZED, "SESSION_REQUIRED", false),
        StatusCode::FORBIDDEN => forbidden(),
        _ => persist_failed(),
    })?;
    let invalid = || failure(StatusCode::BAD_REQUEST, "INVALID_ONBOARDING_ATTEMPT_REQUEST", false);
    let Body(body) = body.map_err(|_| invalid())?;
    let origin = body.web_app_origin.trim();
    let platform = body.platform.as_deref().map(str::trim);
    if !has_length(origin, ORIGIN_LIMIT)
        || !platform.is_none_or(|platform| has_length(platform, PLATFORM_LIMIT))
    {
        return Err(invalid());
    }
    // A page may create attempts for its own origin only; the claim compares it again.
    if header(&headers, "origin") != Some(origin) || !app.origins.trusts(origin) {
        return Err(forbidden());
    }
    let attempt = create(&app.store, &caller, origin).await.map_err(|error| {
        tracing::error!(%error, "onboarding attempt not stored");
        persist_failed()
    })?;
    Ok(no_store(attempt))
}

/// Creates an attempt for an authenticated caller.
pub async fn create(store: &Store, caller: &Caller, origin: &str) -> Result<OnboardingAttempt, DbErr> {
    create_for(store, caller.user.id, caller.organization_id(), origin, &caller.actor()).await
}

/// Creates an attempt without a request, for callers in the same process.
pub async fn create_for(
    store: &Store,
    user_id: Uuid,
    organization_id: Uuid,
    origin: &str,
    actor: &Actor,
) -> Result<OnboardingAttempt, DbErr> {
    let id = URL_SAFE_NO_PAD.encode(random_secret());
    let expires_at = now() + ATTEMPT_TTL;
    let row = onboarding_attempt::ActiveModel {
        // Only the hash is stored, so that a database dump does not allow claims.
        attempt_hash: Set(sha256_hex(&id)),
        user_id: Set(user_id),
        organization_id: Set(organization_id),
        web_app_origin: Set(origin.to_owned()),
        gateway_id: Set(None),
        created_at: Set(now()),
        expires_at: Set(expires_at),
        consumed_at: Set(None),
    };
    let tx = store.begin().await?;
    onboarding_attempt::Entity::insert(row).exec_without_returning(&tx).await?;
    actor
        .record(&tx, organization_id, AuditAction::DesktopPermitted, user_id, json!({"origin": origin}))
        .await?;
    tx.commit().await?;
    Ok(OnboardingAttempt { onboarding_attempt_id: id, expires_at: iso(expires_at) })
}

/// Request to claim an attempt.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ClaimRequest {
    /// Secret of the attempt.
    pub onboarding_attempt_id: String,
    /// Origin that the attempt was created for.
    pub web_app_origin: String,
    /// Stable id of the Loopgate installation.
    pub gateway_id: Uuid,
    /// Ed25519 public key of the installation, SPKI in PEM format.
    pub gateway_public_key_pem: Option<String>,
    /// Former name of `gatewayPublicKeyPem`.
    pub gateway_public_key: Option<String>,
}

/// API key for the desktop.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ClaimResponse {
    /// API key in plain text; it cannot be retrieved again.
    pub api_key: String,
    /// Source of the key; always `DESKTOP_MANAGED`.
    pub source: &'static str,
    /// Installation that the key is bound to.
    pub gateway_id: Uuid,
}

/// Exchanges an attempt for an API key that is bound to the desktop's public key. Consuming the attempt and
/// issuing the key are one transaction, so the desktop can retry after a storage failure.
#[utoipa::path(post, path = "/desktop/bootstrap/claim", tag = "onboarding", request_body = ClaimRequest,
    responses((status = 200, body = ClaimResponse), (status = "4XX", body = OnboardingFailure)))]
pub async fn claim(
    State(app): State<ControlPlaneState>,
    client: ClientInfo,
    body: Result<Body<ClaimRequest>, ApiError>,
) -> Result<Response, OnboardingError> {
    let invalid = || failure(StatusCode::BAD_REQUEST, "INVALID_BOOTSTRAP_CLAIM_REQUEST", false);
    let Body(body) = body.map_err(|_| invalid())?;
    let attempt_id = body.onboarding_attempt_id.trim();
    let pem = body.gateway_public_key_pem.or(body.gateway_public_key);
    let pem_fits = pem.as_deref().is_none_or(|pem| has_length(pem.trim(), PEM_LIMIT));
    let sized = has_length(attempt_id, ATTEMPT_ID_LIMIT)
        && has_length(&body.web_app_origin, ORIGIN_LIMIT)
        && pem_fits;
    if !sized || !app.origins.trusts(&body.web_app_origin) {
        return Err(invalid());
    }
    let public_key = pem
        .as_deref()
        .and_then(proof::normalized_pem)
        .ok_or_else(|| failure(StatusCode::BAD_REQUEST, "INVALID_GATEWAY_PUBLIC_KEY", false))?;
    let claim = Claim {
        attempt_hash: sha256_hex(attempt_id),
        origin: body.web_app_origin,
        gateway_id: body.gateway_id,
        public_key,
    };
    let plaintext = issue(&app.store, claim, &client).await?;
    app.bus.publish(Topic::Credentials);
    Ok(no_store(ClaimResponse { api_key: plaintext, source: "DESKTOP_MANAGED", gateway_id: body.gateway_id }))
}

struct Claim {
    attempt_hash: String,
    origin: String,
    gateway_id: Uuid,
    public_key: String,
}

async fn issue(store: &Store, claim: Claim, client: &ClientInfo) -> Result<String, OnboardingError> {
    let failed = |error: DbErr| {
        if is_duplicate(&error) {
            return failure(StatusCode::CONFLICT, "DESKTOP_MANAGED_KEY_ROTATION_CONFLICT", false);
        }
        tracing::error!(%error, "onboarding claim failed");
        failure(StatusCode::SERVICE_UNAVAILABLE, "DESKTOP_MANAGED_KEY_ISSUANCE_FAILED", true)
    };
    let tx = store.begin().await.map_err(failed)?;
    let attempt = check(&tx, &claim, failed).await?;
    if !consume(&tx, &claim.attempt_hash, claim.gateway_id).await.map_err(failed)? {
        return Err(invalid_attempt());
    }
    let Claim { gateway_id, public_key, .. } = claim;
    let (organization_id, user_id) = (attempt.organization_id, attempt.user_id);
    let plaintext = api_key::rotate_managed(&tx, organization_id, user_id, gateway_id, public_key);
    let plaintext = plaintext.await.map_err(failed)?;
    let actor = Actor::signed_in(user_id, client);
    let issued = actor.record(&tx, organization_id, AuditAction::DesktopKeyIssued, gateway_id, json!({}));
    issued.await.map_err(failed)?;
    tx.commit().await.map_err(failed)?;
    Ok(plaintext)
}

const fn invalid_attempt() -> OnboardingError {
    failure(StatusCode::UNAUTHORIZED, "ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED", false)
}

async fn check(
    tx: &DatabaseTransaction,
    claim: &Claim,
    failed: impl Fn(DbErr) -> OnboardingError,
) -> Result<onboarding_attempt::Model, OnboardingError> {
    let attempt =
        onboarding_attempt::Entity::find_by_id(&claim.attempt_hash).one(tx).await.map_err(&failed)?;
    let attempt = attempt.ok_or_else(invalid_attempt)?;
    let owner = user::Entity::find_by_id(attempt.user_id).one(tx).await.map_err(&failed)?;
    // The user may have been deactivated since the attempt was created.
    if !owner.is_some_and(|owner| owner.active) {
        return Err(failure(StatusCode::FORBIDDEN, "DESKTOP_SECURITY_UPGRADE_DISABLED", false));
    }
    if attempt.consumed_at.is_some() || attempt.expires_at <= now() {
        return Err(invalid_attempt());
    }
    if attempt.web_app_origin != claim.origin {
        return Err(failure(StatusCode::FORBIDDEN, "ONBOARDING_ATTEMPT_ORIGIN_MISMATCH", false));
    }
    if attempt.gateway_id.is_some_and(|bound| bound != claim.gateway_id) {
        return Err(failure(StatusCode::FORBIDDEN, "ONBOARDING_ATTEMPT_GATEWAY_MISMATCH", false));
    }
    Ok(attempt)
}

async fn consume(tx: &DatabaseTransaction, attempt_hash: &str, gateway_id: Uuid) -> Result<bool, DbErr> {
    use onboarding_attempt::Column;
    // The condition on `consumed_at` lets only one of two concurrent claims update the row.
    let consumed = onboarding_attempt::Entity::update_many()
        .col_expr(Column::ConsumedAt, Expr::value(now()))
        .col_expr(Column::GatewayId, Expr::value(gateway_id))
        .filter(Column::AttemptHash.eq(attempt_hash))
        .filter(Column::ConsumedAt.is_null())
        .filter(Column::ExpiresAt.gt(now()))
        .exec(tx)
        .await?;
    Ok(consumed.rows_affected == 1)
}

fn has_length(text: &str, limit: usize) -> bool {
    (1..=limit).contains(&text.chars().count())
}
