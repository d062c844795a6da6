//! Delivers a repository with git and the code host's CLI, without the assistant: commits the working tree,
//! pushes the branch, and creates or reuses the pull request. All steps are idempotent.

use std::path::{Path, PathBuf};

use loopgate_api::execution_result::ExecutionResult;
use loopgate_api::held_back::HeldBackFile;
use loopgate_api::ids::BranchName;
use loopgate_tools::code_host::{NewPullRequest, PullRequest};
use loopgate_tools::git::{remove_stale_locks, time};

use super::held_back::{self, HeldBack};
use super::large_files;
use super::outcome::LoopOutcome;
use super::pr_text::{commit_title, write_body};
use super::result::{DeliveryContext, DeliveryOutcome, NO_CHANGES, git_failed};
use super::result_file;
use super::retry::{DeliveryError, repeat, unless_cancelled};
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};

const LABEL: &str = "orchestrator";
/// Delivers the work of one repository.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<DeliveryOutcome, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    // The assistant may have failed in the middle of a merge while it delivered.
    git.ensure_finished(directory).await?;
    let title = commit_title(job);
    let held = held_back::find(outcome, context).await?;
    held.announce(outcome, context).await?;
    let message = held.remove_from_commits(outcome, context).await?.unwrap_or_else(|| title.clone());
    let commit = async || {
        // A git process of the assistant that was killed may have left an index.lock behind.
        remove_stale_locks(outcome.finalizer.sandbox.clone(), directory).await;
        let committer = job.launch.committer.as_ref();
        Ok(git.commit_all_except(directory, &message, committer, &held.paths).await?)
    };
    repeat(outcome, "committing", commit).await?;
    // With held-back files only, or changes inside of a submodule, the commit above is a no-op; the branch may have no
    // commits to push.
    if git.ahead_of(directory, &context.base_revision).await? == 0 {
        return Ok(no_changes(outcome, context, &held));
    }
    let branch = match delivery_branch(outcome, context).await {
        Ok(branch) => branch,
        Err(reason) => return Ok(git_failed(&reason)),
    };
    git.ensure_submodules_published(directory, &context.base_revision).await?;
    // Before the push, as the hook of git-lfs does it.
    large_files::upload(outcome, context, &branch).await?;
    let branch = push(outcome, job, context, branch).await?;
    let head = git.head(directory).await?;
    let open = || pull_request(outcome, job, context, &branch, &title);
    let opened = repeat(outcome, "opening the pull request", open).await;
    let pull_request = opened.map_err(|error| match error {
        DeliveryError::Cancelled => DeliveryError::CancelledAfterPush(branch.clone()),
        error => error,
    })?;
    Ok(by_git(success(context, &pull_request, &branch, &head, held.entries.clone()), &held))
}

fn success(
    context: &DeliveryContext,
    pull_request: &PullRequest,
    branch: &BranchName,
    head: &str,
    held_back: Vec<HeldBackFile>,
) -> ExecutionResult {
    // Clones without a remote at the code host have no name; the pull request's URL contains it.
    let url_name = result_file::repository_and_number(&pull_request.url).and_then(|(name, _)| name);
    let name =
        if context.full_name.is_empty() { url_name.unwrap_or_default() } else { context.full_name.clone() };
    result_file::success(context, &name, pull_request.number, branch.as_str(), head, held_back)
}

/// Returns the open pull request of an interrupted delivery if the remote already has the checked-out commit.
pub(super) async fn open_pull_request(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
) -> Option<ExecutionResult> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let branch: BranchName = git.current_branch(directory).await.ok()??.parse().ok()?;
    let head = git.head(directory).await.ok()?;
    let remote = git.commit_of(directory, &context.remotes.pushed_ref(branch.as_str())).await.ok()??;
    if head != remote || git.ahead_of(directory, &context.base_revision).await.ok()? == 0 {
        return None;
    }
    let pull_request = outcome.finalizer.code_host.pr_view(directory, &branch).await.ok()??;
    Some(success(context, &pull_request, &branch, &head, Vec::new()))
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
    let title = format!("{} (unfinished)", commit_title(job));
    let held = held_back::find(outcome, context).await.map_err(|error| error.to_string())?;
    let (git, committer) = (&outcome.finalizer.git, job.launch.committer.as_ref());
    let commit = git.commit_all_except(&context.directory, &title, committer, &held.paths).await;
    commit.map(|_| ()).map_err(|error| error.to_string())
}

/// Returns the branch that is checked out. Fails on a detached HEAD and on the base branch.
async fn delivery_branch(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<BranchName, String> {
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

/// Pushes the branch and returns the name under which it was pushed. When the remote branch has diverged, the
/// work is pushed to a new branch named after the loop. Never force-pushes.
async fn push(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    branch: BranchName,
) -> Result<BranchName, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let Err(rejected) = push_branch(outcome, directory, &branch).await else { return Ok(branch) };
    if !diverged(&rejected) {
        return Err(rejected);
    }
    let step = format!("pushing {branch}");
    // The remote branch may contain this commit already, followed by newer ones: nothing to push then.
    if repeat(outcome, &step, async || Ok(git.is_pushed(directory, &branch).await?)).await? {
        return Ok(branch);
    }
    let Ok(fallback) = format!("{branch}-{}", job.id.short()).parse::<BranchName>() else {
        return Err(rejected);
    };
    // This is the loop's fallback branch and it has diverged, too. Fail instead of adding suffixes.
    if branch.as_str().ends_with(&job.id.short()) {
        return Err(rejected);
    }
    tracing::info!(loop_id = %job.id, %branch, %fallback, "remote branch has diverged; pushing to a new branch");
    // -C resets a branch of that name that a previous attempt created.
    git.text(directory, &["switch", "--quiet", "-C", fallback.as_str()], time::LOCAL).await?;
    push_branch(outcome, directory, &fallback).await?;
    Ok(fallback)
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
    let DeliveryError::Git(error) = error else { return false };
    error
        .printed()
        .is_some_and(|printed| ["non-fast-forward", "fetch first"].iter().any(|text| printed.contains(text)))
}

async fn pull_request(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    branch: &BranchName,
    title: &str,
) -> Result<PullRequest, DeliveryError> {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let existing = match host.pr_view(directory, branch).await {
        // Without knowing whether a pull request exists, creating one could produce a duplicate: retry.
        Err(error) if error.is_transient() => return Err(error.into()),
        result => result.unwrap_or_else(|error| {
            tracing::info!(%error, "failed to look up the pull request; creating one");
            None
        }),
    };
    let body_file = context.work_dir.join("pr-body.md");
    let pull_request = match existing {
        Some(existing) => {
            ensure_footer(outcome, job, context, &existing, body_file).await;
            existing
        }
        None => {
            let body = write_body(job, context, body_file, None).await?;
            let title = subject(outcome, context).await.unwrap_or_else(|| title.to_owned());
            let new = NewPullRequest { title: &title, body: &body, base: &context.base, head: branch };
            match host.pr_create(directory, &new).await {
                Ok(created) => created,
                // Another process may have created it, or the response was lost after the code host had
                // created it.
                Err(error) => match host.pr_view(directory, branch).await {
                    Ok(Some(existing)) => existing,
                    _ => return Err(error.into()),
                },
            }
        }
    };
    // Best-effort: the repository may not define this label.
    if let Err(error) = host.pr_add_label(directory, pull_request.number, LABEL).await {
        tracing::debug!(%error, "failed to label the pull request");
    }
    Ok(pull_request)
}

/// Adds the loop's footer to an existing pull request. Best-effort: failures are logged.
async fn ensure_footer(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    pull_request: &PullRequest,
    body_file: PathBuf,
) {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let Ok(body) = host.pr_body(directory, pull_request.number).await else { return };
    // A repeated delivery must not append the footer again.
    if body.contains(&format!("Loop ID: {}", job.id)) {
        return;
    }
    let result = match write_body(job, context, body_file, Some(body)).await {
        Ok(body) => host.pr_edit_body(directory, pull_request.number, &body).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = result {
        tracing::debug!(error, "failed to add the footer to the pull request");
    }
}

/// Returns the subject of the last commit, which describes the change better than the generated title.
async fn subject(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Option<String> {
    let args = ["log", "-1", "--format=%s"];
    let text = outcome.finalizer.git.text(&context.directory, &args, time::LOCAL).await.ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the outcome of a repository without changes, or whose changes are all held back.
pub(super) fn no_changes(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    held: &HeldBack,
) -> DeliveryOutcome {
    let reason = match held.describe() {
        description if description.is_empty() => NO_CHANGES.to_owned(),
        description => format!("All changes were held back: {description}"),
    };
    let mut delivered =
        DeliveryOutcome::new(DeliveryStatus::NoChanges, DeliveryPath::None).with_reason(&reason);
    // No tokens and no changes: the assistant never ran. The caller reports this as a failure.
    delivered.no_work = outcome.summary.ledger.usage().is_zero();
    delivered.held_back = !held.entries.is_empty();
    delivered.with_result(result_file::skipped(&context.full_name, &reason))
}

fn by_git(result: ExecutionResult, held: &HeldBack) -> DeliveryOutcome {
    let delivered =
        DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::GitFallback).with_result(result);
    if held.entries.is_empty() {
        return delivered;
    }
    DeliveryOutcome { held_back: true, ..delivered }.with_reason(format!("held back: {}", held.describe()))
}
