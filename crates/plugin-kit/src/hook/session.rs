//! Beginning and end of a session.

use std::path::Path;
use std::time::{Duration, SystemTime};

use loopgate_home::untrusted;

use super::input::{HookInput, is_name};
use crate::variables as var;

/// Age from which a forgotten mapping is removed.
const MAPPING_AGE: Duration = Duration::from_hours(24);

/// Notes the session under the pid of its assistant, for a set-up that is not told its session.
pub fn start(input: &HookInput) {
    if input.cwd.as_os_str().is_empty() || !is_name(&input.session_id) {
        return;
    }
    let note = input.state_dir().join(format!("pid-{}.session", parent()));
    let _ = untrusted::write(&note, input.session_id.as_bytes());
}

/// Removes what belonged to the session, and what other sessions have forgotten.
pub fn end(input: &HookInput) {
    if input.cwd.as_os_str().is_empty() {
        return;
    }
    let workdir = input.loop_context().map(|context| context.workdir);
    if is_name(&input.session_id) {
        let _ = untrusted::remove(&input.state_dir().join(format!("session-{}.workdir", input.session_id)));
    }
    for dir in
        workdir.iter().map(|workdir| workdir.join(".agent-types")).chain([input.cwd.join(".agent-types")])
    {
        clear(&dir);
    }
    for entry in untrusted::entries(&input.state_dir()) {
        let path = input.state_dir().join(entry.name);
        if is_forgotten(&path) {
            let _ = untrusted::remove(&path);
        }
    }
    // Only an empty directory goes; anything in it is somebody's.
    let _ = std::fs::remove_dir(input.state_dir());
}

fn is_forgotten(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    if let Some(pid) = name.strip_prefix("pid-").and_then(|rest| rest.strip_suffix(".session")) {
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

/// The assistant's pid, as the hook's command tells it: our own parent is a shell.
fn parent() -> u32 {
    var::text(var::ASSISTANT_PID).and_then(|pid| pid.parse().ok()).unwrap_or_else(own_parent)
}

#[cfg(unix)]
fn own_parent() -> u32 {
    std::os::unix::process::parent_id()
}

/// Not known here; set-up is told its session by the assistant.
#[cfg(not(unix))]
fn own_parent() -> u32 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn session_leaves_nothing_behind() {
        let dir = tempfile::tempdir().unwrap();
        let input = HookInput { session_id: "s".into(), cwd: dir.path().to_owned(), ..HookInput::default() };
        start(&input);
        let own = input.state_dir().join(format!("pid-{}.session", parent()));
        assert_eq!(std::fs::read_to_string(&own).unwrap(), "s");
        let work = dir.path().join("work");
        std::fs::create_dir_all(work.join(".agent-types")).unwrap();
        std::fs::write(work.join(".agent-types/a"), "x").unwrap();
        std::fs::write(input.state_dir().join("session-s.workdir"), work.display().to_string()).unwrap();
        std::fs::write(input.state_dir().join("pid-4194303.session"), "gone").unwrap();
        end(&input);
        assert!(own.exists(), "its process, our parent, still runs");
        assert!(!input.state_dir().join("session-s.workdir").exists());
        assert!(!input.state_dir().join("pid-4194303.session").exists());
        assert!(!work.join(".agent-types").exists());
    }
}
