//! Proof of possession: a desktop shows that it has the private key that its API key is bound to.
//!
//! A leaked API key is useless alone: every request with it carries a signature over method, path, time and
//! gateway id.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::pkcs8::{DecodePublicKey, EncodePublicKey, spki::der::pem::LineEnding};
use ed25519_dalek::{Signature, VerifyingKey};
use http::{HeaderMap, StatusCode};
use loopgate_api::names::{POP_GATEWAY_HEADER, POP_SIGNATURE_HEADER, POP_TIMESTAMP_HEADER};
use uuid::Uuid;

use super::header::header;
use crate::error::ApiError;
use crate::store::entity::api_key::{self, ApiKeySource};

// Tolerated clock difference in seconds; also the time in which a request can be replayed.
const CLOCK_WINDOW: u64 = 60;

/// The reason why a proof is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofError {
    /// The stored public key cannot be parsed.
    VerifierUnavailable,
    /// At least one header is missing.
    MissingHeaders,
    /// A header cannot be parsed.
    MalformedHeaders,
    /// The timestamp differs too much from the current time; by these seconds, positive when it is ahead.
    StaleTimestamp(i64),
    /// The proof is for another gateway.
    GatewayMismatch,
    /// The signature does not match the request.
    InvalidSignature,
}

impl From<ProofError> for ApiError {
    fn from(error: ProofError) -> Self {
        let failed = "Desktop managed PoP verification failed";
        match error {
            ProofError::VerifierUnavailable => {
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "Desktop managed PoP verifier unavailable")
            }
            ProofError::MissingHeaders | ProofError::MalformedHeaders => {
                Self::new(StatusCode::UNAUTHORIZED, failed)
            }
            ProofError::StaleTimestamp(seconds) => {
                let direction = if seconds > 0 { "ahead of" } else { "behind" };
                let by = seconds.unsigned_abs();
                let text = format!("{failed}: the desktop's clock is {by} s {direction} the control plane's");
                Self::new(StatusCode::FORBIDDEN, text).code("clock_skew").detail("seconds", seconds)
            }
            ProofError::GatewayMismatch | ProofError::InvalidSignature => {
                Self::new(StatusCode::FORBIDDEN, failed)
            }
        }
    }
}

/// Parses an Ed25519 public key and returns its PEM in canonical form.
pub fn normalized_pem(pem: &str) -> Option<String> {
    let key = VerifyingKey::from_public_key_pem(pem.trim()).ok()?;
    key.to_public_key_pem(LineEnding::LF).ok()
}

/// Verifies the proof of a request. Keys that are not bound to a public key need none.
pub fn verify(
    key: &api_key::Model,
    headers: &HeaderMap,
    method: &str,
    path: &str,
    now_ms: i64,
) -> Result<(), ProofError> {
    let (ApiKeySource::DesktopManaged, Some(pem), Some(gateway)) =
        (key.source.0, &key.bound_public_key, key.gateway_id)
    else {
        return Ok(());
    };
    let verifier = VerifyingKey::from_public_key_pem(pem).map_err(|_| ProofError::VerifierUnavailable)?;
    let required = |name| header(headers, name).ok_or(ProofError::MissingHeaders);
    let (claimed, timestamp, signature) =
        (required(POP_GATEWAY_HEADER)?, required(POP_TIMESTAMP_HEADER)?, required(POP_SIGNATURE_HEADER)?);
    let signature = parse_signature(signature).ok_or(ProofError::MalformedHeaders)?;
    // `u64::parse` also accepts a leading `+`, which the signed text must not contain.
    if timestamp.is_empty() || !timestamp.bytes().all(|c| c.is_ascii_digit()) {
        return Err(ProofError::MalformedHeaders);
    }
    let seconds: i64 = timestamp.parse().map_err(|_| ProofError::MalformedHeaders)?;
    let ahead = seconds.saturating_sub(now_ms / 1000);
    if ahead.unsigned_abs() > CLOCK_WINDOW {
        return Err(ProofError::StaleTimestamp(ahead));
    }
    if Uuid::try_parse(claimed).ok() != Some(gateway) {
        return Err(ProofError::GatewayMismatch);
    }
    let path = if path.is_empty() { "/" } else { path };
    let text = format!("{}\n{path}\n{timestamp}\n{claimed}", method.to_uppercase());
    // `verify_strict` rejects weak keys and malleable signatures.
    verifier.verify_strict(text.as_bytes(), &signature).map_err(|_| ProofError::InvalidSignature)
}

fn parse_signature(text: &str) -> Option<Signature> {
    let bytes = URL_SAFE_NO_PAD.decode(text.trim_end_matches('=')).ok()?;
    Signature::from_slice(&bytes).ok()
}
