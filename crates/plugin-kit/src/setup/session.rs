//! Tells the hooks of an assistant session which work directory belongs to it.

use std::path::Path;

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use crate::variables as var;

/// Ancestors that are looked at; deeper nesting than that is not ours.
const ANCESTORS: usize = 64;

/// Writes the mapping of the present session, when there is one.
pub fn map(project_root: &Path, workdir: &Path) {
    let state_dir = project_root.join(STATE_DIR);
    let Some(session) = var::text(var::ASSISTANT_SESSION).or_else(|| of_ancestor(&state_dir)) else { return };
    if session.contains(['/', '\\']) || session.contains("..") {
        return;
    }
    let path = state_dir.join(format!("session-{}.workdir", session.trim()));
    // Without the mapping the hooks do nothing, which a loop survives.
    let _ = untrusted::write(&path, workdir.display().to_string().as_bytes());
}

/// The session that a hook has noted for one of our ancestors.
fn of_ancestor(state_dir: &Path) -> Option<String> {
    let mut pid = std::process::id();
    for _ in 0..ANCESTORS {
        pid = parent(pid)?;
        let note = state_dir.join(format!("pid-{pid}.session"));
        if let Ok(session) = untrusted::read_text(&note) {
            return Some(session.trim().to_owned()).filter(|session| !session.is_empty());
        }
    }
    None
}

/// Parent of a process.
#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name in parentheses may hold anything, even parentheses.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 1)
}

/// Parent of a process: known for our own only.
#[cfg(all(unix, not(target_os = "linux")))]
fn parent(pid: u32) -> Option<u32> {
    (pid == std::process::id()).then(std::os::unix::process::parent_id).filter(|parent| *parent > 1)
}

/// Parent of a process: not known here; the assistant names its session in the environment.
#[cfg(not(unix))]
fn parent(_pid: u32) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn note_of_an_ancestor_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let state_dir = dir.path().join(STATE_DIR);
        std::fs::create_dir_all(&state_dir).unwrap();
        assert_eq!(of_ancestor(&state_dir), None);
        let parent = std::os::unix::process::parent_id();
        std::fs::write(state_dir.join(format!("pid-{parent}.session")), "abc\n").unwrap();
        assert_eq!(of_ancestor(&state_dir).as_deref(), Some("abc"));
    }
}
