//! Hash of the text in which `plan.json` and `plan.md` last agreed: the base for deciding which one changed
//! since.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use sha2::{Digest, Sha256};

/// Records the text on which both files agree.
///
/// # Errors
/// Fails on any file system error.
pub fn record_common(workdir: &Path, text: &str) -> io::Result<()> {
    let hash = hash(text);
    if untrusted::read_text(&record(workdir)).is_ok_and(|recorded| recorded == hash) {
        return Ok(());
    }
    untrusted::write(&record(workdir), hash.as_bytes())
}

/// Returns the path of the hash file.
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("plan-text.sha256")
}

pub fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
