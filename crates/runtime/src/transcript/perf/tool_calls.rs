//! Tool calls in flight, one file each; the files that remain at the end are calls that did not end. Performs
//! blocking I/O.

use std::path::Path;

use loopgate_api::names::TOOL_CALLS;
use loopgate_api::perf::{PerfRecord, ToolCall};
use loopgate_home::{EntryKind, untrusted};

/// Limit of call files that are read.
const MAX_CALLS: usize = 256;
/// Size limit of a call file in bytes.
const MAX_BYTES: u64 = 64 * 1024;

/// Returns the sorted file names of the calls.
pub(super) fn names(work_dir: &Path) -> Vec<String> {
    let entries = untrusted::entries(&work_dir.join(TOOL_CALLS)).into_iter();
    let regular = entries.filter(|entry| entry.kind == EntryKind::File);
    let mut names: Vec<String> =
        regular.filter_map(|entry| entry.name.into_string().ok()).take(MAX_CALLS).collect();
    names.sort_unstable();
    names
}

/// Returns the remaining calls that are not in `before`; malformed files are skipped.
pub(super) fn unfinished(work_dir: &Path, before: &[String]) -> Vec<PerfRecord> {
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
    fn calls_of_earlier_runs_are_excluded() {
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
        let unfinished = unfinished(dir.path(), &before);
        assert_eq!(unfinished.len(), 1);
        assert_eq!(serde_json::to_value(&unfinished[0]).unwrap()["agentId"], "new");
    }
}
