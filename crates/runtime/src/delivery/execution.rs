//! Delivering the work of an execution: its own repository, then its peers.

use std::collections::BTreeMap;

use loopgate_api::execution_result::ExecutionResult;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_api::time::now_iso;
use loopgate_home::untrusted;

use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, clear_scratch, deliver_repository, inspect};
use super::result::{DeliveryOutcome, PR_BODY, stored};
use super::{evidence, git_delivery, peers};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryCompletion, DeliveryRecord, DeliveryStatus, Job};

/// Delivers, and records how that went.
pub(super) async fn deliver(outcome: &LoopOutcome<'_>, job: &Job) -> Result<DeliveryOutcome, StoreError> {
    let before = presence(job).await;
    outcome
        .finalizer
        .jobs
        .change(job.id, |now| {
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
    let delivered = work(outcome, job).await?;
    let after = presence(job).await;
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

/// Whether the result and the scratch text of a pull request are there.
async fn presence(job: &Job) -> (bool, bool) {
    let (result, body) = (job.work_dir().join(EXECUTION_RESULT), job.work_dir().join(PR_BODY));
    tokio::task::spawn_blocking(move || (untrusted::is_file(&result), untrusted::is_file(&body)))
        .await
        .unwrap_or_default()
}

async fn work(outcome: &LoopOutcome<'_>, job: &Job) -> Result<DeliveryOutcome, StoreError> {
    let part = RepositoryWork::primary(job);
    let primary = deliver_repository(outcome, job, &part).await?;
    let primary = evidence::attach(outcome, job, &part, primary).await?;
    if !job.workspace.additional_worktree_dirs.is_empty() {
        return peers::deliver(outcome, job, primary).await;
    }
    Ok(match &job.workspace.primary_repo_full_name {
        Some(name) => with_failure_entry(job, name, primary).await,
        None => primary,
    })
}

/// Adds an entry for work that was not delivered; without one it would look like nothing to do.
async fn with_failure_entry(job: &Job, name: &str, delivered: DeliveryOutcome) -> DeliveryOutcome {
    let failed = delivered.status == DeliveryStatus::Error && delivered.auth_challenge.is_none();
    if !failed || delivered.result.is_some() {
        return delivered;
    }
    let entry = peers::entry(name, &delivered);
    stored(&job.work_dir(), delivered.with(ExecutionResult::v2(vec![entry]))).await
}

/// Commits what an execution did on the branches of its worktrees, and delivers nothing: a later execution
/// of the document goes on from there. What cannot be committed stays in the files.
pub(super) async fn commit_unfinished(outcome: &LoopOutcome<'_>, job: &Job) {
    let peers = job.workspace.additional_worktree_dirs.iter().filter_map(peers::part);
    for part in std::iter::once(RepositoryWork::primary(job)).chain(peers) {
        let Ok(context) = inspect(outcome, &part).await else { continue };
        clear_scratch(outcome, &context).await;
        if let Err(reason) = git_delivery::commit_unfinished(outcome, job, &context).await {
            tracing::warn!(loop_id = %job.id, repository = context.full_name, reason, "unfinished work was not committed");
        }
    }
}
