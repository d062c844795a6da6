//! Signatures of browser keys on commands: when they are demanded, and what they are held against.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use loopgate_api::link::{CommandAck, Fingerprint, LinkCommand, SignaturePayload};
use loopgate_home::{AuthorizedKeys, BrowserKey};
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

/// Seconds that a signature is good for.
const MAX_AGE: i64 = 45;
/// Seconds that the browser's clock may be ahead of ours.
const MAX_AHEAD: i64 = 5;
/// Signatures remembered at once; a further one is refused until one of them is too old to come again.
const MAX_NONCES: usize = 10_000;

/// What the executor needs for signed commands.
pub struct Signing {
    /// The keys that the user authorized.
    pub keys: AuthorizedKeys,
    /// Whether the user demands signatures. They count only while the server supports them, too.
    pub required: Box<dyn Fn() -> bool + Send + Sync>,
    /// Id of this installation; commands about keys name it.
    pub gateway_id: Uuid,
    /// Called when the control plane says that a key asks to be authorized.
    pub key_asks: Box<dyn Fn(Fingerprint) + Send + Sync>,
    /// Where the server's part of a signed start or end of a loop comes from.
    pub loop_credentials: Arc<dyn LoopCredentials>,
}

/// Fetches what a signed start or end of a loop lacks.
pub trait LoopCredentials: Send + Sync + 'static {
    /// The whole body of the request to the gateway. Given out once a command.
    ///
    /// # Errors
    /// Why there is none, for a person.
    fn fetch(
        &self,
        target_id: Uuid,
        loop_id: String,
        command_id: String,
    ) -> BoxFuture<'_, Result<Value, String>>;
}

/// Why a command is not taken when signatures are demanded. The texts are exact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(crate) enum SigningRejection {
    #[error("unauthorized: no keys authorized")]
    NoKeys,
    #[error("unauthorized: unsigned command")]
    Unsigned,
    #[error("unauthorized: unknown signing key")]
    UnknownKey,
    #[error("unauthorized: invalid signature")]
    InvalidSignature,
    #[error("unauthorized: stale or replayed command")]
    StaleOrReplayed,
    #[error("unauthorized: payload_mismatch")]
    PayloadMismatch,
}

impl SigningRejection {
    /// Stable identifier of the case.
    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::NoKeys => CommandAck::NO_KEYS_AUTHORIZED,
            Self::Unsigned => "unsigned_command",
            Self::UnknownKey => CommandAck::UNKNOWN_SIGNING_KEY,
            Self::InvalidSignature => "invalid_signature",
            Self::StaleOrReplayed => "stale_or_replayed",
            Self::PayloadMismatch => "payload_mismatch",
        }
    }
}

/// Remembers signatures for as long as they would be accepted again.
pub(super) struct SignatureVerifier {
    /// Seconds since the epoch. What was signed before may have been carried out by an earlier process, so it is
    /// refused.
    started_at: i64,
    seen: HashMap<(Fingerprint, String), i64>,
}

impl SignatureVerifier {
    pub(super) fn new(started_at: i64) -> Self {
        Self { started_at, seen: HashMap::new() }
    }

    /// Checks a command against the keys, at a moment in seconds since the epoch. A signature counts once.
    pub(super) fn verify(
        &mut self,
        keys: &[BrowserKey],
        command: &LinkCommand,
        now: i64,
    ) -> Result<(), SigningRejection> {
        if keys.is_empty() {
            return Err(SigningRejection::NoKeys);
        }
        let (Some(signature), Some(text), Some(fingerprint)) =
            (&command.signature, &command.signature_payload, &command.public_key_fingerprint)
        else {
            return Err(SigningRejection::Unsigned);
        };
        let key = keys.iter().find(|key| key.fingerprint.as_str() == fingerprint);
        let key = key.ok_or(SigningRejection::UnknownKey)?;
        let payload = serde_json::from_str::<SignaturePayload>(text);
        let payload = payload.map_err(|_| SigningRejection::InvalidSignature)?;
        let is_fresh = payload.timestamp >= (now - MAX_AGE).max(self.started_at);
        if !is_fresh || payload.timestamp > now + MAX_AHEAD {
            return Err(SigningRejection::StaleOrReplayed);
        }
        if !payload.is_about(command) {
            return Err(SigningRejection::PayloadMismatch);
        }
        self.seen.retain(|_, signed_at| *signed_at >= now - MAX_AGE);
        let own = (key.fingerprint.clone(), payload.nonce);
        if self.seen.contains_key(&own) || self.seen.len() >= MAX_NONCES {
            return Err(SigningRejection::StaleOrReplayed);
        }
        if !key.verifies(text, signature) {
            return Err(SigningRejection::InvalidSignature);
        }
        self.seen.insert(own, payload.timestamp);
        Ok(())
    }
}

/// The loop that a signed command starts or ends, when the server's part of its body is to be fetched.
pub(super) fn signed_loop(command: &LinkCommand) -> Option<String> {
    use loopgate_api::link::USER_INTENT;
    use loopgate_api::operation::OperationId;
    let operation = OperationId::of_path(super::request::path(command));
    if !matches!(operation, Some(OperationId::OrchestratorLoop | OperationId::OrchestratorLoopKill)) {
        return None;
    }
    let body = command.body.as_ref()?;
    body.get(USER_INTENT)?;
    Some(body.get("loopId")?.as_str()?.to_owned())
}
