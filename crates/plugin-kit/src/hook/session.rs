//! Hook for the end of a session. A session without a loop has no records.

use std::path::Path;

use loopgate_home::untrusted;

use super::ABANDONED_AFTER;
use super::input::{HookInput, is_name};
use crate::clock;
use crate::variables as var;

/// Deletes the records of a loop's session, and abandoned records of other sessions.
pub fn end(input: &HookInput) {
    let Some(context) = input.loop_context() else { return };
    // The driver resumes a session after a usage limit, and its hooks must find the loop again.
    if is_name(&input.session_id) && var::text(var::RUN_ID).is_none() {
        let _ = untrusted::remove(&input.state_dir().join(format!("session-{}.workdir", input.session_id)));
    }
    // Records of subagents that did not stop before their session ended.
    clear(&context.workdir.join(".agent-types"));
    for entry in untrusted::entries(&input.state_dir()) {
        let path = input.state_dir().join(entry.name);
        if is_abandoned(&path) {
            let _ = untrusted::remove(&path);
        }
    }
}

fn is_abandoned(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let modified = untrusted::metadata(path).and_then(|metadata| metadata.modified());
    name.starts_with("session-")
        && name.ends_with(".workdir")
        && modified.is_ok_and(|at| clock::age(at) > ABANDONED_AFTER)
}

fn clear(dir: &Path) {
    let Ok(opened) = untrusted::directory(dir) else { return };
    for entry in opened.entries().unwrap_or_default() {
        let _ = opened.remove_file(&entry.name);
    }
    let _ = std::fs::remove_dir(dir);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ended_session_leaves_no_records() {
        let dir = tempfile::tempdir().unwrap();
        let input = HookInput { session_id: "s".into(), cwd: dir.path().to_owned(), ..HookInput::default() };
        let work = dir.path().join("work");
        std::fs::create_dir_all(work.join(".agent-types")).unwrap();
        std::fs::write(work.join(".agent-types/a"), "x").unwrap();
        std::fs::create_dir(input.state_dir()).unwrap();
        let mapping = |id: &str| input.state_dir().join(format!("session-{id}.workdir"));
        for id in ["s", "running", "crashed"] {
            std::fs::write(mapping(id), work.display().to_string()).unwrap();
        }
        let crashed = std::fs::File::options().write(true).open(mapping("crashed")).unwrap();
        crashed.set_modified(std::time::SystemTime::now() - 2 * ABANDONED_AFTER).unwrap();
        end(&input);
        assert!(!mapping("s").exists() && !mapping("crashed").exists() && mapping("running").exists());
        assert!(!work.join(".agent-types").exists());
    }

    #[test]
    fn session_without_a_loop_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let input = HookInput { session_id: "s".into(), cwd: dir.path().to_owned(), ..HookInput::default() };
        std::fs::create_dir_all(dir.path().join(".agent-types")).unwrap();
        std::fs::write(dir.path().join(".agent-types/of-the-project"), "x").unwrap();
        std::fs::create_dir(input.state_dir()).unwrap();
        end(&input);
        assert!(dir.path().join(".agent-types/of-the-project").exists() && input.state_dir().exists());
    }
}
