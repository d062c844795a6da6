//! Delivering with git and the code host's command line alone: commit what is there, push, open or
//! find the pull request. Every step may be repeated.

use std::path::PathBuf;

use loopgate_api::execution_result::ExecutionResult;
use loopgate_api::held_back::HeldBackFile;
use loopgate_api::ids::BranchName;
use loopgate_tools::code_host::{NewPullRequest, PullRequest};
use loopgate_tools::git::{free_locks, time};

use super::held_back::{self, HeldBack};
use super::outcome::LoopOutcome;
use super::pr_text::{commit_title, write_body};
use super::result::{DeliveryContext, DeliveryOutcome, NO_CHANGES, git_failed};
use super::result_file;
use super::retry::{DeliveryError, repeat};
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};

const LABEL: &str = "orchestrator";
/// Delivers the work of one repository.
pub(super) async fn deliver(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<DeliveryOutcome, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let title = commit_title(job);
    let held = held_back::find(outcome, context).await?;
    held.announce(outcome, context).await?;
    let message = held.take_out(outcome, context).await?.unwrap_or_else(|| title.clone());
    let commit = async || {
        free_locks(outcome.finalizer.sandbox.clone(), directory).await;
        let committer = job.launch.committer.as_ref();
        Ok(git.commit_all_but(directory, &message, committer, &held.paths).await?)
    };
    repeat(outcome, "the commit", commit).await?;
    if !held.entries.is_empty() && git.ahead_of(directory, &context.base_revision).await? == 0 {
        return Ok(no_changes(outcome, context, &held));
    }
    let branch = match own_branch(outcome, context).await {
        Ok(branch) => branch,
        Err(reason) => return Ok(git_failed(&reason)),
    };
    let branch = push(outcome, job, context, branch).await?;
    let head = git.head(directory).await?;
    let open = || pull_request(outcome, job, context, &branch, &title);
    let pull_request = repeat(outcome, "opening the pull request", open).await?;
    Ok(by_git(success(context, &pull_request, &branch, &head, held.entries.clone()), &held))
}

fn success(
    context: &DeliveryContext,
    pull_request: &PullRequest,
    branch: &BranchName,
    head: &str,
    held_back: Vec<HeldBackFile>,
) -> ExecutionResult {
    let named = result_file::repository_and_number(&pull_request.url).and_then(|(name, _)| name);
    let name =
        if context.full_name.is_empty() { named.unwrap_or_default() } else { context.full_name.clone() };
    result_file::success(&name, pull_request.number, branch.as_str(), context.base.as_str(), head, held_back)
}

/// The open pull request of a delivery that was broken off, when `origin` has the work that is
/// checked out.
pub(super) async fn open_pull_request(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
) -> Option<ExecutionResult> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let branch: BranchName = git.current_branch(directory).await.ok()??.parse().ok()?;
    let head = git.head(directory).await.ok()?;
    let remote = git.commit_of(directory, &format!("refs/remotes/origin/{branch}")).await.ok()??;
    if head != remote || git.ahead_of(directory, &context.base_revision).await.ok()? == 0 {
        return None;
    }
    let found = outcome.finalizer.code_host.pr_view(directory, &branch).await.ok()??;
    Some(success(context, &found, &branch, &head, Vec::new()))
}

/// Commits the work of one repository on its branch.
///
/// # Errors
/// Why not, for the log.
pub(super) async fn commit_unfinished(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<(), String> {
    own_branch(outcome, context).await?;
    let title = format!("{} (unfinished)", commit_title(job));
    let held = held_back::find(outcome, context).await.map_err(|error| error.to_string())?;
    let (git, committer) = (&outcome.finalizer.git, job.launch.committer.as_ref());
    let committed = git.commit_all_but(&context.directory, &title, committer, &held.paths).await;
    committed.map(|_| ()).map_err(|error| error.to_string())
}

/// The branch that the work belongs on.
async fn own_branch(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Result<BranchName, String> {
    let branch =
        outcome.finalizer.git.current_branch(&context.directory).await.map_err(|error| error.to_string())?;
    let branch: BranchName = branch
        .ok_or("the worktree is on no branch")?
        .parse()
        .map_err(|_| "the worktree's branch has a name that cannot be used")?;
    if branch == context.base {
        return Err("the worktree is on its base branch; nothing is pushed there".to_owned());
    }
    Ok(branch)
}

/// Pushes the branch. When `origin` has other work on it, that work stays and ours gets a branch of
/// its own: nothing is ever forced.
async fn push(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    branch: BranchName,
) -> Result<BranchName, DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let step = format!("the push of {branch}");
    let sent = repeat(outcome, &step, async || Ok(git.push(directory, &branch, time::PUSH).await?)).await;
    let Err(refused) = sent else { return Ok(branch) };
    if !diverged(&refused) {
        return Err(refused);
    }
    // It was pushed before, and the remote branch has newer commits.
    if repeat(outcome, &step, async || Ok(git.is_pushed(directory, &branch).await?)).await? {
        return Ok(branch);
    }
    let Ok(own) = format!("{branch}-{}", job.id.short()).parse::<BranchName>() else {
        return Err(refused);
    };
    if branch.as_str().ends_with(&job.id.short()) {
        return Err(refused);
    }
    tracing::info!(loop_id = %job.id, %branch, %own, "the remote branch has other work; ours gets its own");
    git.text(directory, &["switch", "--quiet", "-C", own.as_str()], time::LOCAL).await?;
    repeat(outcome, &step, async || Ok(git.push(directory, &own, time::PUSH).await?)).await?;
    Ok(own)
}

/// Whether `origin` has commits on the branch that the clone has not seen there.
fn diverged(error: &DeliveryError) -> bool {
    let DeliveryError::Git(error) = error else { return false };
    error
        .printed()
        .is_some_and(|printed| ["non-fast-forward", "fetch first"].iter().any(|sign| printed.contains(sign)))
}

async fn pull_request(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    branch: &BranchName,
    title: &str,
) -> Result<PullRequest, DeliveryError> {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let known = match host.pr_view(directory, branch).await {
        Err(error) if error.is_transient() => return Err(error.into()),
        known => known.unwrap_or_else(|error| {
            tracing::info!(%error, "the code host could not say whether there is a pull request");
            None
        }),
    };
    let body_file = context.work_dir.join("pr-body.md");
    let pull_request = match known {
        Some(known) => {
            ensure_footer(outcome, job, context, &known, body_file).await;
            known
        }
        None => {
            let body = write_body(job, context, body_file, None).await?;
            let title = subject(outcome, context).await.unwrap_or_else(|| title.to_owned());
            let new = NewPullRequest { title: &title, body: &body, base: &context.base, head: Some(branch) };
            match host.pr_create(directory, &new).await {
                Ok(made) => made,
                // Somebody may have made it meanwhile, or the answer was lost on its way.
                Err(error) => match host.pr_view(directory, branch).await {
                    Ok(Some(there)) => there,
                    _ => return Err(error.into()),
                },
            }
        }
    };
    if let Err(error) = host.pr_add_label(directory, pull_request.number, LABEL).await {
        tracing::debug!(%error, "the pull request has no label");
    }
    Ok(pull_request)
}

/// An existing pull request learns which loop changed it.
async fn ensure_footer(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    known: &PullRequest,
    body_file: PathBuf,
) {
    let (host, directory) = (&outcome.finalizer.code_host, context.directory.as_path());
    let Ok(body) = host.pr_body(directory, known.number).await else { return };
    if body.contains(&format!("Loop ID: {}", job.id)) {
        return;
    }
    let edited = match write_body(job, context, body_file, Some(body)).await {
        Ok(body) => host.pr_edit_body(directory, known.number, &body).await.map_err(|e| e.to_string()),
        Err(error) => Err(error.to_string()),
    };
    if let Err(error) = edited {
        tracing::debug!(error, "the pull request's text was not completed");
    }
}

/// The last commit's subject says more than a name made by a rule.
async fn subject(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Option<String> {
    let args = ["log", "-1", "--format=%s"];
    let text = outcome.finalizer.git.text(&context.directory, &args, time::LOCAL).await.ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Nothing is there to be delivered, or nothing but what is held back.
pub(super) fn no_changes(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    held: &HeldBack,
) -> DeliveryOutcome {
    let reason = match held.describe() {
        what if what.is_empty() => NO_CHANGES.to_owned(),
        what => format!("Held back, and nothing else has changed: {what}"),
    };
    let mut delivered = DeliveryOutcome::new(DeliveryStatus::NoChanges, DeliveryPath::None).because(&reason);
    delivered.nothing_was_done = outcome.summary.ledger.usage().is_zero();
    delivered.held_back = !held.entries.is_empty();
    delivered.with(result_file::skipped(&context.full_name, &reason))
}

fn by_git(result: ExecutionResult, held: &HeldBack) -> DeliveryOutcome {
    let delivered = DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::GitFallback).with(result);
    if held.entries.is_empty() {
        return delivered;
    }
    DeliveryOutcome { held_back: true, ..delivered }.because(format!("held back: {}", held.describe()))
}
