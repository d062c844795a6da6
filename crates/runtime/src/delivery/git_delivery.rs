//! Delivers a repository with git and the code host's CLI: commits the working tree, pushes the branch, runs the
//! tests, and creates or reuses the pull request. All steps are idempotent.

use std::path::Path;

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::held_back::HeldBackFile;
use loopgate_api::ids::BranchName;
use loopgate_api::test_evidence::TestEvidence;
use loopgate_evidence::markdown;
use loopgate_tools::code_host::{NewPullRequest, PullRequest};
use loopgate_tools::git::{GitError, remove_stale_locks, time};

use super::delivery_text::{DeliveryText, generated_title, write_body};
use super::held_back::{self, HeldBack};
use super::outcome::LoopOutcome;
use super::repository::RepositoryWork;
use super::result::{DeliveryContext, DeliveryOutcome, NO_CHANGES, git_failed};
use super::retry::{DeliveryError, repeat, unless_cancelled};
use super::{evidence, large_files, result_file};
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};
use crate::workspace::naming::branch_outside_namespace;

const LABEL: &str = "orchestrator";

/// Delivers the work of one repository, except for the files that are held back.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
    held: &HeldBack,
) -> Result<DeliveryOutcome, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let text = DeliveryText::of(outcome, context);
    held.announce(outcome, context).await?;
    commit(outcome, job, context, held, text.as_ref()).await?;
    // With held-back files only, or changes inside of a submodule, the commit above is a no-op; the branch may have no
    // commits to push.
    if git.ahead_of(directory, &context.base_revision).await? == 0 {
        return Ok(no_changes(outcome, context, held));
    }
    let branch = match delivery_branch(outcome, context).await {
        Ok(branch) => branch,
        Err(reason) => return Ok(git_failed(&reason)),
    };
    git.ensure_submodules_published(directory, &context.base_revision).await?;
    // Before the push, as the hook of git-lfs does it.
    large_files::upload(outcome, context, &branch).await?;
    let pushed = push(outcome, job, context, branch).await?;
    let after_push = |error| match error {
        DeliveryError::Cancelled => DeliveryError::CancelledAfterPush(pushed.branch.clone()),
        error => error,
    };
    let head = git.head(directory).await?;
    // Before the pull request, which contains the results. The work is safe at the remote.
    let tests = evidence::of_pushed_commit(outcome, job, part, context).await.map_err(after_push)?;
    let new = PullRequestText { text: text.as_ref(), tests: tests.as_ref() };
    let open = || pull_request(outcome, job, context, &pushed, &new);
    let opened = repeat(outcome, "opening the pull request", open).await.map_err(after_push)?;
    let mut result = success(context, &opened, &pushed.branch, &head, held.entries.clone());
    if let Some(ResultEntry::Success(entry)) = result.results.first_mut() {
        entry.tests = tests.map(Box::new);
    }
    let path = if text.is_some() { DeliveryPath::Llm } else { DeliveryPath::GitFallback };
    let delivered = DeliveryOutcome::new(DeliveryStatus::Success, path).with_result(result);
    if held.entries.is_empty() {
        return Ok(delivered);
    }
    Ok(DeliveryOutcome { held_back: true, ..delivered }
        .with_reason(format!("held back: {}", held.describe())))
}

/// Commits the working tree except for the held-back files.
async fn commit(
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
    let title = format!("{} (unfinished)", generated_title(job));
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

/// A branch at the remote.
struct PushedBranch {
    branch: BranchName,
    /// Whether the clone knew no such branch of the remote before the push.
    is_new: bool,
}

/// Pushes the branch and returns the name under which it was pushed. When the remote branch has diverged, the
/// work is pushed to a new branch named after the loop. Never force-pushes.
async fn push(
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

/// What a pull request says.
struct PullRequestText<'a> {
    text: Option<&'a DeliveryText>,
    tests: Option<&'a TestEvidence>,
}

/// Returns the open pull request of a branch; creates it if there is none.
async fn pull_request(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    pushed: &PushedBranch,
    new: &PullRequestText<'_>,
) -> Result<PullRequest, DeliveryError> {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let branch = &pushed.branch;
    // A new branch has no pull request. If the clone only did not know the branch, the host refuses to create
    // a second one.
    let existing = if pushed.is_new { Ok(None) } else { host.pr_view(directory, branch).await };
    let existing = match existing {
        // Without knowing whether a pull request exists, creating one could produce a duplicate: retry.
        Err(error) if error.is_transient() => return Err(error.into()),
        result => result.unwrap_or_else(|error| {
            tracing::info!(%error, "failed to look up the pull request; creating one");
            None
        }),
    };
    let existing = match existing {
        Some(existing) => existing,
        None => {
            let body = body(job, context, new, None).await?;
            let title = title(outcome, job, context, new.text).await;
            let new = NewPullRequest {
                title: &title,
                body: &body,
                base: &context.base,
                head: branch,
                label: LABEL,
            };
            match host.pr_create(directory, &new).await {
                Ok(created) => return Ok(created),
                // Another process may have created it, or the response was lost after the code host had
                // created it.
                Err(error) => match host.pr_view(directory, branch).await {
                    Ok(Some(existing)) => existing,
                    _ => return Err(error.into()),
                },
            }
        }
    };
    update(outcome, job, context, &existing, new).await;
    Ok(existing)
}

async fn body(
    job: &Job,
    context: &DeliveryContext,
    new: &PullRequestText<'_>,
    present: Option<String>,
) -> std::io::Result<String> {
    let section = new.tests.map(markdown);
    write_body(job, context, new.text, present, section.as_deref()).await
}

/// Returns the title of a new pull request. The subject of the last commit describes the change better than a
/// generated title.
async fn title(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    text: Option<&DeliveryText>,
) -> String {
    if let Some(text) = text {
        return text.title(job);
    }
    let args = ["log", "-1", "--format=%s"];
    let subject = outcome.finalizer.git.text(&context.directory, &args, time::LOCAL).await;
    subject.ok().filter(|subject| !subject.is_empty()).unwrap_or_else(|| generated_title(job))
}

/// Adds the loop's text, footer and test results to an existing pull request, and labels it. Best-effort:
/// failures are logged.
async fn update(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    existing: &PullRequest,
    new: &PullRequestText<'_>,
) {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    // The repository may not define this label.
    if let Err(error) = host.pr_add_label(directory, existing.number, LABEL).await {
        tracing::debug!(%error, "failed to label the pull request");
    }
    let Ok(present) = host.pr_body(directory, existing.number).await else { return };
    // A repeated delivery must not append its text again.
    if present.contains(&format!("Loop ID: {}", job.id)) {
        return;
    }
    let result = match body(job, context, new, Some(present)).await {
        Ok(body) => host.pr_edit_body(directory, existing.number, &body).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = result {
        tracing::debug!(error, "failed to add the footer to the pull request");
    }
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
