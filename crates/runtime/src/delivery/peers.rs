//! Delivering the peer repositories, one after the other in the order of the
//! request. A failure of one is reported in its entry and stops no other.
//!
//! Each keeps its own result among its files until all are done, so that an interrupted delivery
//! goes on where it was.

use std::path::Path;

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::names::WORK_DIR;

use super::evidence;
use super::outcome::LoopOutcome;
use super::repository::{RepositoryWork, deliver_repository};
use super::result::{DeliveryOutcome, NO_CHANGES, stored};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryStatus, Job, PeerWorktree};

/// Delivers them, and puts what became of each behind what became of the primary one.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    primary: DeliveryOutcome,
) -> Result<DeliveryOutcome, StoreError> {
    let whole = primary.result.as_ref().is_some_and(|result| result.results.len() > 1);
    if whole || primary.auth_challenge.is_some() {
        return Ok(primary);
    }
    let own = job.workspace.primary_repo_full_name.clone().unwrap_or_default();
    let mut entries = vec![entry(&own, &primary)];
    let mut nothing = primary.nothing_was_done;
    let (mut incomplete, mut held_back) = (primary.incomplete, primary.held_back);
    for peer in &job.workspace.additional_worktree_dirs {
        let now = outcome.finalizer.jobs.store.job(job.id).await?;
        let Some(now) = now.filter(|now| !now.is_cancelled()) else {
            return Ok(DeliveryOutcome { incomplete: true, ..primary }.with(ExecutionResult::v2(entries)));
        };
        let Some(part) = part(peer) else {
            tracing::warn!(directory = peer.dir, "incomplete-metadata: a peer repository is passed over");
            continue;
        };
        let name = part.full_name.clone().unwrap_or_default();
        let delivered = deliver_repository(outcome, &now, &part).await?;
        let delivered = evidence::attach(outcome, &now, &part, delivered).await?;
        held_back |= delivered.held_back;
        let one = entry(&name, &delivered);
        nothing &= !matches!(one, ResultEntry::Success(_));
        incomplete |= matches!(one, ResultEntry::Failed { .. });
        entries.push(one);
    }
    let delivered = DeliveryOutcome { nothing_was_done: nothing, incomplete, held_back, ..primary };
    // A loop that used nothing and changed nothing leaves no result behind.
    Ok(stored(&job.work_dir(), delivered.with(ExecutionResult::v2(entries))).await)
}

pub(super) fn part(peer: &PeerWorktree) -> Option<RepositoryWork> {
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
    })
}

/// The one entry of a repository.
pub(super) fn entry(full_name: &str, delivered: &DeliveryOutcome) -> ResultEntry {
    let known = delivered.result.as_ref().and_then(|result| result.results.first()).cloned();
    let reason = || delivered.reason.clone();
    match (known, delivered.status) {
        (Some(known), status) if status != DeliveryStatus::Error => known,
        (_, DeliveryStatus::Skipped | DeliveryStatus::NoChanges) => ResultEntry::Skipped {
            full_name: full_name.to_owned(),
            reason: reason().unwrap_or_else(|| NO_CHANGES.to_owned()),
        },
        _ => ResultEntry::Failed {
            full_name: full_name.to_owned(),
            error: reason().unwrap_or_else(|| "its work was not delivered".to_owned()),
        },
    }
}
