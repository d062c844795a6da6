//! Delivers the work of an EXECUTE: first the primary repository, then its peers.

use std::collections::BTreeMap;

use loopgate_api::execution_result::ExecutionResult;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;

use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, clear_scratch, deliver_repository, inspect};
use super::result::{DeliveryOutcome, PR_BODY, store_result};
use super::{evidence, git_delivery, peers};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryCompletion, DeliveryRecord, DeliveryStatus, Job};

/// Delivers the work of all repositories and records the outcome in the job.
pub(super) async fn deliver(outcome: &LoopOutcome<'_>, job: &Job) -> Result<DeliveryOutcome, StoreError> {
    let before = scratch_files_exist(job).await;
    outcome
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
                test_run: None,
                completion: None,
            });
            delivery.status = DeliveryStatus::Pending;
            Ok(())
        })
        .await?;
    let delivered = deliver_repositories(outcome, job).await?;
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

/// Adds a `failed` entry for work that was not delivered. Without an entry, clients would display the loop as
/// one without changes.
async fn with_failure_entry(job: &Job, name: &str, delivered: DeliveryOutcome) -> DeliveryOutcome {
    let failed = delivered.status == DeliveryStatus::Error && delivered.auth_challenge.is_none();
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
    let peers = job.workspace.additional_worktree_dirs.iter().filter_map(peers::repository_work);
    for repository in std::iter::once(RepositoryWork::primary(job)).chain(peers) {
        let Ok(context) = inspect(outcome, &repository).await else { continue };
        clear_scratch(outcome, &context).await;
        if let Err(reason) = git_delivery::commit_unfinished(outcome, job, &context).await {
            tracing::warn!(loop_id = %job.id, repository = context.full_name, reason, "failed to commit unfinished work");
        }
    }
}
