//! The two commands about browser keys. They come from the server itself and reach no gateway, so neither set-up nor
//! pause nor signatures hold them up.

use loopgate_api::link::{Fingerprint, LinkCommand};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::rejection::Rejection;
use super::request;

/// Operation and path of the command that takes a key away.
const REVOKE: (&str, &str) = ("browser_key_revoke", "/api/gateway/internal/browser-key/revoke");
/// Operation and path of the command that asks for a key.
const APPROVAL_REQUEST: (&str, &str) =
    ("browser_key_approval_request", "/api/gateway/internal/browser-key/approval-request");

/// The operations by name, as a hello lists them.
pub(crate) const BROWSER_KEY_OPERATIONS: [&str; 2] = [REVOKE.0, APPROVAL_REQUEST.0];

/// A command about a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BrowserKeyCommand {
    /// The key signs no more.
    Revoke(Fingerprint),
    /// The key asks to be authorized; by itself that authorizes nothing.
    RequestApproval(Fingerprint),
}

/// The body of both.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "a body without the first two members is refused")]
struct KeyReference {
    public_key_id: Uuid,
    user_id: Uuid,
    fingerprint: Fingerprint,
    compute_target_id: Option<Uuid>,
    gateway_id: Option<Uuid>,
}

impl BrowserKeyCommand {
    /// Reads a command; `None` when it is about something else.
    pub(super) fn of(
        command: &LinkCommand,
        target_id: Option<Uuid>,
        gateway_id: Uuid,
    ) -> Option<Result<Self, Rejection>> {
        let path = request::path(command);
        let named = |(operation, known): (&str, &str)| command.operation_id == operation || path == known;
        let is_whole = |(operation, known): (&str, &str)| {
            command.operation_id == operation
                && command.path == known
                && command.method.eq_ignore_ascii_case("POST")
        };
        let which = [REVOKE, APPROVAL_REQUEST].into_iter().find(|which| named(*which))?;
        if !is_whole(which) {
            return Some(Err(Rejection::OperationPathMismatch));
        }
        let revokes = which == REVOKE;
        let body = serde_json::from_value::<KeyReference>(command.body.clone().unwrap_or(Value::Null));
        let Ok(body) = body else {
            return Some(Err(Rejection::InvalidKeyReference { revokes }));
        };
        let is_foreign = body.compute_target_id.is_some_and(|id| Some(id) != target_id)
            || body.gateway_id.is_some_and(|id| id != gateway_id);
        Some(match body.fingerprint {
            _ if is_foreign => Err(Rejection::KeyContextMismatch),
            fingerprint if revokes => Ok(Self::Revoke(fingerprint)),
            fingerprint => Ok(Self::RequestApproval(fingerprint)),
        })
    }
}
