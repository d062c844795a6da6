//! Delivers the peer repositories sequentially, in the order of the request. A failure is reported in the
//! entry of its repository and does not affect the others.
//!
//! Each repository stores its result in its own work directory, so that an interrupted delivery resumes with
//! the first repository that has none.

use std::path::Path;

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::names::WORK_DIR;

use super::evidence;
use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, deliver_repository};
use super::result::{DeliveryOutcome, NO_CHANGES, store_result};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryStatus, Job, PeerWorktree};

/// Delivers the peers and appends their entries to the result of the primary repository.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    primary: DeliveryOutcome,
) -> Result<DeliveryOutcome, StoreError> {
    // A result with several entries was written by an earlier, complete delivery.
    if primary.result.as_ref().is_some_and(|result| result.results.len() > 1) {
        return Ok(primary);
    }
    let primary_name = job.workspace.primary_repo_full_name.clone().unwrap_or_default();
    let mut entries = vec![entry(&primary_name, &primary)];
    let mut no_work = primary.no_work;
    let (mut incomplete, mut held_back) = (primary.incomplete, primary.held_back);
    let mut pushed = primary.pushed.clone();
    for peer in &job.workspace.additional_worktree_dirs {
        // Check between repositories: each delivery can take minutes, and a cancellation must not wait for
        // all.
        let now = outcome.finalizer.jobs.store.job(job.id).await?;
        let Some(now) = now.filter(|now| !now.is_cancelled()) else {
            return Ok(DeliveryOutcome { incomplete: true, pushed, ..primary }
                .with_result(ExecutionResult::v2(entries)));
        };
        let Some(part) = repository_work(peer) else {
            tracing::warn!(
                directory = peer.dir,
                "incomplete-metadata: skipping peer repository without a name"
            );
            continue;
        };
        let name = part.full_name.clone().unwrap_or_default();
        let delivered = deliver_repository(outcome, &now, &part).await?;
        let delivered = evidence::attach(outcome, &now, &part, delivered).await?;
        held_back |= delivered.held_back;
        pushed.extend_from_slice(&delivered.pushed);
        let result = entry(&name, &delivered);
        no_work &= !matches!(result, ResultEntry::Success(_) | ResultEntry::Held(_));
        incomplete |= matches!(result, ResultEntry::Failed { .. });
        entries.push(result);
    }
    let delivered = DeliveryOutcome { no_work, incomplete, held_back, pushed, ..primary };
    // `store_result` writes no file for a loop without work, so that a retry does not reuse it.
    Ok(store_result(&job.work_dir(), delivered.with_result(ExecutionResult::v2(entries))).await)
}

pub(super) fn repository_work(peer: &PeerWorktree) -> Option<RepositoryWork> {
    let full_name = peer.full_name.clone().filter(|name| !name.is_empty())?;
    let directory = Path::new(&peer.dir).to_owned();
    Some(RepositoryWork {
        work_dir: directory.join(WORK_DIR),
        directory: Some(directory),
        repository: Some(Path::new(&peer.repo_path).to_owned()),
        names: vec![full_name.clone()],
        full_name: Some(full_name),
        base: peer.base_branch.clone(),
        branch: peer.branch.clone(),
        start_sha: peer.start_sha.clone(),
        start: peer.start,
    })
}

/// Returns the result entry of one repository.
pub(super) fn entry(full_name: &str, delivered: &DeliveryOutcome) -> ResultEntry {
    let stored_entry = delivered.result.as_ref().and_then(|result| result.results.first()).cloned();
    let reason = || delivered.reason.clone();
    match (stored_entry, delivered.status) {
        (Some(entry), status) if status != DeliveryStatus::Error => entry,
        (_, DeliveryStatus::Skipped | DeliveryStatus::NoChanges) => {
            ResultEntry::skipped(full_name, reason().as_deref().unwrap_or(NO_CHANGES))
        }
        _ => ResultEntry::failed(full_name, reason().as_deref().unwrap_or("the work was not delivered")),
    }
}
