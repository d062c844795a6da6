//! `loop-error.json`: a failure that the user should read, signed so that the desktop trusts it.
//!
//! The signature covers the compact JSON without it, in one fixed order of members. The secret came
//! with the driver's environment and is never given to a child.

use std::path::Path;

use hmac::{Hmac, KeyInit as _, Mac as _};
use loopgate_api::names::LOOP_ERROR;
use loopgate_home::untrusted;
use secrecy::{ExposeSecret as _, SecretString};
use serde::Serialize;
use sha2::Sha256;

use crate::console::print_error;

/// Kind of failure that the reader knows.
pub const RUNNER_ERROR: &str = "RUNNER_ERROR";

#[derive(Serialize)]
struct SignedMarker<'a> {
    code: &'a str,
    message: &'a str,
    result: Detail<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signature: Option<String>,
}

#[derive(Clone, Copy, Serialize)]
struct Detail<'a> {
    subcode: &'a str,
}

/// Writes the marker and the line on standard error. Without a secret there is only the line.
pub fn write(workdir: &Path, secret: Option<&SecretString>, subcode: &str, message: &str) {
    print_error(format!("LOOPGATE_FATAL[{subcode}]: {message}"));
    let Some(secret) = secret else { return };
    if !is_subcode(subcode) || message.is_empty() || message.chars().count() > 1000 {
        print_error("The failure marker was not written: subcode or message out of bounds");
        return;
    }
    let written = render(secret, subcode, message)
        .and_then(|bytes| untrusted::write_private(&workdir.join(LOOP_ERROR), &bytes));
    if let Err(error) = written {
        print_error(format!("The failure marker was not written: {error}"));
    }
}

fn render(secret: &SecretString, subcode: &str, message: &str) -> std::io::Result<Vec<u8>> {
    let mut marker =
        SignedMarker { code: RUNNER_ERROR, message, result: Detail { subcode }, signature: None };
    let signed = serde_json::to_vec(&marker)?;
    let mut mac = Hmac::<Sha256>::new_from_slice(secret.expose_secret().as_bytes())
        .map_err(|error| std::io::Error::other(error.to_string()))?;
    mac.update(&signed);
    marker.signature = Some(format!("sha256={}", hex::encode(mac.finalize().into_bytes())));
    Ok(serde_json::to_vec(&marker)?)
}

fn is_subcode(subcode: &str) -> bool {
    (3..=64).contains(&subcode.len())
        && subcode.starts_with(|c: char| c.is_ascii_uppercase())
        && subcode.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;

    // PL-20
    #[test]
    fn the_signature_covers_the_exact_bytes() {
        let secret = SecretString::from("key");
        let message = "Zwei Aufgaben sind offen: \u{1}\u{1f} \"ä\" \u{2028} </x>";
        let bytes = render(&secret, "PENDING_TASKS_AT_COMPLETION", message).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        let (signed, signature) = text.split_once(",\"signature\":\"").unwrap();
        let mut mac = Hmac::<Sha256>::new_from_slice(b"key").unwrap();
        mac.update(format!("{signed}}}").as_bytes());
        let expected = hex::encode(mac.finalize().into_bytes());
        assert_eq!(signature, format!("sha256={expected}\"}}"));
        // As JavaScript's JSON.stringify escapes: control characters in lower-case hex, the rest literal.
        assert!(signed.contains("\\u0001\\u001f \\\"ä\\\" \u{2028} </x>"), "{signed}");
    }

    #[test]
    fn a_marker_out_of_bounds_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let secret = SecretString::from("key");
        for (subcode, message) in [("lower", "x"), ("AB", "x"), ("FINE_CODE", "")] {
            write(dir.path(), Some(&secret), subcode, message);
        }
        write(dir.path(), None, "FINE_CODE", "x");
        assert!(!dir.path().join(LOOP_ERROR).exists());
        write(dir.path(), Some(&secret), "FINE_CODE", "x");
        assert!(dir.path().join(LOOP_ERROR).exists());
    }
}
