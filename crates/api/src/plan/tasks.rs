//! Which tasks of a plan are completed, and how tasks are ticked and opened again.
//!
//! A plan lists its tasks twice: as members of `plan.json`, and as lines with a checkbox in its Markdown content. Both
//! change together.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

static TASK_LINE: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r"^\s*- \[([ xX])\] \*\*(T-\d+\.\d+)\*\*").expect("constant pattern")
});

/// Ids of a plan's tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct PlanTasks {
    /// Tasks that are open.
    pub pending: BTreeSet<String>,
    /// Tasks that are done.
    pub completed: BTreeSet<String>,
}

impl PlanTasks {
    /// Reads the tasks of a plan; a missing or malformed list has none.
    #[must_use]
    pub fn of(plan: &Map<String, Value>) -> Self {
        let ids = |list: &str| -> BTreeSet<String> {
            let tasks = plan.get(list).and_then(Value::as_array);
            tasks.into_iter().flatten().filter_map(|task| Some(id(task)?.to_owned())).collect()
        };
        Self { pending: ids("pendingTasks"), completed: ids("completedTasks") }
    }

    /// Returns the tasks that were completed since an earlier state of the plan.
    #[must_use]
    pub fn completed_since(&self, start: &Self) -> BTreeSet<String> {
        self.completed.difference(&start.completed).cloned().collect()
    }

    /// Returns the tasks that a completed loop claims: those that were open at its start, also if the plan does not
    /// contain them any more, and completed ones that the plan did not contain.
    #[must_use]
    pub fn claimed_since(&self, start: &Self) -> BTreeSet<String> {
        let done = self.completed_since(start);
        start.pending.union(&done).filter(|id| !start.completed.contains(*id)).cloned().collect()
    }
}

/// Moves completed tasks back to the beginning of the open ones, and clears their checkboxes in the content. Returns
/// whether the plan has changed.
pub fn reopen(plan: &mut Map<String, Value>, ids: &BTreeSet<String>) -> bool {
    let Some(completed) = plan.get_mut("completedTasks").and_then(Value::as_array_mut) else { return false };
    let is_reopened = |task: &mut Value| id(task).is_some_and(|id| ids.contains(id));
    let reopened: Vec<Value> = completed.extract_if(.., is_reopened).collect();
    if reopened.is_empty() {
        return false;
    }
    for id in ids {
        let content = plan.get("content").and_then(Value::as_str).unwrap_or_default();
        if let Some(content) = with_checkbox(content, id, false) {
            plan.insert("content".to_owned(), content.into());
        }
    }
    match plan.get_mut("pendingTasks").and_then(Value::as_array_mut) {
        Some(pending) => drop(pending.splice(0..0, reopened)),
        None => drop(plan.insert("pendingTasks".to_owned(), reopened.into())),
    }
    true
}

/// Returns the content of a plan with the checkbox of a task ticked or cleared. `None` if no line of the task changes.
/// Fenced code blocks are examples and stay as they are.
#[must_use]
pub fn with_checkbox(content: &str, id: &str, ticked: bool) -> Option<String> {
    let (mut is_changed, mut fenced) = (false, false);
    let mut change = |line: &str| {
        fenced ^= is_fence(line);
        match TASK_LINE.captures(line) {
            Some(task) if &task[2] == id && (&task[1] != " ") != ticked && !is_changed && !fenced => {
                is_changed = true;
                let (before, after) = line.split_at(line.find('[').map_or(0, |at| at + 1));
                format!("{before}{}{}", if ticked { 'x' } else { ' ' }, &after[1..])
            }
            _ => line.to_owned(),
        }
    };
    let lines: Vec<String> = content.split('\n').map(&mut change).collect();
    is_changed.then(|| lines.join("\n"))
}

/// Returns the content of a plan with all checkboxes of tasks cleared, so that the same plan with other progress is equal.
#[must_use]
pub fn without_ticks(content: &str) -> String {
    let mut fenced = false;
    let mut clear = |line: &str| {
        fenced ^= is_fence(line);
        match TASK_LINE.captures(line).and_then(|task| task.get(1)) {
            Some(tick) if !fenced => format!("{} {}", &line[..tick.start()], &line[tick.end()..]),
            _ => line.to_owned(),
        }
    };
    content.trim_end().split('\n').map(&mut clear).collect::<Vec<_>>().join("\n")
}

/// Returns whether a line of Markdown opens or closes a fenced code block.
#[must_use]
pub fn is_fence(line: &str) -> bool {
    line.trim_start().starts_with("```")
}

fn id(task: &Value) -> Option<&str> {
    task.get("id")?.as_str()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn tasks(plan: &Value) -> PlanTasks {
        PlanTasks::of(plan.as_object().unwrap())
    }

    #[test]
    fn open_tasks_are_claimed_even_if_the_plan_was_removed() {
        let plan = json!({"pendingTasks": [{"id": "T-1.2"}, {"id": "T-1.3"}], "completedTasks": [{"id": "T-1.1"}, 5]});
        let start = tasks(&plan);
        assert_eq!(start, PlanTasks { pending: ids(&["T-1.2", "T-1.3"]), completed: ids(&["T-1.1"]) });
        assert_eq!(PlanTasks::default().claimed_since(&start), ids(&["T-1.2", "T-1.3"]));
        // A plan that the loop itself wrote.
        let now = tasks(&json!({"pendingTasks": [], "completedTasks": [{"id": "T-1.1"}, {"id": "T-9.1"}]}));
        assert_eq!(now.claimed_since(&PlanTasks::default()), ids(&["T-1.1", "T-9.1"]));
        assert_eq!(now.completed_since(&start), ids(&["T-9.1"]));
        assert!(now.claimed_since(&now).is_empty(), "all were done before the loop");
    }

    #[test]
    fn reopened_tasks_come_first_and_lose_their_tick() {
        let content = "```\n- [x] **T-1.2**: example\n```\n- [X] **T-1.1**: a\n  - [x] **T-1.2**: b `- [x]`\n- [ ] **T-1.3**: c\n";
        let mut plan = json!({"content": content, "pendingTasks": [{"id": "T-1.3"}],
            "completedTasks": [{"id": "T-1.1"}, {"id": "T-1.2"}]});
        let plan = plan.as_object_mut().unwrap();
        assert!(reopen(plan, &ids(&["T-1.2", "T-9.9"])));
        assert!(!reopen(plan, &ids(&["T-1.2"])));
        assert_eq!(plan["pendingTasks"], json!([{"id": "T-1.2"}, {"id": "T-1.3"}]));
        assert_eq!(plan["completedTasks"], json!([{"id": "T-1.1"}]));
        let expected = content.replace("  - [x] **T-1.2**", "  - [ ] **T-1.2**");
        assert_eq!(plan["content"], expected);
        assert!(reopen(plan, &ids(&["T-1.1"])));
        assert_eq!(plan["content"], expected.replace("[X]", "[ ]"));
        let mut done = json!({"completedTasks": [{"id": "T-1.1"}]});
        assert!(reopen(done.as_object_mut().unwrap(), &ids(&["T-1.1"])));
        assert_eq!(done["pendingTasks"], json!([{"id": "T-1.1"}]));
    }

    #[test]
    fn plans_with_other_progress_are_equal_without_ticks() {
        let content = "```\n- [x] **T-1.2**: example\n```\n- [X] **T-1.1**: a\n  - [ ] **T-1.2**: b `- [x]`\n- [x] Q-001: c";
        let ticked = with_checkbox(content, "T-1.2", true).unwrap();
        assert_eq!(without_ticks(&ticked), content.replace("[X]", "[ ]"));
        assert_eq!(without_ticks(content), without_ticks(&format!("{ticked}\n")));
        // An answered question is another text.
        assert_ne!(without_ticks(content), without_ticks(&content.replace("[x] Q", "[ ] Q")));
    }

    #[test]
    fn ticking_changes_one_box() {
        let content = "- [ ] **T-1.1**: a\n  - [ ] **T-1.2**: b\n";
        let ticked = with_checkbox(content, "T-1.2", true).unwrap();
        assert_eq!(ticked, "- [ ] **T-1.1**: a\n  - [x] **T-1.2**: b\n");
        assert_eq!(with_checkbox(content, "T-1.3", true), None);
        assert_eq!(with_checkbox(content, "T-1.1", false), None);
    }
}
