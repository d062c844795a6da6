//! Writes `loop-error.json`, signed with a secret from the driver's environment. Child processes never
//! receive the secret, so only the driver can create a valid marker.

use std::io;
use std::path::Path;

use loopgate_api::failure_marker::FailureMarker;
use loopgate_api::names::LOOP_ERROR;
use loopgate_home::untrusted;
use secrecy::{ExposeSecret as _, SecretString};

use crate::console::print_error;

/// Writes the failure marker, best-effort. No-op without a secret.
pub fn write(workdir: &Path, secret: Option<&SecretString>, subcode: &str, message: &str) {
    let Some(secret) = secret else { return };
    let Some(marker) = FailureMarker::signed(subcode, message, secret.expose_secret()) else {
        print_error("The failure marker was not written: subcode or message out of bounds");
        return;
    };
    let result = serde_json::to_vec(&marker)
        .map_err(io::Error::from)
        .and_then(|bytes| untrusted::write_private(&workdir.join(LOOP_ERROR), &bytes));
    if let Err(error) = result {
        print_error(format!("The failure marker was not written: {error}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_requires_a_secret_and_a_valid_subcode() {
        let dir = tempfile::tempdir().unwrap();
        let secret = SecretString::from("key");
        // Neither a lower-case subcode nor a missing secret produces a marker.
        write(dir.path(), Some(&secret), "lower", "x");
        write(dir.path(), None, "FINE_CODE", "x");
        assert!(!dir.path().join(LOOP_ERROR).exists());
        write(dir.path(), Some(&secret), "FINE_CODE", "x");
        assert!(dir.path().join(LOOP_ERROR).exists());
    }
}
