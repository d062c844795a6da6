//! `loop-error.json`: a failure message of the loop driver for the user.
//!
//! The assistant can write to the same directory. The marker is therefore signed with a secret that only the
//! driver receives. The signature covers the compact JSON of the other members, in the order of the struct
//! below.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::event::code;

/// Maximum length of a message in characters; events show it in full.
const MAX_MESSAGE: usize = 1000;
const CODES: [&str; 3] = [code::RUNNER_ERROR, code::PRE_RUN_VALIDATION_FAILED, code::PLAN_STATE_UNAVAILABLE];
const PREFIX: &str = "sha256=";

/// Content of the file `loop-error.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureMarker {
    /// Code of the resulting `error` event.
    pub code: String,
    /// Failure message for the user, up to 1000 characters.
    pub message: String,
    /// Becomes the event's `result` member.
    pub result: FailureDetail,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

/// Details of the failure that the event carries.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureDetail {
    /// Specific failure: 3 to 64 upper-case letters, digits and underscores, starting with a letter.
    pub subcode: String,
}

impl FailureMarker {
    /// Creates a signed marker with code `RUNNER_ERROR`; returns `None` when subcode or message is invalid.
    #[must_use]
    pub fn signed(subcode: &str, message: &str, secret: &str) -> Option<Self> {
        let mut marker = Self {
            code: code::RUNNER_ERROR.to_owned(),
            message: message.to_owned(),
            result: FailureDetail { subcode: subcode.to_owned() },
            signature: None,
        };
        let signature = marker.is_valid().then(|| marker.mac(secret))??.finalize().into_bytes();
        marker.signature = Some(format!("{PREFIX}{}", hex::encode(signature)));
        Some(marker)
    }

    /// Parses a file's content; returns `None` unless it is well-formed and signed with this secret.
    #[must_use]
    pub fn verified(content: &[u8], secret: &str) -> Option<Self> {
        let mut marker: Self = serde_json::from_slice(content).ok()?;
        // `take` removes the signature: it covers the JSON without it.
        let signature = hex::decode(marker.signature.take()?.strip_prefix(PREFIX)?).ok()?;
        // `verify_slice` compares in constant time.
        marker.mac(secret)?.verify_slice(&signature).ok()?;
        marker.is_valid().then_some(marker)
    }

    fn is_valid(&self) -> bool {
        let subcode = &self.result.subcode;
        CODES.contains(&self.code.as_str())
            && (1..=MAX_MESSAGE).contains(&self.message.chars().count())
            && (3..=64).contains(&subcode.len())
            && subcode.starts_with(|c: char| c.is_ascii_uppercase())
            && subcode.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
    }

    /// Computes the MAC of the marker, whose signature must be `None`.
    fn mac(&self, secret: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
        // The file's whitespace and member order do not matter: both sides sign the JSON that serde writes
        // for this struct.
        mac.update(&serde_json::to_vec(self).ok()?);
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUBCODE: &str = "PENDING_TASKS_AT_COMPLETION";

    // PL-20
    #[test]
    fn signature_covers_the_exact_bytes() {
        let message = "Zwei Aufgaben sind offen: \u{1}\u{1f} \"ä\" \u{2028} </x>";
        let text = serde_json::to_string(&FailureMarker::signed(SUBCODE, message, "key").unwrap()).unwrap();
        let (signed, signature) = text.split_once(",\"signature\":\"").unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(b"key").unwrap();
        mac.update(format!("{signed}}}").as_bytes());
        let expected = hex::encode(mac.finalize().into_bytes());
        assert_eq!(signature, format!("sha256={expected}\"}}"));
        // Same escapes as JavaScript's JSON.stringify: control characters in lower-case hex, all others
        // literal.
        assert!(signed.contains("\\u0001\\u001f \\\"ä\\\" \u{2028} </x>"), "{signed}");
    }

    // LR-37
    #[test]
    fn marker_is_rejected_when_changed_or_signed_with_another_key() {
        let marker = FailureMarker::signed(SUBCODE, "Two tasks are open.", "key").unwrap();
        let content = serde_json::to_string(&marker).unwrap();
        assert_eq!(
            FailureMarker::verified(content.as_bytes(), "key").unwrap().message,
            "Two tasks are open."
        );
        for changed in [
            content.replace("Two", "Ten"),
            content.replace("RUNNER_ERROR", "PROCESS_FAILED"),
            content.replace("sha256=", ""),
            content.replace("\"code\"", "\"more\":1,\"code\""),
            content.split(",\"signature\"").next().unwrap().to_owned() + "}",
        ] {
            assert!(FailureMarker::verified(changed.as_bytes(), "key").is_none(), "{changed}");
        }
        assert!(FailureMarker::verified(content.as_bytes(), "other").is_none());
    }

    #[test]
    fn subcode_and_message_have_bounds() {
        let long = "x".repeat(MAX_MESSAGE + 1);
        for (subcode, message) in
            [("lower", "x"), ("AB", "x"), ("_CODE", "x"), (SUBCODE, ""), (SUBCODE, &long)]
        {
            assert!(FailureMarker::signed(subcode, message, "key").is_none(), "{subcode} {message}");
        }
    }
}
