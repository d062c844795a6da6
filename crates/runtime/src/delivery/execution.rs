//! Delivers the work of an EXECUTE: first the primary repository, then its peers.

use std::collections::BTreeMap;

use loopgate_api::execution_result::ExecutionResult;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;

use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, clear_scratch, deliver_repository, inspect};
use super::result::{DeliveryOutcome, PR_BODY, store_result};
use super::undelivered::{self, Attribution};
use super::{commit, contradiction, early_push, evidence, peers};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryCompletion, DeliveryRecord, DeliveryStatus, Job};

/// Delivers the work of all repositories and records the outcome in the job.
pub(super) async fn deliver(outcome: &LoopOutcome<'_>, job: &Job) -> Result<DeliveryOutcome, StoreError> {
    let before = scratch_files_exist(job).await;
    let job = &outcome
        .finalizer
        .jobs
        .change(job.id, |now| {
            // A delivery that is resumed after a crash keeps the record of the first attempt, with its test
            // results.
            let delivery = now.job.delivery.get_or_insert_with(|| DeliveryRecord {
                status: DeliveryStatus::Pending,
                started_at: now_iso(),
                result_before: before.0,
                pr_body_before: before.1,
                tests: BTreeMap::new(),
                early_pushes: None,
                test_run: None,
                completion: None,
            });
            delivery.status = DeliveryStatus::Pending;
            Ok(())
        })
        .await?;
    let parts = RepositoryWork::all(job);
    early_push::record(outcome, job, &parts).await?;
    let delivered = deliver_repositories(outcome, job).await?;
    let delivered = examine(outcome, &parts, delivered).await?;
    let after = scratch_files_exist(job).await;
    let recorded = delivered.clone();
    outcome
        .finalizer
        .jobs
        .change(job.id, |now| {
            if let Some(delivery) = &mut now.job.delivery {
                delivery.status = recorded.status;
                delivery.completion = Some(DeliveryCompletion {
                    path: recorded.path,
                    reason: recorded.reason,
                    completed_at: now_iso(),
                    result_after: after.0,
                    pr_body_after: after.1,
                });
            }
            Ok(())
        })
        .await?;
    Ok(delivered)
}

/// Returns whether the result file and the pull request text exist. Recorded before and after the delivery
/// for diagnostics.
async fn scratch_files_exist(job: &Job) -> (bool, bool) {
    let (result, body) = (job.work_dir().join(EXECUTION_RESULT), job.work_dir().join(PR_BODY));
    tokio::task::spawn_blocking(move || (untrusted::is_file(&result), untrusted::is_file(&body)))
        .await
        .unwrap_or_default()
}

async fn deliver_repositories(outcome: &LoopOutcome<'_>, job: &Job) -> Result<DeliveryOutcome, StoreError> {
    let repository = RepositoryWork::primary(job);
    let primary = deliver_repository(outcome, job, &repository).await?;
    let primary = evidence::attach(outcome, job, &repository, primary).await?;
    if !job.workspace.additional_worktree_dirs.is_empty() {
        return peers::deliver(outcome, job, primary).await;
    }
    Ok(match &job.workspace.primary_repo_full_name {
        Some(name) => with_failure_entry(job, name, primary).await,
        None => primary,
    })
}

/// Adds to the result what the delivery does not contain, and determines whether the loop's completion contradicts it.
async fn examine(
    outcome: &LoopOutcome<'_>,
    parts: &[RepositoryWork],
    mut delivered: DeliveryOutcome,
) -> Result<DeliveryOutcome, StoreError> {
    let job = outcome.finalizer.jobs.store.job(outcome.id).await?.ok_or(StoreError::NoJob)?;
    if job.is_cancelled() || delivered.result.is_none() {
        return Ok(delivered);
    }
    let claimed = contradiction::claimed_tasks(&job).await;
    let contradicts = !claimed.is_empty() && contradiction::delivers_nothing(&delivered, parts);
    let scope = if contradicts { Attribution::SinceStart } else { Attribution::Evident };
    let mut pushes =
        job.delivery.as_ref().and_then(|delivery| delivery.early_pushes.clone()).unwrap_or_default();
    let entries = delivered.result.iter_mut().flat_map(|result| &mut result.results);
    for (position, entry) in entries.enumerate() {
        let Some(part) = RepositoryWork::named(parts, entry.full_name()) else { continue };
        let mut found = undelivered::find(outcome, &job, part, scope).await;
        // The files belong to no repository; they are listed once.
        if contradicts && position == 0 {
            found.extend(undelivered::files_outside(&job).await);
        }
        let name = part.full_name.clone().unwrap_or_default();
        entry.set_traces(found, pushes.remove(&name).unwrap_or_default());
    }
    let delivered = store_result(&job.work_dir(), delivered).await;
    if !contradicts {
        return Ok(delivered);
    }
    let message = contradiction::message(&job, &claimed, &delivered);
    let work_dir = job.work_dir();
    let reopened = tokio::task::spawn_blocking(move || contradiction::reopen(&work_dir, &claimed)).await;
    if let Ok(Err(error)) = reopened {
        tracing::warn!(loop_id = %job.id, %error, "cannot open the tasks of the plan again");
    }
    Ok(DeliveryOutcome { contradiction: Some(message), ..delivered })
}

/// Adds a `failed` entry for work that was not delivered. Without an entry, clients would display the loop as
/// one without changes.
async fn with_failure_entry(job: &Job, name: &str, delivered: DeliveryOutcome) -> DeliveryOutcome {
    let failed = delivered.status == DeliveryStatus::Error;
    if !failed || delivered.result.is_some() {
        return delivered;
    }
    let entry = peers::entry(name, &delivered);
    store_result(&job.work_dir(), delivered.with_result(ExecutionResult::v2(vec![entry]))).await
}

/// Commits the unfinished work of an EXECUTE on the branches of its worktrees without pushing it. A later
/// EXECUTE of the same document continues from these commits. Best-effort: work that cannot be committed
/// stays in the worktree.
pub(super) async fn commit_unfinished(outcome: &LoopOutcome<'_>, job: &Job) {
    for repository in RepositoryWork::all(job) {
        let Ok(context) = inspect(outcome, &repository).await else { continue };
        clear_scratch(outcome, &context).await;
        if let Err(reason) = commit::commit_unfinished(outcome, job, &context).await {
            tracing::warn!(loop_id = %job.id, repository = context.full_name, reason, "failed to commit unfinished work");
        }
    }
}
