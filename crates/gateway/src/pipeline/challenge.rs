//! Asks the control plane whether a challenge is good. It alone knows, and is asked once for each exchange.

use std::sync::OnceLock;
use std::time::Duration;

use http::StatusCode;
use loopgate_home::Credentials;
use secrecy::ExposeSecret as _;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::HttpError;

/// Path on the control plane.
const VERIFY_PATH: &str = "/compute-targets/local-auth/verify";
/// Bytes of a verification's answer that are read.
const MAX_VERIFY_ANSWER: usize = 64 * 1024;

/// A challenge, and who brought it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Verification<'a> {
    pub(super) challenge_token: &'a str,
    pub(super) request_origin: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_agent: Option<&'a str>,
}

/// The control plane's answer, bare or in its envelope.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct VerificationAnswer {
    ok: bool,
    session_ttl_seconds: f64,
}

/// Asks the control plane. Its client is made with the first exchange.
#[derive(Debug, Default)]
pub(crate) struct ChallengeVerifier(OnceLock<reqwest::Client>);

impl ChallengeVerifier {
    /// Life of the session in seconds, or the failure to hand on.
    pub(super) async fn verify(
        &self,
        credentials: &Credentials,
        limit: Duration,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, HttpError> {
        match tokio::time::timeout(limit, self.ask(credentials, api_origin, verification)).await {
            Ok(answered) => answered,
            Err(_) => Err(HttpError::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out")),
        }
    }

    async fn ask(
        &self,
        credentials: &Credentials,
        api_origin: &str,
        verification: &Verification<'_>,
    ) -> Result<f64, HttpError> {
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

    fn client(&self) -> Result<&reqwest::Client, HttpError> {
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
fn no_answer(error: &reqwest::Error) -> HttpError {
    let cause = loopgate_api::redact::message(&format!("{error:?}"));
    tracing::warn!(cause, "a challenge could not be verified");
    if error.is_timeout() {
        return HttpError::new(StatusCode::GATEWAY_TIMEOUT, "verify request timed out");
    }
    HttpError::new(StatusCode::BAD_GATEWAY, "verify request failed: control plane unreachable")
}

fn unexpected() -> HttpError {
    HttpError::new(StatusCode::BAD_GATEWAY, "unexpected response format")
}

fn life_of(bytes: &[u8]) -> Result<f64, HttpError> {
    let document: Value = serde_json::from_slice(bytes).map_err(|_| unexpected())?;
    let enveloped = document.get("success").and_then(Value::as_bool) == Some(true);
    let data = if enveloped { document.get("data").unwrap_or(&document) } else { &document };
    let verified = VerificationAnswer::deserialize(data).map_err(|_| unexpected())?;
    if verified.ok { Ok(verified.session_ttl_seconds) } else { Err(unexpected()) }
}

fn refusal_of(status: StatusCode, bytes: &[u8]) -> HttpError {
    let document: Value = serde_json::from_slice(bytes).unwrap_or_default();
    let text = match document.get("error").and_then(Value::as_str) {
        Some(text) if !text.is_empty() => loopgate_api::redact::message(text),
        _ => format!("verify failed ({})", status.as_u16()),
    };
    let known = status.is_client_error() || status.is_server_error();
    HttpError::new(if known { status } else { StatusCode::BAD_GATEWAY }, text)
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
    fn refusal_keeps_its_text_and_status() {
        let refusal = refusal_of(StatusCode::FORBIDDEN, br#"{"error":"nope"}"#);
        assert_eq!((refusal.status, refusal.body.error.as_str()), (StatusCode::FORBIDDEN, "nope"));
        let bare = refusal_of(StatusCode::CONFLICT, b"<html>");
        assert_eq!(bare.body.error, "verify failed (409)");
        assert_eq!(refusal_of(StatusCode::FOUND, b"").status, StatusCode::BAD_GATEWAY);
    }
}
