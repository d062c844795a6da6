//! Verifies before a delivery that nothing was pushed yet. The hook that denies pushes judges command lines; a program
//! that the assistant wrote can still push.
//!
//! The evidence is positive: a remote has a commit that was created in the loop's worktree after the start of the loop.
//! Refs that other people moved are never counted.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use loopgate_api::event::LoopEvent;
use loopgate_api::redact;
use loopgate_api::undelivered::EarlyPush;
use loopgate_tools::git::GitError;
use serde_json::json;

use super::outcome::LoopOutcome;
use super::repository::RepositoryWork;
use super::retry::{DeliveryError, repeat};
use crate::jobs::Job;
use crate::jobs::store::StoreError;

/// Records the commits that were pushed before the delivery, unless an earlier attempt of the delivery has: after its
/// first push, these could not be distinguished from the commits of the delivery.
pub(super) async fn record(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    parts: &[RepositoryWork],
) -> Result<(), StoreError> {
    if job.delivery.as_ref().is_some_and(|delivery| delivery.early_pushes.is_some()) {
        return Ok(());
    }
    let mut pushes = BTreeMap::new();
    for part in parts {
        match find(outcome, part).await {
            Ok(found) if found.is_empty() => {}
            Ok(found) => {
                pushes.insert(part.full_name.clone().unwrap_or_default(), found);
            }
            Err(DeliveryError::Store(error)) => return Err(error),
            // The delivery itself reports the cancellation.
            Err(DeliveryError::Cancelled) => return Ok(()),
            Err(error) => {
                tracing::warn!(loop_id = %job.id, %error, "cannot verify that nothing was pushed before the delivery");
            }
        }
    }
    let event = (!pushes.is_empty()).then(|| {
        let all: Vec<String> = pushes.values().flatten().map(describe).collect();
        let text = format!(
            "Pushed during the loop, before Loopgate had checked it: {}. Review these refs.",
            all.join(", ")
        );
        tracing::warn!(loop_id = %job.id, text, "commits were pushed before the delivery");
        LoopEvent::new("output", &json!({"data": {"chunk": text}}))
    });
    outcome
        .finalizer
        .jobs
        .change(job.id, |now| {
            if let Some(delivery) = &mut now.job.delivery {
                delivery.early_pushes = Some(pushes);
            }
            if let Some(event) = &event {
                now.send(crate::jobs::store::OutboxMessage::event(event));
            }
            Ok(())
        })
        .await
        .map(drop)
}

/// Describes a push for messages, for example `refs/heads/main at origin (0123456789)`.
pub(super) fn describe(push: &EarlyPush) -> String {
    let commit = push.commit.get(..10).unwrap_or(&push.commit);
    format!("{} at {} ({commit})", push.reference, push.remote)
}

/// Returns the commits that were created in the worktree of a repository since the start of the loop, newest first.
/// They are read from the reflog: the dates of commits, and of the entries, are up to their author.
pub(super) async fn own_commits(
    outcome: &LoopOutcome<'_>,
    part: &RepositoryWork,
) -> Result<Vec<String>, GitError> {
    let usable = part.directory.as_deref().filter(|directory| directory.is_dir());
    let usable = usable.filter(|directory| outcome.finalizer.layout.allowed(directory).is_some());
    let (Some(directory), Some(start)) = (usable, part.start) else { return Ok(Vec::new()) };
    let moves = outcome.finalizer.git.head_moves(directory).await?;
    // The oldest entries expire first, so that the count may be lower than at the start.
    let since_start = moves.len().saturating_sub(start.head_moves);
    let created = moves.into_iter().take(since_start).filter(|entry| entry.created_commit());
    Ok(created.map(|entry| entry.commit).collect())
}

async fn find(outcome: &LoopOutcome<'_>, part: &RepositoryWork) -> Result<Vec<EarlyPush>, DeliveryError> {
    let own: HashSet<String> = own_commits(outcome, part).await?.into_iter().collect();
    let Some(directory) = part.directory.as_deref().filter(|_| !own.is_empty()) else {
        return Ok(Vec::new());
    };
    let list = async || Ok(outcome.finalizer.git.remote_refs(directory).await?);
    let remotes = repeat(outcome, "checking that nothing was pushed yet", list).await?;
    let pushes: BTreeSet<EarlyPush> = remotes
        .into_iter()
        .flat_map(|(remote, refs)| {
            let pushed = refs.into_iter().filter(|reference| own.contains(&reference.commit));
            let remote = redact::credentials(&remote);
            pushed
                .map(|reference| EarlyPush {
                    remote: remote.clone(),
                    reference: reference.name,
                    commit: reference.commit,
                })
                .collect::<Vec<_>>()
        })
        .collect();
    Ok(pushes.into_iter().collect())
}
