//! The two commands about browser keys. They come from the server itself and reach no gateway, so neither set-up nor
//! pause nor signatures hold them up.

use loopgate_api::link::{BrowserKeyCommand, Fingerprint, LinkCommand, REQUEST_KEY_APPROVAL, REVOKE_KEY};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::rejection::Rejection;
use super::request;

/// The operations by name, as a hello lists them.
pub(crate) const BROWSER_KEY_OPERATIONS: [&str; 2] =
    [REVOKE_KEY.operation_id, REQUEST_KEY_APPROVAL.operation_id];

/// What a command wants with a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyRequest {
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

impl KeyRequest {
    /// Reads a command; `None` when it is about something else.
    pub(super) fn of(
        command: &LinkCommand,
        target_id: Option<Uuid>,
        gateway_id: Uuid,
    ) -> Option<Result<Self, Rejection>> {
        let path = request::path(command);
        let named =
            |known: BrowserKeyCommand| command.operation_id == known.operation_id || path == known.path;
        let is_whole = |known: BrowserKeyCommand| {
            command.operation_id == known.operation_id
                && command.path == known.path
                && command.method.eq_ignore_ascii_case("POST")
        };
        let which = [REVOKE_KEY, REQUEST_KEY_APPROVAL].into_iter().find(|which| named(*which))?;
        if !is_whole(which) {
            return Some(Err(Rejection::OperationPathMismatch));
        }
        let revokes = which == REVOKE_KEY;
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
