//! Verifies before a delivery, and at the end of a loop without one, that nothing was pushed yet. The hook that denies
//! pushes judges command lines; a program that the assistant wrote can still push.
//!
//! The evidence is positive: a remote has a commit that was created in the loop's worktree after the start of the loop.
//! Refs that other people moved are never counted.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use loopgate_api::event::{LoopEvent, warning};
use loopgate_api::redact;
use loopgate_api::undelivered::EarlyPush;
use loopgate_tools::git::GitError;

use super::outcome::LoopOutcome;
use super::repository::RepositoryWork;
use super::retry::{DeliveryError, repeat};
use crate::jobs::Job;
use crate::jobs::store::{OutboxMessage, StoreError};

/// Whether a remote that cannot be reached is tried again until it can, or the loop is cancelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Retries {
    UntilReached,
    Never,
}

/// Commits that were pushed, by full name of the repository, and why remotes could not be checked.
#[derive(Debug, Default)]
struct Found {
    pushes: BTreeMap<String, Vec<EarlyPush>>,
    errors: Vec<DeliveryError>,
}

impl Found {
    /// Returns the event that names the pushes.
    fn event(&self) -> Option<LoopEvent> {
        let all: Vec<String> = self.pushes.values().flatten().map(describe).collect();
        let pushed = || {
            format!(
                "Pushed during the loop, before Loopgate had checked it: {}. Review these refs.",
                all.join(", ")
            )
        };
        (!all.is_empty()).then(|| output(&pushed()))
    }
}

/// Records the commits that were pushed before the delivery, unless an earlier attempt of the delivery has: after its
/// first push, these could not be distinguished from the commits of the delivery.
pub(super) async fn record(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    parts: &[RepositoryWork],
) -> Result<(), StoreError> {
    if is_recorded(job) {
        return Ok(());
    }
    let found = search(outcome, job, parts, Retries::UntilReached).await?;
    // The delivery itself reports the cancellation.
    if found.errors.iter().any(|error| matches!(error, DeliveryError::Cancelled)) {
        return Ok(());
    }
    let event = found.event();
    outcome
        .finalizer
        .jobs
        .change(job.id, |now| {
            if let Some(delivery) = &mut now.job.delivery {
                delivery.early_pushes = Some(found.pushes);
            }
            if let Some(event) = &event {
                now.send(OutboxMessage::event(event));
            }
            Ok(())
        })
        .await
        .map(drop)
}

/// Checks a loop that ends without a delivery, and warns about its pushes. Remotes are tried once, because such an end must
/// not wait for the network. Returns the job with its warning.
pub(super) async fn check_at_end(outcome: &LoopOutcome<'_>, job: Job) -> Result<Job, StoreError> {
    // Also after a crash between this check and the end of the loop.
    if is_recorded(&job) || job.warnings().iter().any(|code| code == warning::PUSHED_BEFORE_DELIVERY) {
        return Ok(job);
    }
    let found = search(outcome, &job, &RepositoryWork::all(&job), Retries::Never).await?;
    let unchecked = found.errors.first().map(|error| {
        let reason = redact::cause(&error.to_string());
        output(&format!("Cannot check whether the loop pushed its local commits: {reason}."))
    });
    let events: Vec<LoopEvent> = found.event().into_iter().chain(unchecked).collect();
    if events.is_empty() {
        return Ok(job);
    }
    let change = outcome.finalizer.jobs.change(job.id, |now| {
        if !found.pushes.is_empty() {
            now.job.warn(warning::PUSHED_BEFORE_DELIVERY);
        }
        events.iter().for_each(|event| now.send(OutboxMessage::event(event)));
        Ok(())
    });
    change.await
}

fn is_recorded(job: &Job) -> bool {
    job.delivery.as_ref().is_some_and(|delivery| delivery.early_pushes.is_some())
}

fn output(text: &str) -> LoopEvent {
    LoopEvent::note(text)
}

async fn search(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    parts: &[RepositoryWork],
    retries: Retries,
) -> Result<Found, StoreError> {
    let mut found = Found::default();
    for part in parts {
        match find(outcome, part, retries).await {
            Ok(pushes) if pushes.is_empty() => {}
            Ok(pushes) => {
                tracing::warn!(loop_id = %job.id, ?pushes, "commits were pushed by the loop itself");
                found.pushes.insert(part.full_name.clone().unwrap_or_default(), pushes);
            }
            Err(DeliveryError::Store(error)) => return Err(error),
            Err(error) => {
                tracing::warn!(loop_id = %job.id, %error, "cannot verify that the loop pushed nothing");
                found.errors.push(error);
            }
        }
    }
    Ok(found)
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

async fn find(
    outcome: &LoopOutcome<'_>,
    part: &RepositoryWork,
    retries: Retries,
) -> Result<Vec<EarlyPush>, DeliveryError> {
    let own: HashSet<String> = own_commits(outcome, part).await?.into_iter().collect();
    let Some(directory) = part.directory.as_deref().filter(|_| !own.is_empty()) else {
        return Ok(Vec::new());
    };
    let list = async || Ok(outcome.finalizer.git.remote_refs(directory).await?);
    let remotes = match retries {
        Retries::UntilReached => repeat(outcome, "checking that nothing was pushed yet", list).await?,
        Retries::Never => list().await?,
    };
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
