//! `POST /gateway-auth/exchange`: a challenge of the control plane becomes a session of the page
//! that brought it.
//!
//! The control plane alone knows whether a challenge is good; it is asked once for each exchange.

use std::sync::OnceLock;
use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse as _;
use http::header::{RETRY_AFTER, USER_AGENT};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use jiff::Timestamp;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::activity::Capture;
use crate::answer::{Failure, json_no_store};
use crate::facts::Facts;
use crate::gateway::Inner;
use crate::pipeline::body::{self, BodyLimit, Keep, Unread};
use crate::pipeline::{self, Caller, named_origin};

/// Path on the control plane.
const VERIFY_PATH: &str = "/compute-targets/local-auth/verify";
/// Life of a session in seconds when nobody verified it.
const OPEN_TTL: f64 = 86_400.0;
const MAX_TTL: f64 = 86_400.0;
/// Bytes of a verification's answer that are read.
const MAX_VERIFY_ANSWER: usize = 64 * 1024;

/// What a page sends.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[allow(dead_code, reason = "describes the body in the OpenAPI document; it is read member by member")]
#[schema(example = json!({"challengeToken": "eyJhbGciOiJIUzI1NiJ9.challenge"}))]
pub(crate) struct ExchangeRequest {
    /// Challenge token of the control plane, good for one exchange.
    challenge_token: String,
}

/// What a page gets.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(example = json!({"sessionToken": "3b7f0c5d9a1e4862b7d0f3a96c21e58447aa0de1fb29c6608d5e13f4902c7ab6", "expiresAt": "2030-01-02T09:00:00.000Z"}))]
pub(crate) struct ExchangeAnswer {
    /// 64 hex characters, for the header `X-Desktop-Session-Token` together with `Origin`.
    session_token: String,
    /// ISO 8601, UTC, milliseconds. Use never prolongs it.
    expires_at: String,
}

/// Trade a challenge for a session
///
/// Loopback callers with an `Origin` header only. The session is bound to exactly that origin.
#[utoipa::path(post, path = "/gateway-auth/exchange", operation_id = "gateway_auth_exchange", tag = "gateway",
    request_body = ExchangeRequest,
    responses(
        (status = 200, body = ExchangeAnswer, description = "The session"),
        (status = 400, body = loopgate_api::error::ErrorBody, description = "No Origin, or no challenge token", example = json!(loopgate_api::error::ErrorBody::new(400, "Origin header required"))),
        (status = 401, body = loopgate_api::error::ErrorBody, description = "The control plane refused the challenge", example = json!(loopgate_api::error::ErrorBody::new(401, "verify failed (401)"))),
        (status = 403, body = loopgate_api::error::ErrorBody, description = "Not from loopback, or the origin is not allowed", example = json!(loopgate_api::error::ErrorBody::new(403, "Origin not allowed"))),
        (status = 408, body = loopgate_api::error::ErrorBody, description = "The body did not come in time", example = json!(loopgate_api::error::ErrorBody::new(408, "request body timed out"))),
        (status = 413, body = loopgate_api::error::ErrorBody, description = "More than 4096 bytes", example = json!(loopgate_api::error::ErrorBody::new(413, "request body too large").with("maxBytes", 4096))),
        (status = 415, body = loopgate_api::error::ErrorBody, description = "A body that any page could have sent", example = json!(loopgate_api::error::ErrorBody::new(415, "content type not supported, send application/json"))),
        (status = 429, body = loopgate_api::error::ErrorBody, description = "Too many exchanges of this origin", example = json!(loopgate_api::error::ErrorBody::new(429, "too many exchanges, retry shortly"))),
        (status = 502, body = loopgate_api::error::ErrorBody, description = "The control plane gave no usable answer", example = json!(loopgate_api::error::ErrorBody::new(502, "verify request failed: control plane unreachable"))),
        (status = 503, body = loopgate_api::error::ErrorBody, description = "No API key or no API origin", example = json!(loopgate_api::error::ErrorBody::new(503, "Local gateway auth unavailable: API key required"))),
        (status = 504, body = loopgate_api::error::ErrorBody, description = "The control plane did not answer in time", example = json!(loopgate_api::error::ErrorBody::new(504, "verify request timed out"))),
    ))]
pub(crate) async fn exchange(
    inner: &Inner,
    facts: &Facts,
    request: Request<Body>,
    caller: Caller,
    capture: &mut Capture,
) -> Response<Body> {
    match steps(inner, facts, request, caller, capture).await {
        Ok(answer) => json_no_store(&answer),
        Err(Refused { failure, security, retry_after }) => {
            if security {
                capture.security(format!("exchange rejected: {}", failure.body.error));
            } else {
                capture.detail = Some(failure.body.error.clone());
            }
            let mut reply = failure.no_store().into_response();
            if let Some(seconds) = retry_after {
                reply.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
            }
            reply
        }
    }
}

struct Refused {
    failure: Failure,
    security: bool,
    retry_after: Option<u64>,
}

impl From<Failure> for Refused {
    fn from(failure: Failure) -> Self {
        Self { failure, security: false, retry_after: None }
    }
}

fn security(failure: Failure) -> Refused {
    Refused { failure, security: true, retry_after: None }
}

fn unavailable(text: &str) -> Failure {
    Failure::new(StatusCode::SERVICE_UNAVAILABLE, text)
}

async fn steps(
    inner: &Inner,
    facts: &Facts,
    request: Request<Body>,
    caller: Caller,
    capture: &mut Capture,
) -> Result<ExchangeAnswer, Refused> {
    let (parts, body) = request.into_parts();
    let closing = !http_body::Body::is_end_stream(&body);
    let refuse = |failure: Failure| failure.closing(closing);
    let Some(origin) = named_origin(&parts.headers) else {
        return Err(refuse(Failure::bad_request("Origin header required")).into());
    };
    if !caller.is_loopback() {
        return Err(security(refuse(Failure::forbidden("loopback only"))));
    }
    let allowed = facts.origins.allows(parts.headers.get(http::header::ORIGIN));
    if facts.production_only && !allowed {
        let text = "Origin not allowed -- gateway is in production-origins-only mode";
        return Err(security(refuse(Failure::forbidden(text))));
    }
    if inner.config.gateway_token.is_none() {
        return Ok(grant(inner, origin, OPEN_TTL));
    }
    // A page of another site could trade challenges of its own for the slots of ours.
    if facts.origins.knows_web_app() && !allowed {
        return Err(security(refuse(Failure::forbidden("Origin not allowed"))));
    }
    if let Err(wait) = inner.exchanges.take(origin, std::time::Instant::now()) {
        let failure = Failure::new(StatusCode::TOO_MANY_REQUESTS, "too many exchanges, retry shortly");
        let retry_after = Some(wait.as_secs() + 1);
        return Err(Refused { failure: refuse(failure), security: true, retry_after });
    }
    if inner.config.credentials.api_key().is_none() {
        return Err(refuse(unavailable("Local gateway auth unavailable: API key required")).into());
    }
    let Some(api_origin) = &facts.settings.api_origin else {
        return Err(refuse(unavailable("API origin not configured")).into());
    };
    if closing && pipeline::is_forgeable(&parts.headers, false) {
        return Err(security(pipeline::unsupported_type()));
    }
    let challenge = read_challenge(inner, &parts.headers, body, capture).await?;
    let verified = Verification {
        challenge_token: &challenge,
        request_origin: origin,
        user_agent: parts.headers.get(USER_AGENT).and_then(|value| value.to_str().ok()),
    };
    let ttl = inner.verifier.verify(inner, api_origin, &verified).await.map_err(security)?;
    Ok(grant(inner, origin, ttl))
}

fn grant(inner: &Inner, origin: &str, ttl_seconds: f64) -> ExchangeAnswer {
    let life = Duration::from_secs_f64(ttl_seconds.clamp(1.0, MAX_TTL).floor());
    let granted = inner.sessions.create(origin, life, Timestamp::now());
    ExchangeAnswer { session_token: granted.token, expires_at: loopgate_api::time::iso(granted.expires_at) }
}

async fn read_challenge(
    inner: &Inner,
    headers: &HeaderMap,
    body: Body,
    capture: &mut Capture,
) -> Result<String, Refused> {
    let limit = BodyLimit::EXCHANGE;
    let bytes = match body::read(body, headers, limit, Keep::All, &inner.config.limits).await {
        Ok(received) => received.whole(),
        Err(unread) => {
            if let Unread::TooLarge { declared, observed } = &unread {
                capture.request_size = observed.or(*declared);
                tracing::warn!(
                    label = limit.label,
                    limit = limit.bytes,
                    ?declared,
                    ?observed,
                    "request body too large"
                );
            }
            return Err(security(unread.into_failure(limit)));
        }
    };
    capture.request_size = Some(bytes.len() as u64);
    let document: Value = serde_json::from_slice(&bytes).unwrap_or_default();
    match document.get("challengeToken").and_then(Value::as_str) {
        Some(token) if !token.is_empty() => Ok(token.to_owned()),
        _ => Err(Failure::bad_request("invalid request body: challengeToken required").into()),
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Verification<'a> {
    challenge_token: &'a str,
    request_origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    user_agent: Option<&'a str>,
}

/// The control plane's answer, bare or in its envelope.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Verified {
    ok: bool,
    session_ttl_seconds: f64,
}

/// Asks the control plane. Its client is made with the first exchange.
#[derive(Debug, Default)]
pub(crate) struct Verifier(OnceLock<reqwest::Client>);

impl Verifier {
    /// Life of the session in seconds, or the failure to hand on.
    async fn verify(
        &self,
        inner: &Inner,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, Failure> {
        let limit = inner.config.limits.verify_timeout;
        match tokio::time::timeout(limit, self.ask(inner, api_origin, verification)).await {
            Ok(answered) => answered,
            Err(_) => Err(Failure::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out")),
        }
    }

    async fn ask(
        &self,
        inner: &Inner,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, Failure> {
        let credentials = &inner.config.credentials;
        let url = format!("{api_origin}{VERIFY_PATH}");
        let mut request = self.client()?.post(&url).json(verification);
        if let Some(key) = credentials.api_key() {
            request = request.bearer_auth(key.secret.expose_secret());
        }
        for (name, value) in credentials.pop_headers("POST", VERIFY_PATH).into_iter().flatten() {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(|error| no_answer(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        while let Some(chunk) = response.chunk().await.map_err(|error| no_answer(&error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_VERIFY_ANSWER {
                return Err(unexpected());
            }
        }
        if status.is_success() { life_of(&bytes) } else { Err(refusal_of(status, &bytes)) }
    }

    fn client(&self) -> Result<&reqwest::Client, Failure> {
        if let Some(client) = self.0.get() {
            return Ok(client);
        }
        // The key must not follow a redirect to another place.
        let built = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none()).build();
        let client = built.map_err(|error| no_answer(&error))?;
        Ok(self.0.get_or_init(|| client))
    }
}

/// The page learns that there was no answer; why is for the log.
fn no_answer(error: &reqwest::Error) -> Failure {
    let cause = loopgate_api::redact::message(&format!("{error:?}"));
    tracing::warn!(cause, "a challenge could not be verified");
    if error.is_timeout() {
        return Failure::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out");
    }
    Failure::new(StatusCode::BAD_GATEWAY, "verify request failed: control plane unreachable")
}

fn unexpected() -> Failure {
    Failure::new(StatusCode::BAD_GATEWAY, "unexpected response format")
}

fn life_of(bytes: &[u8]) -> Result<f64, Failure> {
    let document: Value = serde_json::from_slice(bytes).map_err(|_| unexpected())?;
    let enveloped = document.get("success").and_then(Value::as_bool) == Some(true);
    let data = if enveloped { document.get("data").unwrap_or(&document) } else { &document };
    let verified = Verified::deserialize(data).map_err(|_| unexpected())?;
    if verified.ok { Ok(verified.session_ttl_seconds) } else { Err(unexpected()) }
}

fn refusal_of(status: StatusCode, bytes: &[u8]) -> Failure {
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = match document.get("error").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => loopgate_api::redact::message(text),
        _ => format!("verify failed ({})", status.as_u16()),
    };
    let known = status.is_client_error() || status.is_server_error();
    Failure::new(if known { status } else { StatusCode::BAD_GATEWAY }, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_of_a_good_answer_are_read() {
        let enveloped = br#"{"success":true,"data":{"ok":true,"sessionTtlSeconds":600}}"#;
        let bare = br#"{"ok":true,"sessionTtlSeconds":12.5}"#;
        assert!((life_of(enveloped).unwrap() - 600.0).abs() < f64::EPSILON);
        assert!((life_of(bare).unwrap() - 12.5).abs() < f64::EPSILON);
        for bad in [&b"no"[..], b"{}", br#"{"ok":false,"sessionTtlSeconds":1}"#, br#"{"ok":true}"#] {
            assert_eq!(life_of(bad).unwrap_err().status, StatusCode::BAD_GATEWAY);
        }
    }

    #[test]
    fn a_refusal_keeps_its_text_and_status() {
        let refusal = refusal_of(StatusCode::FORBIDDEN, br#"{"error":"nope"}"#);
        assert_eq!((refusal.status, refusal.body.error.as_str()), (StatusCode::FORBIDDEN, "nope"));
        let bare = refusal_of(StatusCode::CONFLICT, b"<html>");
        assert_eq!(bare.body.error, "verify failed (409)");
        assert_eq!(refusal_of(StatusCode::FOUND, b"").status, StatusCode::BAD_GATEWAY);
    }
}
