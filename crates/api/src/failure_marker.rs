//! `loop-error.json`: a failure that the loop driver reports for people to read.
//!
//! The file is where the assistant can write too, so only a signature made with the secret that the driver
//! alone was given makes it count. It covers the compact JSON without it, in the order of the members below.

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::event::code;

/// Characters that a message may have.
const MAX_MESSAGE: usize = 1000;
const CODES: [&str; 3] = [code::RUNNER_ERROR, code::PRE_RUN_VALIDATION_FAILED, code::PLAN_STATE_UNAVAILABLE];
const PREFIX: &str = "sha256=";

/// The content of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureMarker {
    /// Code of the `error` event.
    pub code: String,
    /// The sentence for people.
    pub message: String,
    /// What goes with the event.
    pub result: FailureDetail,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

/// Which failure it was.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailureDetail {
    /// 3 to 64 upper-case letters, digits and underscores.
    pub subcode: String,
}

impl FailureMarker {
    /// A signed marker of code `RUNNER_ERROR`; `None` where subcode or message is out of bounds.
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

    /// The marker in a file's content; `None` unless it is well-formed and signed with this secret.
    #[must_use]
    pub fn verified(content: &[u8], secret: &str) -> Option<Self> {
        let mut marker: Self = serde_json::from_slice(content).ok()?;
        let signature = hex::decode(marker.signature.take()?.strip_prefix(PREFIX)?).ok()?;
        // Compares in constant time.
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

    /// The code over what is signed.
    fn mac(&self, secret: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).ok()?;
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
        // As JavaScript's JSON.stringify escapes: control characters in lower-case hex, the rest literal.
        assert!(signed.contains("\\u0001\\u001f \\\"ä\\\" \u{2028} </x>"), "{signed}");
    }

    // LR-37
    #[test]
    fn only_an_unchanged_marker_with_the_right_key_is_verified() {
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
