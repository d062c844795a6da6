//! Delivers one repository: commits, pushes and opens a pull request, or reports that there is nothing to
//! deliver. Can be repeated after an interruption at any point.

use std::path::{Path, PathBuf};
use std::time::Duration;

use loopgate_api::event::LoopEvent;
use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_home::untrusted;
use loopgate_tools::git::remove_stale_locks;
use loopgate_tools::shim;

use super::contradiction;
use super::git_delivery::{self, no_changes};
use super::held_back;
use super::large_files;
use super::outcome::{LoopOutcome, worktree};
use super::peers;
use super::result::{DeliveryContext, DeliveryOutcome, PR_BODY, git_failed, store_result};
use super::result_file::{self, ReportedPullRequest};
use super::retry::DeliveryError;
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryPath, DeliveryStatus, Job, ProcessKind, StartState};
use crate::workspace::worktree::deliver_from_branch;

const REAP_GRACE: Duration = Duration::from_secs(3);

/// One repository of a loop, as recorded in the job.
#[derive(Debug, Clone)]
pub(super) struct RepositoryWork {
    /// Path of the worktree.
    pub directory: Option<PathBuf>,
    /// The clone that the worktree was created from.
    pub repository: Option<PathBuf>,
    pub work_dir: PathBuf,
    pub full_name: Option<String>,
    pub base: Option<String>,
    /// Branch of the worktree.
    pub branch: Option<String>,
    pub start_sha: Option<String>,
    /// Further state of the worktree before the loop.
    pub start: Option<StartState>,
    /// Repositories whose entries are accepted in a result. Empty accepts all: the loop's repository has no
    /// name.
    pub names: Vec<String>,
}

impl RepositoryWork {
    pub fn primary(job: &Job) -> Self {
        let peers = job.workspace.additional_worktree_dirs.iter().filter_map(|peer| peer.full_name.clone());
        let own = job.workspace.primary_repo_full_name.clone();
        Self {
            directory: worktree(job).map(Path::to_owned),
            repository: job.workspace.repo_path.as_deref().map(PathBuf::from),
            work_dir: job.work_dir(),
            names: own.iter().cloned().chain(peers.filter(|_| own.is_some())).collect(),
            full_name: own,
            base: job.workspace.base_branch.clone(),
            branch: job.workspace.worktree_branch.clone(),
            start_sha: job.workspace.start_sha.clone(),
            start: job.workspace.start,
        }
    }

    /// Returns all repositories of a loop, the primary one first.
    pub fn all(job: &Job) -> Vec<Self> {
        let peers = job.workspace.additional_worktree_dirs.iter().filter_map(peers::repository_work);
        std::iter::once(Self::primary(job)).chain(peers).collect()
    }

    /// Returns the repository that an entry of this name describes; that without a recorded name if no other one has
    /// it.
    pub fn named<'a>(all: &'a [Self], full_name: &str) -> Option<&'a Self> {
        let is_named =
            |part: &&Self| part.full_name.as_ref().is_some_and(|name| name.eq_ignore_ascii_case(full_name));
        all.iter().find(is_named).or_else(|| all.iter().find(|part| part.full_name.is_none()))
    }
}

/// Delivers the work of one repository. Errors of git and the code host become part of the outcome.
pub(super) async fn deliver_repository(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
) -> Result<DeliveryOutcome, StoreError> {
    let (directory, name, names) = (part.work_dir.clone(), part.full_name.clone(), part.names.clone());
    let parent = parent_repository(outcome, part).await;
    let stored = tokio::task::spawn_blocking(move || {
        result_file::authoritative(&directory, name.as_deref(), parent.as_ref())
            .filter(|result| result.lists_only(&names))
    });
    if let Some(result) = stored.await.unwrap_or_default() {
        if is_confirmed(outcome, job, part, &result).await {
            return Ok(reuse_result(part, result).await);
        }
        tracing::warn!(loop_id = %outcome.id, "the result file names a commit that the remote does not have; ignoring it");
    }
    let context = match inspect(outcome, part).await {
        Ok(context) => context,
        Err(refused) => return Ok(refused),
    };
    match deliver_from(outcome, job, part, &context).await {
        Ok(delivered) => Ok(store_result(&context.work_dir, delivered).await),
        Err(DeliveryError::Store(error)) => Err(error),
        Err(DeliveryError::Cancelled) => Ok(cancelled_outcome(outcome, &context).await),
        Err(DeliveryError::CancelledAfterPush(branch)) => {
            let cancelled = cancelled_outcome(outcome, &context).await;
            Ok(DeliveryOutcome { pushed: vec![format!("{branch} of {}", context.full_name)], ..cancelled })
        }
        Err(error) => Ok(git_failed(&error.to_string())),
    }
}

/// Returns the repository to which the work of a fork is proposed.
async fn parent_repository(outcome: &LoopOutcome<'_>, part: &RepositoryWork) -> Option<RepoFullName> {
    let remotes = outcome.finalizer.git.remotes(part.directory.as_deref()?).await.ok()?;
    remotes.parent_repository().cloned()
}

/// Returns whether a stored result may be reused. The assistant can write the file, and the result of a loop that claims
/// tasks decides about their completion: it counts only if the remote has its commit. The push of an interrupted delivery
/// has updated the remote-tracking branch.
async fn is_confirmed(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    result: &ExecutionResult,
) -> bool {
    let parts = std::slice::from_ref(part);
    let own = result.results.iter().find(|entry| RepositoryWork::named(parts, entry.full_name()).is_some());
    let Some(ResultEntry::Success(entry)) = own else { return true };
    if !entry.has_changes || contradiction::claimed_tasks(job).await.is_empty() {
        return true;
    }
    let directory =
        part.directory.as_deref().filter(|directory| outcome.finalizer.layout.allowed(directory).is_some());
    let (Some(directory), Some(commit)) = (directory, &entry.commit_sha) else { return false };
    let Ok(remotes) = outcome.finalizer.git.remotes(directory).await else { return false };
    let tracked = remotes.pushed_ref(&entry.branch_name);
    let base = outcome.finalizer.git.merge_base(directory, &tracked, commit).await;
    base.ok().flatten().is_some_and(|base| base.starts_with(commit.as_str()))
}

/// Reuses a stored result. Rewrites it, because the assistant may have written it in a non-canonical form.
async fn reuse_result(part: &RepositoryWork, result: ExecutionResult) -> DeliveryOutcome {
    let changed =
        result.results.iter().any(|entry| matches!(entry, ResultEntry::Success(e) if e.has_changes));
    let status = if changed { DeliveryStatus::Success } else { DeliveryStatus::NoChanges };
    let (directory, written) = (part.work_dir.clone(), result.clone());
    // Best-effort: the caller reports the result in memory.
    let _ = tokio::task::spawn_blocking(move || result_file::write(&directory, &written)).await;
    let incomplete = result.results.iter().any(|entry| matches!(entry, ResultEntry::Failed { .. }));
    let held_back = result
        .results
        .iter()
        .any(|entry| matches!(entry, ResultEntry::Success(e) if !e.held_back.is_empty()));
    DeliveryOutcome {
        incomplete,
        held_back,
        ..DeliveryOutcome::new(status, DeliveryPath::ArtifactExisting).with_result(result)
    }
}

/// Returns the location and base of the work. Fails when the worktree is missing or outside the sandbox.
pub(super) async fn inspect(
    outcome: &LoopOutcome<'_>,
    part: &RepositoryWork,
) -> Result<DeliveryContext, DeliveryOutcome> {
    let skipped =
        |reason: &str| DeliveryOutcome::new(DeliveryStatus::Skipped, DeliveryPath::None).with_reason(reason);
    let failed =
        |reason: &str| DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::None).with_reason(reason);
    let directory = part.directory.as_deref().filter(|directory| directory.is_dir());
    let directory =
        directory.ok_or_else(|| skipped("worktree directory unavailable for execute finalization"))?;
    // The sandbox may have been narrowed in the settings since the loop was started.
    if outcome.finalizer.layout.allowed(directory).is_none() {
        return Err(skipped("worktree directory not allowed by current sandbox"));
    }
    let git = &outcome.finalizer.git;
    // Without its `.git` file the directory is not a worktree for git. `git worktree repair` recreates it.
    if let Some(clone) = part.repository.as_deref().filter(|_| !directory.join(".git").exists())
        && let Err(error) = git.worktree_repair(clone).await
    {
        tracing::warn!(loop_id = %outcome.id, %error, "failed to repair the worktree's link to its repository");
    }
    // A git process of the loop that was killed may have left lock files, which would make the commit fail.
    remove_stale_locks(outcome.finalizer.sandbox.clone(), directory).await;
    // Returning to the loop's branch would end a stopped rebase, and its conflicts would be delivered.
    git.ensure_finished(directory).await.map_err(|error| failed(&error.to_string()))?;
    // The assistant may have switched branches. The work is delivered from the loop's branch.
    if let Some(branch) = part.branch.as_deref().and_then(|branch| branch.parse().ok()) {
        deliver_from_branch(&outcome.finalizer.workspaces.worktrees, outcome.id, directory, &branch).await;
    }
    let base = match &part.base {
        Some(base) => base.clone(),
        None => git.default_base(directory).await.ok().flatten().unwrap_or_default(),
    };
    let base = base.parse::<BranchName>().map_err(|error| failed(&error.to_string()))?;
    let base_ref = git.base_ref(directory, &base).await.map_err(|error| failed(&error.to_string()))?;
    // The base branch may have been deleted since. The commit at the start of the loop serves as the base
    // then.
    let base_revision = base_ref
        .or_else(|| part.start_sha.clone())
        .ok_or_else(|| failed("the base branch no longer exists"))?;
    let full_name = match &part.full_name {
        Some(name) => name.clone(),
        None => {
            let clone = git.repository(directory).await.ok();
            clone.and_then(|clone| clone.origin()).map(|name| name.to_string()).unwrap_or_default()
        }
    };
    let remotes = git.remotes(directory).await.map_err(|error| failed(&error.to_string()))?;
    let work_dir = part.work_dir.clone();
    Ok(DeliveryContext { directory: directory.to_owned(), work_dir, full_name, remotes, base, base_revision })
}

async fn deliver_from(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
    context: &DeliveryContext,
) -> Result<DeliveryOutcome, DeliveryError> {
    // Earlier versions let an assistant commit. It may have survived the upgrade, and would push concurrently.
    if job.run.process.as_ref().is_some_and(|process| process.kind == ProcessKind::Commit) {
        shim::reap(job.id, REAP_GRACE).await;
        remove_stale_locks(outcome.finalizer.sandbox.clone(), &context.directory).await;
    }
    // The assistant may have committed and pushed by itself, which is accepted if the remote confirms it.
    let pushed = verified_claim(outcome, context).await;
    clear_scratch(outcome, context).await;
    if let Some(result) = pushed {
        upload_large_files(outcome, context, &result).await?;
        return Ok(
            DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::ArtifactExisting).with_result(result)
        );
    }
    let held = held_back::find(outcome, context).await?;
    let ahead = outcome.finalizer.git.ahead_of(&context.directory, &context.base_revision).await? > 0;
    if !held.others_changed && !ahead {
        held.announce(outcome, context).await?;
        return Ok(no_changes(outcome, context, &held));
    }
    announce(outcome, job, context).await?;
    git_delivery::deliver(outcome, job, part, context, &held).await
}

/// Reports the start of a repository's delivery in the loop's output.
async fn announce(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<(), DeliveryError> {
    let several = !job.workspace.additional_worktree_dirs.is_empty();
    let repository = if several { format!("of {} ", context.full_name) } else { String::new() };
    let text = if job.launch.hold_pull_request && job.launch.approved_commits.is_none() {
        format!(
            "Committing the changes {repository}and pushing them; a person has to approve the pull request"
        )
    } else {
        format!("Committing the changes {repository}and opening a pull request")
    };
    let event = LoopEvent::note(&text);
    outcome.finalizer.jobs.enqueue_event(outcome.id, &event).await?;
    Ok(())
}

/// Returns what a cancelled delivery has left at the code host.
async fn cancelled_outcome(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> DeliveryOutcome {
    let pull_request = match verified_claim(outcome, context).await {
        None => git_delivery::open_pull_request(outcome, context).await,
        verified => verified,
    };
    clear_scratch(outcome, context).await;
    match pull_request {
        Some(result) => {
            DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::GitFallback).with_result(result)
        }
        None => git_failed("cancelled"),
    }
}

/// Uploads the content of files in Git LFS for a branch that the assistant pushed, as far as no hook did.
async fn upload_large_files(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    result: &ExecutionResult,
) -> Result<(), DeliveryError> {
    match result.results.first() {
        Some(ResultEntry::Success(entry)) => {
            large_files::upload_pushed(outcome, context, &entry.branch_name).await
        }
        _ => Ok(()),
    }
}

/// Returns the pull request that the assistant reports, if the clone confirms it: HEAD is the reported commit, the
/// remote-tracking branch points to it, and remotes have the commits of its submodules.
async fn verified_claim(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Option<ExecutionResult> {
    let scratch = context.directory.join(EXECUTION_RESULT);
    let claim = tokio::task::spawn_blocking(move || result_file::claim(&scratch)).await.ok().flatten()?;
    let ReportedPullRequest { full_name, pr_number, branch, commit } = claim;
    let expected = context.pull_request_repository();
    let same_repository = full_name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(expected));
    if !same_repository && !expected.is_empty() {
        tracing::warn!("assistant reported a pull request of another repository");
        return None;
    }
    let name = if context.full_name.is_empty() { full_name? } else { context.full_name.clone() };
    let branch: BranchName = branch.parse().ok()?;
    let git = &outcome.finalizer.git;
    let head = git.head(&context.directory).await.ok()?;
    let remote =
        git.commit_of(&context.directory, &context.remotes.pushed_ref(branch.as_str())).await.ok()??;
    let agrees = head == remote && head.starts_with(&commit.to_lowercase());
    if !agrees {
        tracing::warn!("assistant reported a push that the remote does not confirm");
        return None;
    }
    if let Err(error) = git.ensure_submodules_published(&context.directory, &context.base_revision).await {
        tracing::warn!(%error, "assistant pushed a branch that others cannot check out");
        return None;
    }
    Some(result_file::success(context, &name, pr_number, branch.as_str(), &head, Vec::new()))
}

/// Removes the assistant's scratch files so that they are not committed. Files of these names that the
/// repository tracks are kept.
pub(super) async fn clear_scratch(outcome: &LoopOutcome<'_>, context: &DeliveryContext) {
    for name in [EXECUTION_RESULT, PR_BODY] {
        if !outcome.finalizer.git.tracks(&context.directory, name).await.unwrap_or(true) {
            let scratch = context.directory.join(name);
            let _ = tokio::task::spawn_blocking(move || untrusted::remove(&scratch)).await;
        }
    }
}
