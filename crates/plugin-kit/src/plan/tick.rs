//! Marks tasks as completed.

use std::path::Path;

use loopgate_api::plan::with_checkbox;
use serde_json::{Map, Value};

use super::blocked::unblock;
use super::document::{PlanLock, tasks, write};
use super::sync;

/// Marks a task as completed in `plan.json` and `plan.md`.
///
/// # Errors
/// Returns the line to print.
pub fn complete(workdir: &Path, id: &str) -> Result<String, String> {
    let _lock = PlanLock::take(workdir)?;
    let mut plan = sync::current(workdir)?;
    let position = |plan: &Map<String, Value>, list: &str| {
        tasks(plan, list).iter().position(|task| task.get("id").and_then(Value::as_str) == Some(id))
    };
    if position(&plan, "completedTasks").is_some() {
        return Ok(format!("{id} is already done"));
    }
    let Some(at) = position(&plan, "pendingTasks") else {
        return Err(format!("Error: no pending task {id}"));
    };
    let task = plan.get_mut("pendingTasks").and_then(Value::as_array_mut).map(|pending| pending.remove(at));
    let completed = plan.entry("completedTasks").or_insert_with(|| Value::Array(Vec::new()));
    if let (Some(task), Some(completed)) = (task, completed.as_array_mut()) {
        completed.push(task);
    }
    let content = plan.get("content").and_then(Value::as_str).unwrap_or_default();
    // The text may lack the line, if only plan.json was edited; the lists are authoritative.
    if let Some(ticked) = with_checkbox(content, id, true) {
        plan.insert("content".into(), ticked.into());
    }
    // A task that was blocked before and is done now must not be reported as blocked.
    unblock(&mut plan, id);
    write(workdir, &plan)?;
    Ok(format!("{id} done, {} pending", tasks(&plan, "pendingTasks").len()))
}

#[cfg(test)]
mod tests {
    use loopgate_api::names::PLAN_MD;
    use serde_json::json;

    use super::super::document::read;
    use super::super::paths::plan_path;
    use super::*;

    #[test]
    fn concurrent_ticks_are_all_recorded() {
        let dir = tempfile::tempdir().unwrap();
        let ids: Vec<String> = (1..=12).map(|n| format!("T-1.{n}")).collect();
        let tasks: Vec<Value> =
            ids.iter().map(|id| json!({"id": id, "description": "x", "acceptanceCriteria": []})).collect();
        let content: String = ids.iter().map(|id| format!("- [ ] **{id}**: x\n")).collect();
        let plan = json!({"content": content, "pendingTasks": tasks, "completedTasks": []});
        std::fs::write(plan_path(dir.path()), plan.to_string()).unwrap();
        std::thread::scope(|scope| {
            for id in &ids {
                scope.spawn(|| complete(dir.path(), id).unwrap());
            }
        });
        let plan = read(&plan_path(dir.path())).unwrap();
        assert_eq!(super::tasks(&plan, "completedTasks").len(), 12);
        let mirror = std::fs::read_to_string(dir.path().join(PLAN_MD)).unwrap();
        assert!(!mirror.contains("- [ ]") && mirror.matches("- [x]").count() == 12);
        assert_eq!(complete(dir.path(), "T-1.1").unwrap(), "T-1.1 is already done");
        assert!(complete(dir.path(), "T-9.9").is_err());
    }
}
