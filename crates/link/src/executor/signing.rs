//! Verification of browser key signatures on commands.

use std::collections::HashMap;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use loopgate_api::link::{CommandAck, Fingerprint, LinkCommand, SignaturePayload};
use loopgate_home::{AuthorizedKeys, BrowserKey};
use serde_json::Value;
use thiserror::Error;
use uuid::Uuid;

/// Seconds for which a signature is valid.
const MAX_AGE: i64 = 45;
/// Seconds by which the browser's clock may be ahead of the local clock.
const MAX_AHEAD: i64 = 5;
/// Nonces stored at once. Above it signed commands are rejected until the oldest nonces expire: dropping one
/// early would allow a replay.
const MAX_NONCES: usize = 10_000;

/// Dependencies of the executor for signed commands.
pub struct Signing {
    /// Keys that the user has authorized.
    pub keys: AuthorizedKeys,
    /// Returns whether the user requires signatures. Enforced whatever the server supports.
    pub required: Box<dyn Fn() -> bool + Send + Sync>,
    /// Id of this installation, to which browser key commands are addressed.
    pub gateway_id: Uuid,
    /// Called when the control plane relays a key's request for authorization.
    pub on_key_request: Box<dyn Fn(Fingerprint) + Send + Sync>,
    /// Source of the server's part of a signed request to start or cancel a loop.
    pub loop_credentials: Arc<dyn LoopCredentials>,
}

/// Completes signed requests to start or cancel a loop.
pub trait LoopCredentials: Send + Sync + 'static {
    /// Returns the complete body of the request to the gateway. The server issues it once per command.
    ///
    /// # Errors
    /// Fails with a message for the user.
    fn fetch(
        &self,
        target_id: Uuid,
        loop_id: String,
        command_id: String,
    ) -> BoxFuture<'_, Result<Value, String>>;
}

/// Reason for which a command is rejected when signatures are required. Clients compare the messages.
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
    /// Returns the stable error code.
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

/// Verifies signatures, and stores nonces until they expire, to reject replays.
pub(super) struct SignatureVerifier {
    /// Start of the process in seconds since the epoch. Earlier signatures are rejected, because an earlier
    /// process may have executed their commands.
    started_at: i64,
    seen: HashMap<(Fingerprint, String), i64>,
}

impl SignatureVerifier {
    pub(super) fn new(started_at: i64) -> Self {
        Self { started_at, seen: HashMap::new() }
    }

    /// Verifies a command against the keys at `now`, in seconds since the epoch. Accepts each nonce once.
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
        if !payload.matches(command) {
            return Err(SigningRejection::PayloadMismatch);
        }
        self.seen.retain(|_, signed_at| *signed_at >= now - MAX_AGE);
        let nonce = (key.fingerprint.clone(), payload.nonce);
        if self.seen.contains_key(&nonce) || self.seen.len() >= MAX_NONCES {
            return Err(SigningRejection::StaleOrReplayed);
        }
        // Only after all cheaper checks: verifying a signature is the expensive step.
        if !key.verifies(text, signature) {
            return Err(SigningRejection::InvalidSignature);
        }
        // Only the nonces of valid signatures are stored, so that a forged command cannot block the nonce of
        // the genuine one.
        self.seen.insert(nonce, payload.timestamp);
        Ok(())
    }
}

/// Returns the id of the loop that a signed command starts or cancels, if its body must be fetched from the
/// server.
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
