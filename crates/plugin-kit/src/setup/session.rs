//! Maps the assistant session to its work directory, for the hooks.

use std::path::Path;

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

/// Writes the mapping of a session.
pub fn map(project: &Path, session: &str, workdir: &Path) {
    // The id becomes part of a file name.
    if session.contains(['/', '\\']) || session.contains("..") {
        return;
    }
    let path = project.join(STATE_DIR).join(format!("session-{}.workdir", session.trim()));
    // Best-effort: without the mapping the hooks are no-ops, and the loop still works.
    let _ = untrusted::write(&path, workdir.display().to_string().as_bytes());
}
