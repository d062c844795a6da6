//! Authentication of a web page at a loopback gateway: the page obtains a challenge here, and the gateway
//! verifies it here.

use axum::extract::State;
use axum::response::IntoResponse;
use http::header::CACHE_CONTROL;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::app::ControlPlaneState;
use crate::auth::{ApiKeyAuth, SessionAuth};
use crate::credentials::header::header;
use crate::envelope::Data;
use crate::error::{ApiError, ApiResult, ErrorResponses, ValidationIssues, bad_request};
use crate::extract::Body;
use crate::store::iso;

// Lifetime of the gateway's session in seconds. Short, because the gateway cannot observe that the session
// at the control plane was revoked.
const SESSION_TTL_SECONDS: u64 = 600;
const ORIGIN_LIMIT: usize = 2048;
const USER_AGENT_LIMIT: usize = 512;

/// Request for a challenge.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ChallengeRequest {
    /// Origin of the page, for example `https://loopgate.example.com`.
    pub origin: String,
}

/// A one-time challenge for the gateway.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Challenge {
    /// Signed token to be posted to the gateway's `/gateway-auth/exchange`.
    pub challenge_token: String,
    /// Expiry, ISO 8601; one minute after the request.
    pub expires_at: String,
}

/// Request of a gateway to verify a challenge.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyRequest {
    /// Challenge token that the page presented.
    pub challenge_token: String,
    /// Origin of the page, from the `Origin` header at the gateway.
    pub request_origin: String,
    /// `User-Agent` header of the page, at most 512 characters.
    pub user_agent: Option<String>,
}

/// Result of a successful verification.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct VerifyResponse {
    /// Always `true`; failures have an error status.
    pub ok: bool,
    /// Lifetime of the gateway's session, in seconds.
    pub session_ttl_seconds: u64,
    /// Expiry of the challenge, ISO 8601.
    pub challenge_expires_at: String,
}

fn not_configured() -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "Local gateway auth is not configured")
}

/// Issues a challenge for the signed-in page. Responses are never cached, including errors.
#[utoipa::path(post, path = "/compute-targets/local-auth/challenge", tag = "local-auth", request_body = ChallengeRequest,
    responses((status = 200, body = Data<Challenge>), ErrorResponses))]
pub async fn challenge(
    State(app): State<ControlPlaneState>,
    session: ApiResult<SessionAuth>,
    headers: HeaderMap,
    body: ApiResult<Body<ChallengeRequest>>,
) -> impl IntoResponse {
    // Extractor errors are evaluated inside, so that these responses get the `no-store` header too.
    let response = async {
        let SessionAuth(caller) = session?;
        if !app.challenges.is_configured() {
            return Err(not_configured());
        }
        let Body(ChallengeRequest { origin }) = body?;
        check_origins(&app, &headers, &origin)?;
        let issued = app.challenges.issue(&app.store, caller.user.id, caller.organization_id(), &origin);
        let (challenge_token, expires_at) = issued.await?;
        Ok(Data::new(Challenge { challenge_token, expires_at: iso(expires_at) }))
    };
    ([(CACHE_CONTROL, "no-store")], response.await)
}

fn check_origins(app: &ControlPlaneState, headers: &HeaderMap, posted: &str) -> ApiResult<()> {
    let mut issues = ValidationIssues::default();
    issues.length("origin", posted, 1, ORIGIN_LIMIT);
    issues.into_result()?;
    if !app.origins.trusts(posted) {
        return Err(bad_request("Origin is not trusted"));
    }
    match header(headers, "origin") {
        Some(origin) if app.origins.trusts(origin) => {
            let same = origin == posted;
            let text = "Posted origin does not match request origin";
            if same { Ok(()) } else { Err(ApiError::new(StatusCode::FORBIDDEN, text)) }
        }
        _ => Err(bad_request("Request origin is not trusted")),
    }
}

/// Verifies a challenge for the desktop that the API key belongs to. The challenge is consumed before its
/// claims are checked, so that a failed attempt invalidates it too.
#[utoipa::path(post, path = "/compute-targets/local-auth/verify", tag = "local-auth", request_body = VerifyRequest,
    responses((status = 200, body = Data<VerifyResponse>), ErrorResponses))]
pub async fn verify(
    State(app): State<ControlPlaneState>,
    ApiKeyAuth(caller): ApiKeyAuth,
    body: ApiResult<Body<VerifyRequest>>,
) -> ApiResult<Data<VerifyResponse>> {
    if !app.challenges.is_configured() {
        return Err(not_configured());
    }
    let Body(body) = body?;
    let mut issues = ValidationIssues::default();
    issues.require(!body.challenge_token.is_empty(), "challengeToken", "is required");
    issues.length("requestOrigin", &body.request_origin, 1, ORIGIN_LIMIT);
    issues.length("userAgent", body.user_agent.as_deref().unwrap_or_default(), 0, USER_AGENT_LIMIT);
    issues.into_result()?;
    let refuse = |status, text: &str| Err(ApiError::new(status, text));
    let Some(claims) = app.challenges.read(&body.challenge_token) else {
        return refuse(StatusCode::UNAUTHORIZED, "Invalid or expired challenge token");
    };
    // Consumed before the checks below: a leaked token cannot be tried against several origins or desktops.
    if !app.challenges.consume(&app.store, claims.jti).await? {
        return refuse(StatusCode::FORBIDDEN, "Challenge has already been used or has expired");
    }
    if claims.sub != caller.user.id || claims.organization_id != caller.organization_id() {
        return refuse(StatusCode::FORBIDDEN, "Challenge was not issued for this API key owner");
    }
    if claims.origin != body.request_origin {
        return refuse(StatusCode::FORBIDDEN, "Request origin does not match challenge origin");
    }
    Ok(Data::new(VerifyResponse {
        ok: true,
        session_ttl_seconds: SESSION_TTL_SECONDS,
        challenge_expires_at: iso(claims.exp * 1000),
    }))
}
