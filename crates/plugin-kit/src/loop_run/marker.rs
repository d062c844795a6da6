//! Writes `loop-error.json`, signed with a secret from the driver's environment. Child processes never
//! receive the secret, so only the driver can create a valid marker.

use std::io;
use std::path::Path;

use loopgate_api::failure_marker::FailureMarker;
use loopgate_api::names::LOOP_ERROR;
use loopgate_home::untrusted;
use secrecy::{ExposeSecret as _, SecretString};

/// Writes the failure marker. No-op without a secret.
///
/// # Errors
/// Fails when subcode or message are out of bounds, and on any file system error.
pub fn write(workdir: &Path, secret: Option<&SecretString>, subcode: &str, message: &str) -> io::Result<()> {
    let Some(secret) = secret else { return Ok(()) };
    let marker = FailureMarker::signed(subcode, message, secret.expose_secret())
        .ok_or_else(|| io::Error::other("subcode or message out of bounds"))?;
    untrusted::write_private(&workdir.join(LOOP_ERROR), &serde_json::to_vec(&marker)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marker_requires_a_secret_and_a_valid_subcode() {
        let dir = tempfile::tempdir().unwrap();
        let secret = SecretString::from("key");
        // Neither a lower-case subcode nor a missing secret produces a marker.
        assert!(write(dir.path(), Some(&secret), "lower", "x").is_err());
        write(dir.path(), None, "FINE_CODE", "x").unwrap();
        assert!(!dir.path().join(LOOP_ERROR).exists());
        write(dir.path(), Some(&secret), "FINE_CODE", "x").unwrap();
        assert!(dir.path().join(LOOP_ERROR).exists());
    }
}
