//! Verification of browser key signatures on commands.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use futures_util::future::BoxFuture;
use loopgate_api::launch::{SignedLaunch, changed_members, launch_digests};
use loopgate_api::link::{CommandAck, Fingerprint, LinkCommand, SignaturePayload, USER_INTENT};
use loopgate_api::operation::OperationId;
use loopgate_api::usd::Usd;
use loopgate_home::{AuthorizedKeys, BrowserKey};
use serde::Deserialize as _;
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

/// The part of a signed start or cancellation of a loop that its user signed.
pub(super) struct SignedLoop<'a> {
    pub(super) operation: OperationId,
    /// Id of the loop: of a start, as the server assigned it; of a cancellation, as the user signed it.
    pub(super) loop_id: String,
    /// Key prefix that the server assigned to a start.
    state_key: Option<&'a Value>,
    intent: &'a Value,
}

impl<'a> SignedLoop<'a> {
    /// Returns `None` for commands whose signature covers the complete body.
    pub(super) fn of(command: &'a LinkCommand) -> Option<Self> {
        let operation = OperationId::of_path(super::request::path(command))?;
        let body = command.body.as_ref()?;
        let intent = body.get(USER_INTENT)?;
        let loop_id = match operation {
            OperationId::OrchestratorLoop => body.get("loopId")?,
            OperationId::OrchestratorLoopKill => intent.get("loopId")?,
            _ => return None,
        };
        let loop_id = loop_id.as_str()?.to_owned();
        Some(Self { operation, loop_id, state_key: body.get("s3StateKey"), intent })
    }

    /// Returns the launch request for the gateway, if everything in it that the server does not assign is what
    /// the user signed. The server assigns the loop's id, its storage key and its token.
    ///
    /// # Errors
    /// Fails with a message for the user.
    pub(super) fn launch(&self, fetched: Value) -> Result<Value, String> {
        let Some(signed) = self.intent.get("launch") else {
            let text = "the browser signed the request without what the loop runs; reload the page and start the loop again";
            return Err(text.to_owned());
        };
        let malformed = |_| "what the loop runs is not signed in a known form".to_owned();
        let signed = SignedLaunch::deserialize(signed).map_err(malformed)?;
        let Value::Object(mut body) = fetched else {
            return Err("the control plane sent no launch request".to_owned());
        };
        let mut changed: BTreeSet<String> =
            changed_members(&signed.digests, &launch_digests(&body)).into_iter().map(str::to_owned).collect();
        let mut require = |name: &str, is_same: bool| {
            if !is_same {
                changed.insert(name.to_owned());
            }
        };
        require("loopId", body.get("loopId").and_then(Value::as_str) == Some(&self.loop_id));
        require("s3StateKey", body.get("s3StateKey") == self.state_key);
        // The digests are of the control plane's preview; these members are the user's own request.
        for name in ["prompt", "repo", "additionalRepos"] {
            if let Some(requested) = self.intent.get(name) {
                let requested = Some(requested).filter(|value| !is_empty(value));
                require(name, body.get(name).filter(|value| !is_empty(value)) == requested);
            }
        }
        let command = self.intent.get("command").and_then(Value::as_str).map(str::to_ascii_uppercase);
        require("command", body.get("command").and_then(Value::as_str) == command.as_deref());
        // Other loops spend the organization's budget between signature and launch, so it may only decrease.
        let limit = body.get("maxSpendUsd").map(Usd::deserialize).transpose();
        let is_lower = match (signed.max_spend_usd, limit) {
            (None, Ok(_)) => true,
            (Some(signed), Ok(limit)) => limit.is_some_and(|limit| limit <= signed),
            (_, Err(_)) => false,
        };
        require("maxSpendUsd", is_lower);
        if !changed.is_empty() {
            let names = changed.into_iter().collect::<Vec<_>>().join(", ");
            return Err(format!("not what the browser signed: {names}"));
        }
        // The desktop sends its results to the control plane that is configured here.
        body.remove("apiBaseUrl");
        Ok(Value::Object(body))
    }
}

fn is_empty(value: &Value) -> bool {
    value.is_null()
        || value.as_array().is_some_and(Vec::is_empty)
        || value.as_str().is_some_and(|text| text.trim().is_empty())
}
