//! The tasks that a loop has to complete, recorded before its work begins.
//!
//! Models can edit `plan.md` and `plan.json`. So a task counts as completed only when it was completed before the loop,
//! or a checking agent's answer completed it; and the agreed tasks stay as they were when the implementation began.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use loopgate_api::names::STATE_DIR;
use loopgate_api::plan::{PlanTasks, reopen};
use loopgate_home::untrusted;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::document::{self, PlanLock, tasks};
use super::paths::plan_path;
use super::statements::{AgentStatement, confirmed};
use super::{sync, task_report};
use crate::hook::answers;

/// File of the agreement, in the state directory of the work directory.
pub const AGREEMENT: &str = "agreed-tasks.json";

#[derive(Debug, Default, Serialize, Deserialize)]
struct Agreement {
    /// Tasks that were completed before the loop.
    completed: BTreeSet<String>,
    /// Tasks that were open before the loop; they must not disappear.
    #[serde(default)]
    open: BTreeSet<String>,
    /// Pending tasks when the implementation began, by id; `None` before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pending: Option<BTreeMap<String, AgreedTask>>,
}

/// The parts of a task that the loop must not change.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct AgreedTask {
    description: Value,
    /// Criteria with their texts.
    acceptance_criteria: Vec<Value>,
    test: Value,
}

impl AgreedTask {
    fn of(task: &Value, plan: &Map<String, Value>) -> Self {
        let member = |name: &str| task.pointer(name).cloned().unwrap_or_default();
        let names = task.get("acceptanceCriteria").and_then(Value::as_array).cloned().unwrap_or_default();
        let criteria = tasks(plan, "acceptanceCriteria").iter();
        let acceptance_criteria = criteria
            .filter(|criterion| names.iter().any(|name| Some(name) == criterion.get("id")))
            .cloned()
            .collect();
        Self { description: member("/description"), acceptance_criteria, test: member("/details/test") }
    }
}

/// Records which tasks are completed when a loop starts.
///
/// # Errors
/// Returns the line to print.
pub fn record_completed(workdir: &Path) -> Result<(), String> {
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    let tasks = PlanTasks::of(&plan);
    let agreement = Agreement { completed: tasks.completed, open: tasks.pending, pending: None };
    write(workdir, &agreement)
}

/// Records the pending tasks when the implementation begins. Later calls change nothing.
///
/// # Errors
/// Returns the line to print.
pub fn record_pending(workdir: &Path) -> Result<(), String> {
    let Some(mut agreement) = read(workdir) else { return Ok(()) };
    if agreement.pending.is_some() {
        return Ok(());
    }
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    let pending = tasks(&plan, "pendingTasks").iter();
    agreement.pending =
        Some(pending.filter_map(|task| Some((id(task)?, AgreedTask::of(task, &plan)))).collect());
    write(workdir, &agreement)
}

/// Reopens the tasks that were marked as completed without a checking agent's answer. Returns their ids. With the
/// `statements` of the agents in the assistant's stream, they must confirm the stored answer.
///
/// # Errors
/// Returns the line to print when the plan cannot be written.
pub fn reopen_unchecked(
    workdir: &Path,
    statements: Option<&[AgentStatement]>,
) -> Result<Vec<String>, String> {
    let _lock = PlanLock::take(workdir)?;
    // The loop reports a missing or invalid plan itself.
    let Ok(plan) = document::read(&plan_path(workdir)) else { return Ok(Vec::new()) };
    // The driver writes the record before the first iteration. Without it nothing proves that a task was completed.
    let completed = read(workdir).unwrap_or_default().completed;
    let mut checked = task_report::completed_by_answers(&answers::all(workdir));
    if let Some(statements) = statements {
        checked = confirmed(checked, statements);
    }
    let mut unchecked = PlanTasks::of(&plan).completed;
    unchecked.retain(|id| !completed.contains(id) && !checked.contains(id));
    if !unchecked.is_empty() {
        // An edit of the text survives, unless both files were edited.
        let mut plan = sync::current(workdir).unwrap_or(plan);
        reopen(&mut plan, &unchecked);
        document::write(workdir, &plan)?;
    }
    Ok(unchecked.into_iter().collect())
}

/// Checks a claim of completion: no task was ticked without a check, removed or reworded. A session of a user has no
/// driver that would find it later. Work directories without a recorded agreement are not checked.
///
/// # Errors
/// Returns the line to print.
pub fn check(workdir: &Path) -> Result<(), String> {
    if read(workdir).is_none() {
        return Ok(());
    }
    let reopened = reopen_unchecked(workdir, None)?;
    if !reopened.is_empty() {
        return Err(format!(
            "Error: not completed. No checking agent completed these tasks, so they are open again: {}. Continue with phase 3.",
            reopened.join(", ")
        ));
    }
    let changed = changed_tasks(workdir);
    if !changed.is_empty() {
        return Err(format!(
            "Error: not completed. The tasks of the plan were changed: {}. Put them back into plan.md.",
            changed.join(", ")
        ));
    }
    Ok(())
}

/// Lists the tasks that were completed since the loop started.
#[must_use]
pub fn completed_in_loop(workdir: &Path) -> Vec<String> {
    let before = read(workdir).unwrap_or_default();
    let before = PlanTasks { pending: before.open, completed: before.completed };
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    PlanTasks::of(&plan).completed_since(&before).into_iter().collect()
}

/// Returns whether the record exists. The driver writes it before the first iteration.
#[must_use]
pub fn is_recorded(workdir: &Path) -> bool {
    read(workdir).is_some()
}

/// Lists the agreed tasks that the loop removed or changed, each with what happened.
#[must_use]
pub fn changed_tasks(workdir: &Path) -> Vec<String> {
    let Some(agreement) = read(workdir) else { return Vec::new() };
    let plan = document::read(&plan_path(workdir)).unwrap_or_default();
    let now: BTreeMap<String, AgreedTask> = ["pendingTasks", "completedTasks"]
        .iter()
        .flat_map(|list| tasks(&plan, list))
        .filter_map(|task| Some((id(task)?, AgreedTask::of(task, &plan))))
        .collect();
    let change = |(id, task): (&String, &AgreedTask)| match now.get(id) {
        None => Some(format!("{id} was removed")),
        Some(now) if now != task => Some(format!("{id} was reworded")),
        Some(_) => None,
    };
    let pending = agreement.pending.unwrap_or_default();
    let removed = agreement.open.iter().filter(|id| !pending.contains_key(*id) && !now.contains_key(*id));
    let removed = removed.map(|id| format!("{id} was removed"));
    removed.chain(pending.iter().filter_map(change)).collect()
}

/// Returns the path of the record; a new loop replaces it.
fn record(workdir: &Path) -> PathBuf {
    workdir.join(STATE_DIR).join(AGREEMENT)
}

fn read(workdir: &Path) -> Option<Agreement> {
    untrusted::read_json(&record(workdir))
}

fn write(workdir: &Path, agreement: &Agreement) -> Result<(), String> {
    let text = serde_json::to_vec(agreement).map_err(|error| format!("Error: {error}"))?;
    untrusted::write(&record(workdir), &text)
        .map_err(|error| format!("Error: cannot record the tasks of the loop: {error}"))
}

fn id(task: &Value) -> Option<String> {
    Some(task.get("id")?.as_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use loopgate_api::names::PLAN_MD;

    use super::super::build::build;
    use super::super::structure::tests::CONTENT;
    use super::super::task_report::apply;
    use super::*;

    fn started_loop() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(PLAN_MD), CONTENT).unwrap();
        build(dir.path()).unwrap();
        record_completed(dir.path()).unwrap();
        record_pending(dir.path()).unwrap();
        dir
    }

    fn edit(dir: &Path, from: &str, to: &str) {
        let text = std::fs::read_to_string(dir.join(PLAN_MD)).unwrap();
        assert!(text.contains(from));
        std::fs::write(dir.join(PLAN_MD), text.replace(from, to)).unwrap();
        sync::sync(dir).unwrap();
    }

    #[test]
    fn task_ticked_by_hand_is_reopened_in_both_files() {
        let dir = started_loop();
        edit(dir.path(), "- [ ] **T-1.1**", "- [x] **T-1.1**");
        assert_eq!(reopen_unchecked(dir.path(), None).unwrap(), ["T-1.1"]);
        assert_eq!(std::fs::read_to_string(dir.path().join(PLAN_MD)).unwrap(), CONTENT);
        let plan = document::read(&plan_path(dir.path())).unwrap();
        let tasks = PlanTasks::of(&plan);
        assert_eq!((tasks.pending, tasks.completed.len()), (BTreeSet::from(["T-1.1".to_owned()]), 1));
        assert_eq!(reopen_unchecked(dir.path(), None).unwrap(), [""; 0]);
    }

    #[test]
    fn task_completed_by_a_checker_or_before_the_loop_stays_completed() {
        let dir = started_loop();
        answers::store(dir.path(), "code:task-reviewer", "a", "VERIFIED: T-1.1");
        apply(dir.path(), "T-1.1").unwrap();
        assert_eq!(reopen_unchecked(dir.path(), None).unwrap(), [""; 0]);
        std::fs::remove_file(record(dir.path())).unwrap();
        assert_eq!(
            reopen_unchecked(dir.path(), None).unwrap(),
            ["T-1.2"],
            "without the record nothing is proven"
        );
    }

    #[test]
    fn later_loop_keeps_what_a_checker_completed_and_reopens_other_ticks() {
        for checked in [true, false] {
            let dir = started_loop();
            if checked {
                answers::store(dir.path(), answers::REVIEWING, "a", "VERIFIED: T-1.1");
                apply(dir.path(), "T-1.1").unwrap();
            } else {
                edit(dir.path(), "- [ ] **T-1.1**", "- [x] **T-1.1**");
            }
            super::super::start_over(dir.path()).unwrap();
            let tasks = PlanTasks::of(&document::read(&plan_path(dir.path())).unwrap());
            assert_eq!(tasks.completed.contains("T-1.1"), checked);
            // The answers of the earlier loop are gone, and no later start takes the tick back.
            super::super::start_over(dir.path()).unwrap();
            let tasks = PlanTasks::of(&document::read(&plan_path(dir.path())).unwrap());
            assert_eq!(tasks.completed.contains("T-1.1"), checked);
        }
    }

    #[test]
    fn completion_is_refused_until_the_tasks_are_checked() {
        let dir = started_loop();
        edit(dir.path(), "- [ ] **T-1.1**", "- [x] **T-1.1**");
        assert!(check(dir.path()).unwrap_err().contains("open again: T-1.1"));
        answers::store(dir.path(), answers::REVIEWING, "a", "VERIFIED: T-1.1");
        apply(dir.path(), "T-1.1").unwrap();
        check(dir.path()).unwrap();
        edit(dir.path(), "Add the page", "Add nothing");
        assert!(check(dir.path()).unwrap_err().contains("T-1.1 was reworded"));
    }

    #[test]
    fn removed_and_reworded_tasks_are_named() {
        let dir = started_loop();
        edit(dir.path(), "Add the page *(AC-001)*", "Add a page");
        assert_eq!(changed_tasks(dir.path()), ["T-1.1 was reworded"]);
        edit(dir.path(), "- [ ] **T-1.1**: Add a page\n", "");
        assert_eq!(changed_tasks(dir.path()), ["T-1.1 was removed"]);
    }
}
