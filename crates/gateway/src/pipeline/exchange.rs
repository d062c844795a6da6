//! `POST /gateway-auth/exchange`: trades a challenge token of the control plane for a session that is bound
//! to the page's origin.
//!
//! Only the control plane can verify a challenge. Each exchange sends it one request.

use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse as _;
use http::header::{RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::body::{self, BodyError, BodyStorage};
use super::caller::RequestSource;
use super::challenge::Verification;
use super::config_snapshot::ConfigSnapshot;
use super::forgery::{is_forgeable, unsupported_media_type};
use super::origin::named_origin;
use super::state::PipelineState;
use crate::activity::ActivityRecorder;
use crate::error::HttpError;
use crate::extract::JsonBody;
use crate::lenient;
use crate::response::json_no_store;
use crate::route::BodyLimit;

/// Lifetime in seconds of a session in no-auth mode, where no control plane sets one: 24 hours.
const UNVERIFIED_TTL: f64 = 86_400.0;
// Upper bound for the lifetime that the control plane sets.
const MAX_TTL: f64 = 86_400.0;

/// Request of an exchange.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"challengeToken": "eyJhbGciOiJIUzI1NiJ9.challenge"}))]
pub(crate) struct ExchangeRequest {
    /// Challenge token that the control plane issued. Valid for one exchange.
    #[schema(value_type = String, required)]
    #[serde(default, deserialize_with = "lenient::non_empty")]
    challenge_token: Option<String>,
}

/// The session that was created for the page's origin.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"sessionToken": "3b7f0c5d9a1e4862b7d0f3a96c21e58447aa0de1fb29c6608d5e13f4902c7ab6", "expiresAt": "2030-01-02T09:00:00.000Z"}))]
pub(crate) struct ExchangeAnswer {
    /// Session token of 64 hex characters. Send it as `X-Desktop-Session-Token`, together with the same
    /// `Origin`.
    session_token: String,
    /// ISO 8601 timestamp in UTC with milliseconds. Using the session does not extend it.
    expires_at: String,
}

/// Exchange a challenge for a session
///
/// Accepts loopback callers with an `Origin` header only. The session is bound to exactly that origin.
#[utoipa::path(post, path = "/gateway-auth/exchange", operation_id = "gateway_auth_exchange", tag = "gateway",
    request_body = ExchangeRequest,
    responses(
        (status = 200, body = ExchangeAnswer, description = "The session token and its expiry"),
        (status = 400, body = loopgate_api::error::ErrorBody, description = "The Origin header or the challenge token is missing", example = json!(loopgate_api::error::ErrorBody::new(400, "Origin header required"))),
        (status = 401, body = loopgate_api::error::ErrorBody, description = "The control plane refused the challenge", example = json!(loopgate_api::error::ErrorBody::new(401, "verify failed (401)"))),
        (status = 403, body = loopgate_api::error::ErrorBody, description = "The caller is not on loopback, or its origin is not allowed", example = json!(loopgate_api::error::ErrorBody::new(403, "Origin not allowed"))),
        (status = 408, body = loopgate_api::error::ErrorBody, description = "The request body timed out", example = json!(loopgate_api::error::ErrorBody::new(408, "request body timed out"))),
        (status = 413, body = loopgate_api::error::ErrorBody, description = "The body exceeds 4096 bytes", example = json!(loopgate_api::error::ErrorBody::new(413, "request body too large").with("maxBytes", 4096))),
        (status = 415, body = loopgate_api::error::ErrorBody, description = "The content type needs no CORS preflight, so a page of another site could have sent the request", example = json!(loopgate_api::error::ErrorBody::new(415, "content type not supported, send application/json"))),
        (status = 429, body = loopgate_api::error::ErrorBody, description = "Rate limit of this origin exceeded; see Retry-After", example = json!(loopgate_api::error::ErrorBody::new(429, "too many exchanges, retry shortly"))),
        (status = 502, body = loopgate_api::error::ErrorBody, description = "The control plane is unreachable or returned an invalid response", example = json!(loopgate_api::error::ErrorBody::new(502, "verify request failed: control plane unreachable"))),
        (status = 503, body = loopgate_api::error::ErrorBody, description = "No API key or no API origin is configured", example = json!(loopgate_api::error::ErrorBody::new(503, "Local gateway auth unavailable: API key required"))),
        (status = 504, body = loopgate_api::error::ErrorBody, description = "The control plane did not respond in time", example = json!(loopgate_api::error::ErrorBody::new(504, "verify request timed out"))),
    ))]
pub(crate) async fn exchange(
    state: &PipelineState,
    snapshot: &ConfigSnapshot,
    request: Request<Body>,
    caller: RequestSource,
    recorder: &mut ActivityRecorder,
) -> Response<Body> {
    match create_session(state, snapshot, request, caller, recorder).await {
        Ok(answer) => json_no_store(&answer),
        Err(ExchangeError { failure, security, retry_after }) => {
            if security {
                recorder.security(format!("exchange rejected: {}", failure.body.error));
            } else {
                recorder.detail = Some(failure.body.error.clone());
            }
            let mut reply = failure.no_store().into_response();
            if let Some(seconds) = retry_after {
                reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            reply
        }
    }
}

struct ExchangeError {
    failure: HttpError,
    security: bool,
    retry_after: Option<u64>,
}

impl From<HttpError> for ExchangeError {
    fn from(failure: HttpError) -> Self {
        Self { failure, security: false, retry_after: None }
    }
}

fn security(failure: HttpError) -> ExchangeError {
    ExchangeError { failure, security: true, retry_after: None }
}

fn unavailable(text: &str) -> HttpError {
    HttpError::new(StatusCode::SERVICE_UNAVAILABLE, text)
}

async fn create_session(
    state: &PipelineState,
    snapshot: &ConfigSnapshot,
    request: Request<Body>,
    caller: RequestSource,
    recorder: &mut ActivityRecorder,
) -> Result<ExchangeAnswer, ExchangeError> {
    let (parts, body) = request.into_parts();
    let closing = !http_body::Body::is_end_stream(&body);
    let refuse = |failure: HttpError| failure.closing(closing);
    let Some(origin) = named_origin(&parts.headers) else {
        return Err(refuse(HttpError::bad_request("Origin header required")).into());
    };
    if !caller.is_loopback() {
        return Err(security(refuse(HttpError::forbidden("loopback only"))));
    }
    let allowed = snapshot.origins.allows(parts.headers.get(http::header::ORIGIN));
    if snapshot.production_only && !allowed {
        let text = "Origin not allowed -- gateway is in production-origins-only mode";
        return Err(security(refuse(HttpError::forbidden(text))));
    }
    if state.config.gateway_token.is_none() {
        return Ok(grant(state, origin, UNVERIFIED_TTL));
    }
    // A page of another site could exchange its own challenges and so evict the web app's sessions, of which
    // there is a fixed number.
    if snapshot.origins.knows_web_app() && !allowed {
        return Err(security(refuse(HttpError::forbidden("Origin not allowed"))));
    }
    // Before the control plane is contacted: the limit protects it from a page that retries in a loop.
    if let Err(wait) = state.exchanges.take(origin, std::time::Instant::now()) {
        let failure = HttpError::new(StatusCode::TOO_MANY_REQUESTS, "too many exchanges, retry shortly");
        let retry_after = Some(wait.as_secs() + 1);
        return Err(ExchangeError { failure: refuse(failure), security: true, retry_after });
    }
    if state.config.credentials.api_key().is_none() {
        return Err(refuse(unavailable("Local gateway auth unavailable: API key required")).into());
    }
    let Some(api_origin) = &snapshot.settings.api_origin else {
        return Err(refuse(unavailable("API origin not configured")).into());
    };
    if closing && is_forgeable(&parts.headers, false) {
        return Err(security(unsupported_media_type()));
    }
    let challenge = read_challenge(state, &parts.headers, body, recorder).await?;
    let verification = Verification {
        challenge_token: &challenge,
        request_origin: origin,
        user_agent: parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()),
    };
    let credentials = &state.config.credentials;
    let ttl = state
        .verifier
        .verify(credentials, state.config.limits.verify_timeout, api_origin, &verification)
        .await
        .map_err(security)?;
    Ok(grant(state, origin, ttl))
}

fn grant(state: &PipelineState, origin: &str, ttl_seconds: f64) -> ExchangeAnswer {
    // Clamped before the conversion: `from_secs_f64` panics on negative and huge values.
    let life = Duration::from_secs_f64(ttl_seconds.clamp(1.0, MAX_TTL).floor());
    let session = state.sessions.create(origin, life, Timestamp::now());
    ExchangeAnswer { session_token: session.token, expires_at: loopgate_api::time::iso(session.expires_at) }
}

async fn read_challenge(
    state: &PipelineState,
    headers: &HeaderMap,
    body: Body,
    recorder: &mut ActivityRecorder,
) -> Result<String, ExchangeError> {
    let limit = BodyLimit::EXCHANGE;
    let bytes = match body::read(body, headers, limit, BodyStorage::Memory, &state.config.limits).await {
        Ok(received) => received.into_bytes(),
        Err(error) => {
            if let BodyError::TooLarge { declared, observed } = &error {
                recorder.request_size = observed.or(*declared);
                tracing::warn!(
                    label = limit.label,
                    limit = limit.bytes,
                    ?declared,
                    ?observed,
                    "request body too large"
                );
            }
            return Err(security(error.into_http_error(limit)));
        }
    };
    recorder.request_size = Some(bytes.len() as u64);
    let request: Option<ExchangeRequest> = JsonBody::read(&bytes).ok().map(|JsonBody(request)| request);
    let challenge = request.and_then(|request| request.challenge_token);
    challenge.ok_or_else(|| HttpError::bad_request("invalid request body: challengeToken required").into())
}
