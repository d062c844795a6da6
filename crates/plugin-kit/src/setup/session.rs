//! Maps the assistant session to its work directory, for the hooks.

use std::path::Path;

use loopgate_api::names::STATE_DIR;
use loopgate_home::untrusted;

use crate::variables as var;

/// Maximum number of ancestor processes that are checked; the assistant is at most a few shells away.
const MAX_ANCESTORS: usize = 64;

/// Writes the mapping of the current session, if there is one.
pub fn map(project_root: &Path, workdir: &Path) {
    let state_dir = project_root.join(STATE_DIR);
    let Some(session) = var::text(var::ASSISTANT_SESSION).or_else(|| ancestor_session(&state_dir)) else {
        return;
    };
    // The id becomes part of a file name.
    if session.contains(['/', '\\']) || session.contains("..") {
        return;
    }
    let path = state_dir.join(format!("session-{}.workdir", session.trim()));
    // Best-effort: without the mapping the hooks are no-ops, and the loop still works.
    let _ = untrusted::write(&path, workdir.display().to_string().as_bytes());
}

/// Returns the session that a hook has recorded for one of our ancestor processes.
fn ancestor_session(state_dir: &Path) -> Option<String> {
    let mut pid = std::process::id();
    for _ in 0..MAX_ANCESTORS {
        pid = parent(pid)?;
        let note = state_dir.join(format!("pid-{pid}.session"));
        if let Ok(session) = untrusted::read_text(&note) {
            return Some(session.trim().to_owned()).filter(|session| !session.is_empty());
        }
    }
    None
}

/// Returns the pid of a process's parent.
#[cfg(target_os = "linux")]
fn parent(pid: u32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The process name in parentheses may contain any character, even parentheses, so split at the last one.
    let (_, rest) = stat.rsplit_once(") ")?;
    rest.split_whitespace().nth(1)?.parse().ok().filter(|parent| *parent > 1)
}

/// Returns the parent's pid, which is only available for this process.
#[cfg(all(unix, not(target_os = "linux")))]
fn parent(pid: u32) -> Option<u32> {
    (pid == std::process::id()).then(std::os::unix::process::parent_id).filter(|parent| *parent > 1)
}

/// Returns `None` on this platform; the assistant passes its session in the environment.
#[cfg(not(unix))]
fn parent(_pid: u32) -> Option<u32> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_of_an_ancestor_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let state_dir = dir.path().join(STATE_DIR);
        std::fs::create_dir_all(&state_dir).unwrap();
        assert_eq!(ancestor_session(&state_dir), None);
        let parent = std::os::unix::process::parent_id();
        std::fs::write(state_dir.join(format!("pid-{parent}.session")), "abc\n").unwrap();
        assert_eq!(ancestor_session(&state_dir).as_deref(), Some("abc"));
    }
}
