//! Tool calls that are under way, a file each; what is left of them at the end never ended. Blocks
//! on the disk.

use std::path::Path;

use loopgate_api::names::TOOL_CALLS;
use loopgate_api::perf::{PerfRecord, ToolCall};
use loopgate_home::{EntryKind, untrusted};

/// Most calls that are looked at.
const MAX_CALLS: usize = 256;
/// Bytes of a call's file.
const MAX_BYTES: u64 = 64 * 1024;

/// The names of the files, in order.
pub(super) fn names(work_dir: &Path) -> Vec<String> {
    let entries = untrusted::entries(&work_dir.join(TOOL_CALLS)).into_iter();
    let regular = entries.filter(|entry| entry.kind == EntryKind::File);
    let mut names: Vec<String> =
        regular.filter_map(|entry| entry.name.into_string().ok()).take(MAX_CALLS).collect();
    names.sort_unstable();
    names
}

/// The calls that are left and were not there before. What is no call is passed over.
pub(super) fn left(work_dir: &Path, before: &[String]) -> Vec<PerfRecord> {
    let new = names(work_dir).into_iter().filter(|name| !before.contains(name));
    new.filter_map(|name| read(&work_dir.join(TOOL_CALLS).join(name))).map(PerfRecord::from).collect()
}

fn read(path: &Path) -> Option<ToolCall> {
    serde_json::from_slice(&untrusted::read(path, MAX_BYTES).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_new_calls_are_left() {
        let dir = tempfile::tempdir().unwrap();
        assert!(names(dir.path()).is_empty());
        let calls = dir.path().join(TOOL_CALLS);
        std::fs::create_dir(&calls).unwrap();
        let call = |name: &str| {
            let call = json!({"run_id": "r", "agent_id": name, "tool_name": "Bash", "started_at": "then",
                "iteration": 1});
            std::fs::write(calls.join(name), call.to_string()).unwrap();
        };
        call("old");
        let before = names(dir.path());
        call("new");
        std::fs::write(calls.join("broken"), "{").unwrap();
        let left = left(dir.path(), &before);
        assert_eq!(left.len(), 1);
        assert_eq!(serde_json::to_value(&left[0]).unwrap()["agentId"], "new");
    }
}
