//! Commits the work of a repository on its branch, except for the files that are held back.

use loopgate_api::ids::BranchName;
use loopgate_tools::git::{GitError, remove_stale_locks};

use super::delivery_text::{DeliveryText, generated_title};
use super::held_back::{self, HeldBack};
use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::retry::{DeliveryError, repeat};
use crate::jobs::Job;

/// Commits the working tree except for the held-back files.
pub(super) async fn commit(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    held: &HeldBack,
    text: Option<&DeliveryText>,
) -> Result<(), DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let message = match held.remove_from_commits(outcome, context).await? {
        Some(message) => message,
        None => text.map_or_else(|| generated_title(job), |text| text.message(job)),
    };
    let commit = async || {
        // A git process of the assistant that was killed may have left an index.lock behind.
        remove_stale_locks(outcome.finalizer.sandbox.clone(), directory).await;
        let committer = job.launch.committer.as_ref();
        Ok(git.commit_all_except(directory, &message, committer, &held.paths).await?)
    };
    match repeat(outcome, "committing", commit).await {
        // Hooks that format the code change files and fail the commit, so that the user adds the files again.
        Err(DeliveryError::Git(error))
            if !matches!(error, GitError::TimedOut { .. })
                && has_unstaged_changes(outcome, context, held).await? =>
        {
            repeat(outcome, "committing", commit).await.map(drop)
        }
        result => result.map(drop),
    }
}

/// Returns whether files differ from the index, although all of them were staged before the commit.
async fn has_unstaged_changes(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    held: &HeldBack,
) -> Result<bool, DeliveryError> {
    let changes = outcome.finalizer.git.changed_files(&context.directory).await?;
    Ok(changes.iter().any(|change| change.tree != ' ' && !held.paths.contains(&change.path)))
}

/// Commits the work of one repository on its branch without pushing it.
///
/// # Errors
/// Fails with a reason for the log.
pub(super) async fn commit_unfinished(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<(), String> {
    delivery_branch(outcome, context).await?;
    let title = format!("{} (unfinished)", generated_title(job));
    let held = held_back::find(outcome, context).await.map_err(|error| error.to_string())?;
    let (git, committer) = (&outcome.finalizer.git, job.launch.committer.as_ref());
    let commit = git.commit_all_except(&context.directory, &title, committer, &held.paths).await;
    commit.map(|_| ()).map_err(|error| error.to_string())
}

/// Returns the branch that is checked out. Fails on a detached HEAD and on the base branch.
pub(super) async fn delivery_branch(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
) -> Result<BranchName, String> {
    let branch =
        outcome.finalizer.git.current_branch(&context.directory).await.map_err(|error| error.to_string())?;
    let branch: BranchName = branch
        .ok_or("the worktree has a detached HEAD")?
        .parse()
        .map_err(|_| "the worktree's branch name contains unsupported characters")?;
    // Work reaches the base branch only through a pull request, never by a push.
    if branch == context.base {
        return Err("the worktree is on its base branch, which is never pushed to".to_owned());
    }
    Ok(branch)
}
