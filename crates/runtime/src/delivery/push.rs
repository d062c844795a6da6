//! Pushes the branch of a repository, under another name when the remote does not accept its own. Never force-pushes.

use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_tools::git::time;

use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::retry::{DeliveryError, repeat, unless_cancelled};
use crate::jobs::Job;
use crate::workspace::naming::branch_outside_namespace;

/// A branch at the remote.
pub(super) struct PushedBranch {
    pub branch: BranchName,
    /// Whether the clone knew no such branch of the remote before the push.
    pub is_new: bool,
}

/// Pushes the branch and returns the name under which it was pushed. When the remote branch has diverged, the
/// work is pushed to a new branch named after the loop. Never force-pushes.
pub(super) async fn push(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    branch: BranchName,
) -> Result<PushedBranch, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let is_new = git.commit_of(directory, &context.remotes.pushed_ref(branch.as_str())).await?.is_none();
    let Err(rejected) = push_branch(outcome, directory, &branch).await else {
        return Ok(PushedBranch { branch, is_new });
    };
    if is_name_taken(&rejected) {
        let Ok(outside) = branch_outside_namespace(&branch) else { return Err(rejected) };
        return push_as(outcome, job, directory, &branch, outside).await;
    }
    if !diverged(&rejected) {
        return Err(rejected);
    }
    let step = format!("pushing {branch}");
    // The remote branch may contain this commit already, followed by newer ones: nothing to push then.
    if repeat(outcome, &step, async || Ok(git.is_pushed(directory, &branch).await?)).await? {
        return Ok(PushedBranch { branch, is_new: false });
    }
    let Ok(fallback) = format!("{branch}-{}", job.id.short()).parse::<BranchName>() else {
        return Err(rejected);
    };
    // This is the loop's fallback branch and it has diverged, too. Fail instead of adding suffixes.
    if branch.as_str().ends_with(&job.id.short()) {
        return Err(rejected);
    }
    push_as(outcome, job, directory, &branch, fallback).await
}

/// Pushes the work under another name, because the remote does not accept its branch.
async fn push_as(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    directory: &Path,
    branch: &BranchName,
    name: BranchName,
) -> Result<PushedBranch, DeliveryError> {
    tracing::info!(loop_id = %job.id, %branch, %name, "the remote does not accept the branch; pushing to another one");
    // -C resets a branch of that name that a previous attempt created.
    let switch = ["switch", "--quiet", "-C", name.as_str()];
    outcome.finalizer.git.text(directory, &switch, time::LOCAL).await?;
    push_branch(outcome, directory, &name).await?;
    Ok(PushedBranch { branch: name, is_new: false })
}

/// Pushes a branch until it succeeds or the loop is cancelled. A cancellation ends the push that is running; the branch
/// may have reached the remote by then.
async fn push_branch(
    outcome: &LoopOutcome<'_>,
    directory: &Path,
    branch: &BranchName,
) -> Result<(), DeliveryError> {
    let git = &outcome.finalizer.git;
    let push = async || {
        let push = async { Ok(git.push(directory, branch, time::PUSH).await?) };
        unless_cancelled(outcome, push).await
    };
    match repeat(outcome, &format!("pushing {branch}"), push).await {
        Err(DeliveryError::Cancelled) if git.is_pushed(directory, branch).await.unwrap_or(false) => {
            Err(DeliveryError::CancelledAfterPush(branch.clone()))
        }
        result => result,
    }
}

/// Returns whether the push was rejected because the remote has commits that the local branch does not contain.
fn diverged(error: &DeliveryError) -> bool {
    prints(error, ["non-fast-forward", "fetch first"])
}

/// Returns whether the push was rejected because a branch of the remote has the name of a directory of this branch.
fn is_name_taken(error: &DeliveryError) -> bool {
    prints(error, ["exists; cannot create", "directory file conflict"])
}

fn prints(error: &DeliveryError, texts: [&str; 2]) -> bool {
    let DeliveryError::Git(error) = error else { return false };
    error.printed().is_some_and(|printed| texts.iter().any(|text| printed.contains(text)))
}
