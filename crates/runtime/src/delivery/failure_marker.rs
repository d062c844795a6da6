//! Reads `loop-error.json`, in which the loop driver reports a failure. The file is signed, because every
//! program in the worktree can write it.

use std::path::Path;
use std::time::SystemTime;

use loopgate_api::failure_marker::FailureMarker;
use loopgate_api::names::LOOP_ERROR;
use loopgate_api::redact;
use loopgate_home::untrusted;
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::json;

use crate::jobs::UserVisibleFailure;

// A marker is a code and a short message; a larger file was not written by the driver.
const MAX_BYTES: u64 = 8192;

/// Generates the HMAC secret that the driver of one run signs its marker with.
#[must_use]
pub fn new_secret() -> SecretString {
    use base64::Engine as _;
    let bytes: [u8; 32] = rand::random();
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes).into()
}

/// Returns the failure in a work directory if it was signed with this run's secret. Performs blocking I/O.
#[must_use]
pub fn read(work_dir: &Path, secret: &SecretString, spawned: SystemTime) -> Option<UserVisibleFailure> {
    let path = work_dir.join(LOOP_ERROR);
    // A marker of an earlier run of the same loop must not fail this one.
    if untrusted::metadata(&path).ok()?.modified().ok()? < spawned {
        return None;
    }
    let content = untrusted::read(&path, MAX_BYTES).ok()?;
    let marker = FailureMarker::verified(&content, secret.expose_secret())?;
    let message: String = redact::credentials(&redact::strip_ansi(&marker.message))
        .chars()
        .filter(|c| !c.is_control() || *c == '\n')
        .collect();
    let result = json!({"subcode": marker.result.subcode}).as_object().cloned().unwrap_or_default();
    Some(UserVisibleFailure { code: marker.code, message, result })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    // LR-37
    #[test]
    fn marker_is_accepted_only_when_signed_in_this_run() {
        let dir = tempfile::tempdir().unwrap();
        let secret = new_secret();
        let marker =
            FailureMarker::signed("ITERATION_LIMIT", "\u{1b}[1mNot done.\u{7}", secret.expose_secret());
        std::fs::write(dir.path().join(LOOP_ERROR), serde_json::to_vec(&marker).unwrap()).unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        let failure = read(dir.path(), &secret, before).unwrap();
        assert_eq!(failure.message, "Not done.");
        assert_eq!(failure.result["subcode"], "ITERATION_LIMIT");
        let later = SystemTime::now() + Duration::from_secs(60);
        assert_eq!(read(dir.path(), &secret, later), None, "older than the run");
        assert_eq!(read(dir.path(), &new_secret(), before), None, "another key");
    }
}
