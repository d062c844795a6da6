//! Blocked tasks of a plan, with their reasons.

use serde_json::{Map, Value, json};

use super::document::tasks;

/// Member of the plan that lists the blocked tasks: `[{id, reason, at}]`.
pub const BLOCKED_TASKS: &str = "blockedTasks";

/// Removes the entry of a blocked task.
pub fn unblock(plan: &mut Map<String, Value>, id: &str) {
    if let Some(list) = plan.get_mut(BLOCKED_TASKS).and_then(Value::as_array_mut) {
        list.retain(|task| task.get("id").and_then(Value::as_str) != Some(id));
        if list.is_empty() {
            plan.remove(BLOCKED_TASKS);
        }
    }
}

/// Returns the entries of pending tasks that are blocked, each `{id, reason, at}`: those with a recorded reason, and those
/// that use a blocked task according to their detail lines.
#[must_use]
pub fn blocked(plan: &Map<String, Value>) -> Vec<Value> {
    let pending = tasks(plan, "pendingTasks");
    // A task that was ticked or removed by an edit of the text may still have an entry.
    let is_pending = |entry: &&Value| pending.iter().any(|task| id(task) == id(entry));
    let mut blocked: Vec<Value> = tasks(plan, BLOCKED_TASKS).iter().filter(is_pending).cloned().collect();
    // Repeated until nothing changes, because dependencies form chains.
    loop {
        let is_blocked =
            |name: &Value| blocked.iter().any(|entry| id(entry).is_some() && entry.get("id") == Some(name));
        let dependent =
            pending.iter().filter(|task| task.get("id").is_some_and(|id| !is_blocked(id))).find_map(|task| {
                let uses = task.pointer("/details/uses")?.as_array()?;
                Some((task, uses.iter().find(|name| is_blocked(name))?))
            });
        let Some((task, cause)) = dependent else { return blocked };
        let reason = format!("It needs {}, which is blocked.", cause.as_str().unwrap_or_default());
        blocked.push(json!({"id": task.get("id"), "reason": reason, "at": ""}));
    }
}

fn id(task: &Value) -> Option<&str> {
    task.get("id").and_then(Value::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_that_use_a_blocked_task_are_blocked() {
        let task = |id: &str, uses: &[&str]| json!({"id": id, "details": {"uses": uses}});
        let plan = json!({
            "pendingTasks": [task("T-1.3", &["the parser", "T-1.2"]), task("T-1.2", &["T-1.1"]), task("T-1.1", &[]), task("T-1.4", &["T-1.9"])],
            "blockedTasks": [{"id": "T-1.1", "reason": "no key", "at": "x"}, {"id": "T-1.9", "reason": "gone", "at": "x"}],
        });
        let ids: Vec<Value> =
            blocked(plan.as_object().unwrap()).into_iter().map(|task| task["id"].clone()).collect();
        assert_eq!(ids, ["T-1.1", "T-1.2", "T-1.3"]);
    }
}
