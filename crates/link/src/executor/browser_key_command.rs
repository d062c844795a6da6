//! The two commands about browser keys. They originate from the control plane itself and are not passed to
//! the gateway, so onboarding, pause and signature checks do not apply to them.

use loopgate_api::link::{BrowserKeyCommand, Fingerprint, LinkCommand, REQUEST_KEY_APPROVAL, REVOKE_KEY};
use serde::Deserialize;
use serde_json::Value;
use uuid::Uuid;

use super::rejection::Rejection;
use super::request;

/// Ids of the operations, as listed in a hello.
pub(crate) const BROWSER_KEY_OPERATIONS: [&str; 2] =
    [REVOKE_KEY.operation_id, REQUEST_KEY_APPROVAL.operation_id];

/// Requested action on a browser key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum KeyRequest {
    /// Removes the key from the authorized keys.
    Revoke(Fingerprint),
    /// Presents the key to the user for authorization. Does not authorize it.
    RequestApproval(Fingerprint),
}

/// Body of both commands.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(dead_code, reason = "the body must have these members")]
struct KeyReference {
    public_key_id: Uuid,
    user_id: Uuid,
    fingerprint: Fingerprint,
    compute_target_id: Option<Uuid>,
    gateway_id: Option<Uuid>,
}

impl KeyRequest {
    /// Parses a command. Returns `None` when it is not about a browser key.
    pub(super) fn of(
        command: &LinkCommand,
        target_id: Option<Uuid>,
        gateway_id: Uuid,
    ) -> Option<Result<Self, Rejection>> {
        let path = request::path(command);
        let matches_partially = |expected: BrowserKeyCommand| {
            command.operation_id == expected.operation_id || path == expected.path
        };
        let matches_exactly = |expected: BrowserKeyCommand| {
            command.operation_id == expected.operation_id
                && command.path == expected.path
                && command.method.eq_ignore_ascii_case("POST")
        };
        let key_command = [REVOKE_KEY, REQUEST_KEY_APPROVAL]
            .into_iter()
            .find(|key_command| matches_partially(*key_command))?;
        if !matches_exactly(key_command) {
            return Some(Err(Rejection::OperationPathMismatch));
        }
        let revokes = key_command == REVOKE_KEY;
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
