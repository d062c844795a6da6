//! Verifies challenge tokens at the control plane, with one request per exchange.

use std::time::Duration;

use http::StatusCode;
use loopgate_home::Credentials;
use loopgate_http_client::LazyClient;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::HttpError;

/// Path of the verification route at the control plane.
const VERIFY_PATH: &str = "/compute-targets/local-auth/verify";
/// Size limit in bytes of the control plane's response. A valid one has less than 1 KiB.
const MAX_RESPONSE: usize = 64 * 1024;

/// Body of a verification request.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verification<'a> {
    pub(super) challenge_token: &'a str,
    pub(super) request_origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_agent: Option<&'a str>,
}

/// The control plane's response, bare or as `data` of an envelope.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerificationResponse {
    ok: bool,
    session_ttl_seconds: f64,
}

/// Client for verification requests.
#[derive(Debug)]
pub(crate) struct ChallengeVerifier(LazyClient);

impl Default for ChallengeVerifier {
    fn default() -> Self {
        // Following a redirect would send the API key to another server.
        Self(LazyClient::new(|builder| builder.redirect(reqwest::redirect::Policy::none())))
    }
}

impl ChallengeVerifier {
    /// Verifies a challenge and returns the lifetime of the session in seconds.
    ///
    /// # Errors
    /// Fails with the response for the page: the control plane's refusal, 502 or 504.
    pub(super) async fn verify(
        &self,
        credentials: &Credentials,
        limit: Duration,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, HttpError> {
        match tokio::time::timeout(limit, self.send(credentials, api_origin, verification)).await {
            Ok(result) => result,
            Err(_) => Err(HttpError::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out")),
        }
    }

    async fn send(
        &self,
        credentials: &Credentials,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, HttpError> {
        let url = format!("{api_origin}{VERIFY_PATH}");
        let client = self.0.get().map_err(|error| unreachable(&error.to_string()))?;
        let mut request = client.post(&url).json(verification);
        if let Some(key) = credentials.api_key() {
            request = request.bearer_auth(key.secret.expose_secret());
        }
        // Proves possession of this desktop's key, so that a stolen API key is of no use elsewhere.
        for (name, value) in credentials.pop_headers("POST", VERIFY_PATH).into_iter().flatten() {
            request = request.header(name, value);
        }
        let mut response = request.send().await.map_err(|error| no_response(&error))?;
        let status = response.status();
        let mut bytes = Vec::new();
        // Limited while reading: `Content-Length` may be absent or wrong.
        while let Some(chunk) = response.chunk().await.map_err(|error| no_response(&error))? {
            bytes.extend_from_slice(&chunk);
            if bytes.len() > MAX_RESPONSE {
                return Err(unexpected());
            }
        }
        if status.is_success() { session_ttl(&bytes) } else { Err(refusal(status, &bytes)) }
    }
}

fn no_response(error: &reqwest::Error) -> HttpError {
    let response = unreachable(&format!("{error:?}"));
    if error.is_timeout() {
        return HttpError::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out");
    }
    response
}

/// The page only learns that the control plane did not respond. The cause may contain addresses, so it is
/// logged.
fn unreachable(cause: &str) -> HttpError {
    let cause = loopgate_api::redact::message(cause);
    tracing::warn!(cause, "challenge verification failed");
    HttpError::new(StatusCode::BAD_GATEWAY, "verify request failed: control plane unreachable")
}

fn unexpected() -> HttpError {
    HttpError::new(StatusCode::BAD_GATEWAY, "unexpected response format")
}

fn session_ttl(bytes: &[u8]) -> Result<f64, HttpError> {
    let document: Value = serde_json::from_slice(bytes).map_err(|_| unexpected())?;
    let enveloped = document.get("success").and_then(Value::as_bool) == Some(true);
    let data = if enveloped { document.get("data").unwrap_or(&document) } else { &document };
    let verified = VerificationResponse::deserialize(data).map_err(|_| unexpected())?;
    if verified.ok { Ok(verified.session_ttl_seconds) } else { Err(unexpected()) }
}

fn refusal(status: StatusCode, bytes: &[u8]) -> HttpError {
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = match document.get("error").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => loopgate_api::redact::message(text),
        _ => format!("verify failed ({})", status.as_u16()),
    };
    // A redirect must not reach the page as the result of its exchange.
    let is_error = status.is_client_error() || status.is_server_error();
    HttpError::new(if is_error { status } else { StatusCode::BAD_GATEWAY }, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_and_enveloped_responses_are_accepted() {
        let enveloped = br#"{"success":true,"data":{"ok":true,"sessionTtlSeconds":600}}"#;
        let bare = br#"{"ok":true,"sessionTtlSeconds":12.5}"#;
        assert!((session_ttl(enveloped).unwrap() - 600.0).abs() < f64::EPSILON);
        assert!((session_ttl(bare).unwrap() - 12.5).abs() < f64::EPSILON);
        for bad in [&b"no"[..], b"{}", br#"{"ok":false,"sessionTtlSeconds":1}"#, br#"{"ok":true}"#] {
            assert_eq!(session_ttl(bad).unwrap_err().status, StatusCode::BAD_GATEWAY);
        }
    }

    #[test]
    fn refusal_keeps_its_message_and_status() {
        let forbidden = refusal(StatusCode::FORBIDDEN, br#"{"error":"nope"}"#);
        assert_eq!((forbidden.status, forbidden.body.error.as_str()), (StatusCode::FORBIDDEN, "nope"));
        let without_message = refusal(StatusCode::CONFLICT, b"<html>");
        assert_eq!(without_message.body.error, "verify failed (409)");
        assert_eq!(refusal(StatusCode::FOUND, b"").status, StatusCode::BAD_GATEWAY);
    }
}
