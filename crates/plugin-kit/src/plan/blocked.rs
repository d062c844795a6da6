//! Blocked tasks of a plan, with their reasons.

use serde_json::{Map, Value};

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

/// Returns the entries of pending tasks that are blocked, each `{id, reason, at}`.
#[must_use]
pub fn blocked(plan: &Map<String, Value>) -> Vec<Value> {
    let id = |task: &Value| task.get("id").and_then(Value::as_str).map(str::to_owned);
    let pending: Vec<_> = tasks(plan, "pendingTasks").iter().filter_map(id).collect();
    let list = tasks(plan, BLOCKED_TASKS).iter();
    // A task that was ticked or removed by an edit of the text may still have an entry.
    list.filter(|task| id(task).is_some_and(|id| pending.contains(&id))).cloned().collect()
}
