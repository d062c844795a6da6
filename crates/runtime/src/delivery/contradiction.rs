//! Detects an EXECUTE that reports completion although nothing of it can be delivered.
//!
//! The rule depends on facts that the assistant cannot state: the plan's open tasks before the loop, and git's comparison
//! of the worktrees with their start. A plan whose tasks were all done before the loop is no contradiction.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_api::execution_result::ResultEntry;
use loopgate_api::names::PLAN_JSON;
use loopgate_api::plan;
use loopgate_home::untrusted;
use serde_json::Value;

use super::repository::RepositoryWork;
use super::result::DeliveryOutcome;
use crate::jobs::{DeliveryStatus, Job, PlanTasks};

// Entries listed in messages, to keep them readable. The result contains all of them.
const MAX_LISTED: usize = 10;

/// Reads the tasks of a plan; none without a readable plan. Performs blocking I/O.
pub(crate) fn plan_tasks(work_dir: &Path) -> PlanTasks {
    let plan = untrusted::read_text(&work_dir.join(PLAN_JSON)).ok().and_then(|text| plan::parse(&text).ok());
    let ids = |list: &str| -> BTreeSet<String> {
        let tasks = plan.as_ref().and_then(|plan| plan.get(list)?.as_array());
        tasks.into_iter().flatten().filter_map(|task| Some(task.get("id")?.as_str()?.to_owned())).collect()
    };
    PlanTasks { pending: ids("pendingTasks"), completed: ids("completedTasks") }
}

/// Returns the tasks that a loop claims to have completed.
pub(super) async fn claimed_tasks(job: &Job) -> BTreeSet<String> {
    let (start, work_dir) = (job.workspace.start_tasks.clone(), job.work_dir());
    let claimed = tokio::task::spawn_blocking(move || {
        start.map(|start| tasks_since(&start, &work_dir)).unwrap_or_default()
    });
    claimed.await.unwrap_or_default()
}

/// Returns the tasks that were open at the start, also if the plan does not contain them any more, and completed ones
/// that the plan did not contain.
fn tasks_since(start: &PlanTasks, work_dir: &Path) -> BTreeSet<String> {
    let now = plan_tasks(work_dir);
    start.pending.union(&now.completed).filter(|id| !start.completed.contains(*id)).cloned().collect()
}

/// Returns whether the delivery succeeded without anything that the remote did not have before the loop.
pub(super) fn delivers_nothing(delivered: &DeliveryOutcome, parts: &[RepositoryWork]) -> bool {
    let ended = matches!(delivered.status, DeliveryStatus::NoChanges | DeliveryStatus::Success);
    let entries = delivered.result.as_ref().map(|result| result.results.as_slice()).unwrap_or_default();
    let is_old = |entry: &ResultEntry| match entry {
        ResultEntry::Skipped { .. } => true,
        ResultEntry::Failed { .. } => false,
        ResultEntry::Success(entry) => {
            let part = RepositoryWork::named(parts, &entry.full_name);
            let start = part.and_then(|part| part.start_sha.as_ref().zip(part.start));
            !entry.has_changes
                || start.is_some_and(|(sha, start)| {
                    entry.commit_sha.as_ref() == Some(sha) && !start.has_unpushed_commits
                })
        }
    };
    ended && delivered.auth_challenge.is_none() && !delivered.no_work && entries.iter().all(is_old)
}

/// Describes the contradiction and where work was found.
pub(super) fn message(job: &Job, claimed: &BTreeSet<String>, delivered: &DeliveryOutcome) -> String {
    let count = claimed.len();
    let tasks = if count == 1 { "1 task".to_owned() } else { format!("{count} tasks") };
    let ids = listed(claimed.iter().cloned());
    let entries = delivered.result.as_ref().map(|result| result.results.as_slice()).unwrap_or_default();
    let found = entries.iter().flat_map(ResultEntry::undelivered).map(|work| work.describe());
    let held_back = entries.iter().filter_map(|entry| match entry {
        ResultEntry::Skipped { reason, .. } if reason != super::result::NO_CHANGES => Some(reason.clone()),
        _ => None,
    });
    let pushes = job.delivery.iter().filter_map(|delivery| delivery.early_pushes.as_ref());
    let pushes = pushes.flat_map(|pushes| pushes.values().flatten()).map(super::early_push::describe);
    let places: Vec<String> =
        held_back.chain(pushes.map(|push| format!("pushed to {push}"))).chain(found).collect();
    let places = if places.is_empty() {
        "No file differs from the start of the loop.".to_owned()
    } else {
        format!(
            "No file that can be delivered differs from the start of the loop. Found: {}.",
            listed(places)
        )
    };
    format!(
        "The loop reports {tasks} as done ({ids}), but it delivers nothing. {places} The tasks are open again; execute \
         the plan again."
    )
}

/// Moves tasks back to the open ones in a plan, so that the next EXECUTE does not take them for done. Performs blocking
/// I/O.
///
/// # Errors
/// Fails when the plan cannot be written. Does nothing without a readable plan.
pub(super) fn reopen(work_dir: &Path, claimed: &BTreeSet<String>) -> std::io::Result<()> {
    let path = work_dir.join(PLAN_JSON);
    let Some(mut plan) = untrusted::read_text(&path).ok().and_then(|text| plan::parse(&text).ok()) else {
        return Ok(());
    };
    let is_claimed =
        |task: &Value| task.get("id").and_then(Value::as_str).is_some_and(|id| claimed.contains(id));
    let Some(completed) = plan.get_mut("completedTasks").and_then(Value::as_array_mut) else { return Ok(()) };
    let reopened: Vec<Value> = completed.extract_if(.., |task| is_claimed(task)).collect();
    if reopened.is_empty() {
        return Ok(());
    }
    if let Some(content) = plan.get("content").and_then(Value::as_str) {
        let is_ticked = |line: &str| {
            let rest = line.trim_start().strip_prefix("- [x]").unwrap_or_default();
            claimed.iter().any(|id| rest.trim_start().starts_with(&format!("**{id}**")))
        };
        let line =
            |line: &str| if is_ticked(line) { line.replacen("- [x]", "- [ ]", 1) } else { line.to_owned() };
        plan["content"] = content.split_inclusive('\n').map(line).collect::<String>().into();
    }
    match plan.get_mut("pendingTasks").and_then(Value::as_array_mut) {
        Some(pending) => drop(pending.splice(0..0, reopened)),
        None => plan["pendingTasks"] = reopened.into(),
    }
    untrusted::write(&path, &serde_json::to_vec_pretty(&plan)?)
}

fn listed(all: impl IntoIterator<Item = String>) -> String {
    let mut all: Vec<String> = all.into_iter().collect();
    if all.len() > MAX_LISTED {
        let more = all.len() - MAX_LISTED;
        all.truncate(MAX_LISTED);
        all.push(format!("{more} more"));
    }
    all.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ids(ids: &[&str]) -> BTreeSet<String> {
        ids.iter().map(|id| (*id).to_owned()).collect()
    }

    fn write(dir: &Path, plan: &Value) {
        std::fs::write(dir.join(PLAN_JSON), plan.to_string()).unwrap();
    }

    #[test]
    fn open_tasks_are_claimed_even_if_the_plan_was_removed() {
        let dir = tempfile::tempdir().unwrap();
        write(
            dir.path(),
            &json!({"pendingTasks": [{"id": "T-1.2"}, {"id": "T-1.3"}], "completedTasks": [{"id": "T-1.1"}]}),
        );
        let start = plan_tasks(dir.path());
        assert_eq!(start, PlanTasks { pending: ids(&["T-1.2", "T-1.3"]), completed: ids(&["T-1.1"]) });
        std::fs::remove_file(dir.path().join(PLAN_JSON)).unwrap();
        assert_eq!(tasks_since(&start, dir.path()), ids(&["T-1.2", "T-1.3"]));
        // A plan that the loop itself wrote.
        write(dir.path(), &json!({"pendingTasks": [], "completedTasks": [{"id": "T-1.1"}, {"id": "T-9.1"}]}));
        assert_eq!(tasks_since(&PlanTasks::default(), dir.path()), ids(&["T-1.1", "T-9.1"]));
        let done = PlanTasks { completed: ids(&["T-1.1", "T-9.1"]), ..PlanTasks::default() };
        assert!(tasks_since(&done, dir.path()).is_empty(), "all were done before the loop");
    }

    #[test]
    fn claimed_tasks_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let content = "- [x] **T-1.1**: a\n  - [x] **T-1.2**: b `- [x]`\n- [ ] **T-1.3**: c\n";
        write(
            dir.path(),
            &json!({"content": content, "pendingTasks": [{"id": "T-1.3"}],
                "completedTasks": [{"id": "T-1.1"}, {"id": "T-1.2"}]}),
        );
        reopen(dir.path(), &ids(&["T-1.2"])).unwrap();
        let tasks = plan_tasks(dir.path());
        assert_eq!((tasks.pending, tasks.completed), (ids(&["T-1.2", "T-1.3"]), ids(&["T-1.1"])));
        let plan: Value =
            serde_json::from_slice(&std::fs::read(dir.path().join(PLAN_JSON)).unwrap()).unwrap();
        let expected = "- [x] **T-1.1**: a\n  - [ ] **T-1.2**: b `- [x]`\n- [ ] **T-1.3**: c\n";
        assert_eq!(plan["content"], expected);
    }
}
