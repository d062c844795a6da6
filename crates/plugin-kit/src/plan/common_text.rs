//! The text that `plan.json` and `plan.md` had in common last, kept as its hash.

use std::io;
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;
use sha2::{Digest, Sha256};

/// Notes the text that both files have.
///
/// # Errors
/// Any failure of the file system.
pub fn remember(workdir: &Path, text: &str) -> io::Result<()> {
    let hash = hash(text);
    if untrusted::read_text(&record(workdir)).is_ok_and(|common| common == hash) {
        return Ok(());
    }
    untrusted::write(&record(workdir), hash.as_bytes())
}

/// Where the hash is kept.
pub fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join("plan-text.sha256")
}

/// Hash of a text.
pub fn hash(text: &str) -> String {
    hex::encode(Sha256::digest(text.as_bytes()))
}
