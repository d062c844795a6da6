//! Delivers a repository with git and the code host's CLI: commits the working tree, pushes the branch, runs the
//! tests, and creates or reuses the pull request, unless a person has to approve the changes first. All steps are idempotent.

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::held_back::HeldBackFile;
use loopgate_api::ids::BranchName;
use loopgate_tools::code_host::PullRequest;

use super::commit::{commit, delivery_branch};
use super::delivery_text::DeliveryText;
use super::held_back::HeldBack;
use super::outcome::LoopOutcome;
use super::pull_request::{PullRequestText, pull_request};
use super::push::push;
use super::repository::RepositoryWork;
use super::result::{DeliveryContext, DeliveryOutcome, NO_CHANGES, git_failed};
use super::retry::{DeliveryError, repeat};
use super::{approval, evidence, large_files, result_file};
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};

/// Delivers the work of one repository, except for the files that are held back.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
    held: &HeldBack,
) -> Result<DeliveryOutcome, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    if let Some(reason) = approval::refusal(outcome, job, context, held).await? {
        return Ok(git_failed(&reason));
    }
    let text = DeliveryText::of(outcome, job, context).await;
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
    if approval::is_required(outcome, job, context, &pushed).await {
        approval::keep_text(outcome, context).await;
        let entry = result_file::held(context, pushed.branch.as_str(), &head, held.entries.clone(), tests);
        let delivered = DeliveryOutcome::new(DeliveryStatus::Held, DeliveryPath::GitFallback);
        return Ok(DeliveryOutcome { held_back: !held.entries.is_empty(), ..delivered }.with_result(entry));
    }
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
