//! The failure that the loop driver signs for people to see: `loop-error.json`.
//!
//! The file lies where the assistant can write too, so only a signature made with the secret that
//! the driver alone was given makes it count.

use std::path::Path;
use std::time::SystemTime;

use hmac::{Hmac, KeyInit as _, Mac as _};
use loopgate_api::event::code;
use loopgate_api::names::LOOP_ERROR;
use loopgate_api::redact;
use loopgate_home::untrusted;
use secrecy::{ExposeSecret as _, SecretString};
use serde::{Deserialize, Serialize};
use serde_json::json;
use sha2::Sha256;

use crate::jobs::UserVisibleFailure;

const MAX_BYTES: u64 = 8192;
const MAX_MESSAGE: usize = 1000;
const CODES: [&str; 3] = [code::RUNNER_ERROR, code::PRE_RUN_VALIDATION_FAILED, code::PLAN_STATE_UNAVAILABLE];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FailureMarker {
    code: String,
    message: String,
    result: Subcode,
    signature: String,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Subcode {
    subcode: String,
}

/// What is signed, in the order in which it is signed.
#[derive(Serialize)]
struct SignedPayload<'a> {
    code: &'a str,
    message: &'a str,
    result: &'a Subcode,
}

/// A secret for one run.
#[must_use]
pub fn new_secret() -> SecretString {
    use base64::Engine as _;
    let bytes: [u8; 32] = rand::random();
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes).into()
}

/// The marker of a work directory, when it is to be trusted. Looks at the disk.
#[must_use]
pub fn read(work_dir: &Path, secret: &SecretString, spawned: SystemTime) -> Option<UserVisibleFailure> {
    let path = work_dir.join(LOOP_ERROR);
    if untrusted::metadata(&path).ok()?.modified().ok()? < spawned {
        return None;
    }
    let marker: FailureMarker = serde_json::from_slice(&untrusted::read(&path, MAX_BYTES).ok()?).ok()?;
    if !is_valid(&marker) || !is_signed(&marker, secret) {
        return None;
    }
    let message: String = redact::credentials(&redact::strip_ansi(&marker.message))
        .chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .collect();
    let result = json!({"subcode": marker.result.subcode}).as_object().cloned().unwrap_or_default();
    Some(UserVisibleFailure { code: marker.code, message, result })
}

fn is_valid(marker: &FailureMarker) -> bool {
    let subcode = &marker.result.subcode;
    let shape =
        |(at, c): (usize, char)| c.is_ascii_uppercase() || (at > 0 && (c.is_ascii_digit() || c == '_'));
    CODES.contains(&marker.code.as_str())
        && (1..=MAX_MESSAGE).contains(&marker.message.chars().count())
        && (3..=64).contains(&subcode.len())
        && subcode.chars().enumerate().all(shape)
}

fn is_signed(marker: &FailureMarker, secret: &SecretString) -> bool {
    let signed = SignedPayload { code: &marker.code, message: &marker.message, result: &marker.result };
    let Ok(text) = serde_json::to_vec(&signed) else { return false };
    let Some(signature) = marker.signature.strip_prefix("sha256=").and_then(|hex| hex::decode(hex).ok())
    else {
        return false;
    };
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes()) else { return false };
    mac.update(&text);
    // Compares in constant time.
    mac.verify_slice(&signature).is_ok()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn write(dir: &Path, text: &str, secret: &str) {
        let signed = format!(
            r#"{{"code":"RUNNER_ERROR","message":"{text}","result":{{"subcode":"PENDING_TASKS_AT_COMPLETION"}}}}"#
        );
        let mut mac = Hmac::<Sha256>::new_from_slice(secret.as_bytes()).unwrap();
        mac.update(signed.as_bytes());
        let signature = hex::encode(mac.finalize().into_bytes());
        let whole = format!(
            r#"{},"signature":"sha256={signature}"}}"#,
            signed.trim_end_matches('}').to_owned() + "}"
        );
        std::fs::write(dir.join(LOOP_ERROR), whole).unwrap();
    }

    // LR-37
    #[test]
    fn only_the_drivers_word_counts() {
        let dir = tempfile::tempdir().unwrap();
        let secret = new_secret();
        let before = SystemTime::now() - Duration::from_secs(60);
        write(dir.path(), "Two tasks are open.", secret.expose_secret());
        let failure = read(dir.path(), &secret, before).unwrap();
        assert_eq!(failure.message, "Two tasks are open.");
        assert_eq!(failure.result["subcode"], "PENDING_TASKS_AT_COMPLETION");
        let later = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(read(dir.path(), &secret, later), None, "older than the run");
        assert_eq!(read(dir.path(), &new_secret(), before), None, "another key");
        write(dir.path(), &"x".repeat(1001), secret.expose_secret());
        assert_eq!(read(dir.path(), &secret, before), None, "too long");
    }
}
