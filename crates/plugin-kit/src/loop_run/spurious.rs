//! Checks a completion promise against the plan.

use std::path::Path;

use loopgate_api::event::subcode;
use loopgate_api::names::{PLAN_JSON, STATE_JSON};
use loopgate_home::untrusted;
use serde_json::Value;

use crate::plan::changed_tasks;

/// Task ids listed in a message; the remaining ones are counted.
const LISTED_TASKS: usize = 10;

/// Reason to reject a completion promise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contradiction {
    /// Subcode of the failure marker.
    pub subcode: &'static str,
    /// Message to the user.
    pub message: String,
}

/// Checks the plan of a work directory for open, removed and reworded tasks. Returns `None` for a loop that waits for its user,
/// because it does not claim completion.
#[must_use]
pub fn contradiction(workdir: &Path) -> Option<Contradiction> {
    if waits_for_user(workdir) {
        return None;
    }
    let changed = changed_tasks(workdir);
    if !changed.is_empty() {
        let message = format!(
            "The assistant reported completion, but it changed what it had to do: {}. Put the tasks back into plan.md, \
             or start the loop again if the new plan is right.",
            changed.join(", ")
        );
        return Some(Contradiction { subcode: "TASKS_CHANGED_AT_COMPLETION", message });
    }
    let plan = read(&workdir.join(PLAN_JSON))?;
    let pending = plan.get("pendingTasks")?.as_array().filter(|tasks| !tasks.is_empty())?;
    let questions = plan.get("openQuestions").and_then(Value::as_array).map_or(0, Vec::len);
    let tasks = names(pending);
    let count = pending.len();
    let (subcode, why) = if questions > 0 {
        (subcode::BLOCKED_BY_QUESTIONS, format!("; {questions} open questions of the plan need an answer"))
    } else {
        ("PENDING_TASKS_AT_COMPLETION", String::new())
    };
    let message = format!(
        "The assistant reported completion, but {count} tasks are still open: {tasks}{why}. Run /code:code again \
         to continue."
    );
    Some(Contradiction { subcode, message })
}

/// Returns whether `state.json` requests an action of the user.
#[must_use]
pub fn waits_for_user(workdir: &Path) -> bool {
    let state = read(&workdir.join(STATE_JSON));
    state.as_ref().and_then(|state| state.get("status")?.as_str()) == Some("AWAITING_USER")
}

fn names(tasks: &[Value]) -> String {
    let ids =
        tasks.iter().take(LISTED_TASKS).map(|task| task.get("id").and_then(Value::as_str).unwrap_or("?"));
    let mut text = ids.collect::<Vec<_>>().join(", ");
    if tasks.len() > LISTED_TASKS {
        text.push_str(&format!(", +{} more", tasks.len() - LISTED_TASKS));
    }
    text
}

fn read(path: &Path) -> Option<Value> {
    loopgate_api::plan::parse(&untrusted::read_text(path).ok()?).ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(plan: &Value, state: &Value) -> Option<Contradiction> {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PLAN_JSON), plan.to_string()).unwrap();
        std::fs::write(dir.path().join(STATE_JSON), state.to_string()).unwrap();
        contradiction(dir.path())
    }

    #[test]
    fn pending_tasks_contradict_a_completed_state_only() {
        let tasks: Vec<Value> = (1..=12).map(|n| json!({"id": format!("T-1.{n}")})).collect();
        let plan = json!({"pendingTasks": tasks, "manualTasks": [{"id": "T-9.9"}]});
        let result = check(&plan, &json!({"status": "COMPLETED"})).unwrap();
        assert_eq!(result.subcode, "PENDING_TASKS_AT_COMPLETION");
        assert!(result.message.contains("12 tasks") && result.message.contains("T-1.10, +2 more"));
        assert_eq!(check(&plan, &json!({"status": "AWAITING_USER"})), None);
        // Manual tasks are for people and do not contradict completion.
        assert_eq!(check(&json!({"pendingTasks": [], "manualTasks": [1]}), &json!({})), None);
        let with_question = json!({"pendingTasks": [{"id": "T-1.1"}], "openQuestions": [{"id": "Q-001"}]});
        assert_eq!(check(&with_question, &json!({})).unwrap().subcode, "PENDING_TASKS_BLOCKED_BY_QUESTIONS");
        assert_eq!(contradiction(Path::new("/nonexistent")), None);
    }
}
