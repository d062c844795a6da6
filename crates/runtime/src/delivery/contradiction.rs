//! Detects an EXECUTE that reports completion although nothing of it can be delivered.
//!
//! The rule depends on facts that the assistant cannot state: the plan's open tasks before the loop, and git's comparison
//! of the worktrees with their start. A plan whose tasks were all done before the loop is no contradiction.

use std::collections::BTreeSet;
use std::path::Path;

use loopgate_api::execution_result::ResultEntry;
use loopgate_api::names::PLAN_JSON;
use loopgate_api::plan::{self, PlanTasks};
use loopgate_home::untrusted;
use serde_json::{Map, Value};

use super::repository::RepositoryWork;
use super::result::DeliveryOutcome;
use crate::jobs::{DeliveryStatus, Job};

// Entries listed in messages, to keep them readable. The result contains all of them.
const MAX_LISTED: usize = 10;

/// Reads the tasks of a plan; none without a readable plan. Performs blocking I/O.
pub(crate) fn plan_tasks(work_dir: &Path) -> PlanTasks {
    read(work_dir).map(|plan| PlanTasks::of(&plan)).unwrap_or_default()
}

fn read(work_dir: &Path) -> Option<Map<String, Value>> {
    let text = untrusted::read_text(&work_dir.join(PLAN_JSON)).ok()?;
    match plan::parse(&text).ok()? {
        Value::Object(plan) => Some(plan),
        _ => None,
    }
}

/// Returns the tasks that a loop claims to have completed.
pub(super) async fn claimed_tasks(job: &Job) -> BTreeSet<String> {
    let (start, work_dir) = (job.workspace.start_tasks.clone(), job.work_dir());
    let claimed = tokio::task::spawn_blocking(move || {
        start.map(|start| plan_tasks(&work_dir).claimed_since(&start)).unwrap_or_default()
    });
    claimed.await.unwrap_or_default()
}

/// Returns whether the delivery succeeded without anything that the remote did not have before the loop.
pub(super) fn delivers_nothing(delivered: &DeliveryOutcome, parts: &[RepositoryWork]) -> bool {
    let ended = matches!(delivered.status, DeliveryStatus::NoChanges | DeliveryStatus::Success);
    let entries = delivered.result.as_ref().map(|result| result.results.as_slice()).unwrap_or_default();
    let is_old = |entry: &ResultEntry| match entry {
        ResultEntry::Skipped { .. } => true,
        ResultEntry::Held(_) | ResultEntry::Failed { .. } => false,
        ResultEntry::Success(entry) => {
            let part = RepositoryWork::named(parts, &entry.full_name);
            let start = part.and_then(|part| part.start_sha.as_ref().zip(part.start));
            !entry.has_changes
                || start.is_some_and(|(sha, start)| {
                    entry.commit_sha.as_ref() == Some(sha) && !start.has_unpushed_commits
                })
        }
    };
    ended && !delivered.no_work && entries.iter().all(is_old)
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
    let Some(mut plan) = read(work_dir) else { return Ok(()) };
    if plan::reopen(&mut plan, claimed) {
        untrusted::write(&work_dir.join(PLAN_JSON), &serde_json::to_vec_pretty(&plan)?)?;
    }
    Ok(())
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

    #[test]
    fn claimed_tasks_are_opened_again() {
        let dir = tempfile::tempdir().unwrap();
        let ids = BTreeSet::from(["T-1.1".to_owned()]);
        reopen(dir.path(), &ids).unwrap();
        assert_eq!(plan_tasks(dir.path()), PlanTasks::default(), "without a plan, nothing is written");
        let plan = json!({"content": "- [x] **T-1.1**: a\n", "completedTasks": [{"id": "T-1.1"}]});
        std::fs::write(dir.path().join(PLAN_JSON), plan.to_string()).unwrap();
        reopen(dir.path(), &ids).unwrap();
        assert_eq!(plan_tasks(dir.path()), PlanTasks { pending: ids, ..PlanTasks::default() });
    }
}
