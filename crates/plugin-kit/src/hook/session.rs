//! Hooks for the start and the end of a session.

use std::path::Path;
use std::time::{Duration, SystemTime};

use loopgate_home::untrusted;

use super::input::{HookInput, is_name};
use crate::variables as var;

/// Age after which the mapping of a session counts as abandoned; crashed sessions do not remove theirs.
const MAPPING_AGE: Duration = Duration::from_hours(24);

/// Records the session under the pid of its assistant. Set-up looks it up when the environment lacks the
/// session id.
pub fn start(input: &HookInput) {
    if input.cwd.as_os_str().is_empty() || !is_name(&input.session_id) {
        return;
    }
    let note = input.state_dir().join(format!("pid-{}.session", assistant_pid()));
    let _ = untrusted::write(&note, input.session_id.as_bytes());
}

/// Deletes the records of the session, and abandoned records of other sessions.
pub fn end(input: &HookInput) {
    if input.cwd.as_os_str().is_empty() {
        return;
    }
    let workdir = input.loop_context().map(|context| context.workdir);
    if is_name(&input.session_id) {
        let _ = untrusted::remove(&input.state_dir().join(format!("session-{}.workdir", input.session_id)));
    }
    for dir in
        // Records of subagents that did not stop before their session ended.
        workdir
            .iter()
            .map(|workdir| workdir.join(".agent-types"))
            .chain([input.cwd.join(".agent-types")])
    {
        clear(&dir);
    }
    for entry in untrusted::entries(&input.state_dir()) {
        let path = input.state_dir().join(entry.name);
        if is_abandoned(&path) {
            let _ = untrusted::remove(&path);
        }
    }
    // Fails for a directory with other files, which is intended.
    let _ = std::fs::remove_dir(input.state_dir());
}

fn is_abandoned(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(pid) = name.strip_prefix("pid-").and_then(|rest| rest.strip_suffix(".session")) {
        // The pid may be reused by another process; then the record stays until that one has exited.
        return pid.parse().is_ok_and(|pid| loopgate_tools::process::identity(pid).is_none());
    }
    let modified = untrusted::metadata(path).and_then(|metadata| metadata.modified());
    let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok()).unwrap_or_default();
    name.starts_with("session-") && name.ends_with(".workdir") && age > MAPPING_AGE
}

fn clear(dir: &Path) {
    let Ok(opened) = untrusted::directory(dir) else { return };
    for entry in opened.entries().unwrap_or_default() {
        let _ = opened.remove_file(&entry.name);
    }
    let _ = std::fs::remove_dir(dir);
}

/// Returns the assistant's pid from the hook's command line: this process's parent is a shell.
fn assistant_pid() -> u32 {
    var::text(var::ASSISTANT_PID).and_then(|pid| pid.parse().ok()).unwrap_or_else(parent_pid)
}

#[cfg(unix)]
fn parent_pid() -> u32 {
    std::os::unix::process::parent_id()
}

/// Returns no valid pid on this platform; the assistant passes its session to set-up in the environment.
#[cfg(not(unix))]
fn parent_pid() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_session_leaves_no_records() {
        let dir = tempfile::tempdir().unwrap();
        let input = HookInput { session_id: "s".into(), cwd: dir.path().to_owned(), ..HookInput::default() };
        start(&input);
        let own = input.state_dir().join(format!("pid-{}.session", assistant_pid()));
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "s");
        let work = dir.path().join("work");
        std::fs::create_dir_all(work.join(".agent-types")).unwrap();
        std::fs::write(work.join(".agent-types/a"), "x").unwrap();
        std::fs::write(input.state_dir().join("session-s.workdir"), work.display().to_string()).unwrap();
        // The highest pid that Linux can assign, hardly ever in use: a session whose assistant has exited.
        std::fs::write(input.state_dir().join("pid-4194303.session"), "stale").unwrap();
        end(&input);
        assert!(own.exists(), "its process, the parent of this test, is still running");
        assert!(!input.state_dir().join("session-s.workdir").exists());
        assert!(!input.state_dir().join("pid-4194303.session").exists());
        assert!(!work.join(".agent-types").exists());
    }
}
