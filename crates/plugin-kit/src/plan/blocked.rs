//! The tasks of a plan that cannot go on, with the reasons.

use serde_json::{Map, Value};

use super::document::tasks;

/// Member of the plan with the tasks that are blocked: `[{id, reason, at}]`.
pub const BLOCKED_TASKS: &str = "blockedTasks";

/// Forgets that a task was blocked.
pub fn unblock(plan: &mut Map<String, Value>, id: &str) {
    if let Some(list) = plan.get_mut(BLOCKED_TASKS).and_then(Value::as_array_mut) {
        list.retain(|task| task.get("id").and_then(Value::as_str) != Some(id));
        if list.is_empty() {
            plan.remove(BLOCKED_TASKS);
        }
    }
}

/// The pending tasks that are blocked, each `{id, reason, at}`.
#[must_use]
pub fn blocked(plan: &Map<String, Value>) -> Vec<Value> {
    let id = |task: &Value| task.get("id").and_then(Value::as_str).map(str::to_owned);
    let pending: Vec<_> = tasks(plan, "pendingTasks").iter().filter_map(id).collect();
    let list = tasks(plan, BLOCKED_TASKS).iter();
    list.filter(|task| id(task).is_some_and(|id| pending.contains(&id))).cloned().collect()
}
