//! Delivering one repository: committed, pushed, and in a pull request; or found to be nothing. Safe to begin
//! again at any point.

use std::path::{Path, PathBuf};

use loopgate_api::execution_result::{ExecutionResult, ResultEntry};
use loopgate_api::ids::BranchName;
use loopgate_api::names::EXECUTION_RESULT;
use loopgate_home::untrusted;
use loopgate_tools::git::free_locks;

use super::assistant_commit::{self, CommitOutcome};
use super::git_delivery::{self, no_changes};
use super::held_back;
use super::outcome::{LoopOutcome, worktree};
use super::result::{DeliveryContext, DeliveryOutcome, PR_BODY, git_failed, stored};
use super::result_file::{self, ReportedPullRequest};
use super::retry::{DeliveryError, ensure_not_cancelled};
use crate::jobs::store::StoreError;
use crate::jobs::{DeliveryPath, DeliveryStatus, Job};
use crate::workspace::worktree::deliver_from_branch;

/// One repository of a loop, as the record knows it.
#[derive(Debug, Clone)]
pub(super) struct RepositoryWork {
    /// The worktree.
    pub directory: Option<PathBuf>,
    /// The clone that the worktree belongs to.
    pub repository: Option<PathBuf>,
    pub work_dir: PathBuf,
    pub full_name: Option<String>,
    pub base: Option<String>,
    /// The branch that the loop works on.
    pub branch: Option<String>,
    pub start_sha: Option<String>,
    /// Repositories that a result may speak of; any when the loop's own has no name.
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
        }
    }
}

/// Delivers the work of one repository: it is committed, pushed and in a pull request then.
pub(super) async fn deliver_repository(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    part: &RepositoryWork,
) -> Result<DeliveryOutcome, StoreError> {
    let (directory, name, names) = (part.work_dir.clone(), part.full_name.clone(), part.names.clone());
    let found = tokio::task::spawn_blocking(move || {
        result_file::authoritative(&directory, name.as_deref()).filter(|result| result.is_about(&names))
    });
    if let Some(result) = found.await.unwrap_or_default() {
        return Ok(existing(part, result).await);
    }
    let context = match inspect(outcome, part).await {
        Ok(context) => context,
        Err(refused) => return Ok(refused),
    };
    match deliver_from(outcome, job, &context).await {
        Ok(delivered) => Ok(stored(&context.work_dir, delivered).await),
        Err(DeliveryError::Store(error)) => Err(error),
        Err(DeliveryError::Cancelled) => Ok(stopped(outcome, &context).await),
        Err(error) => Ok(git_failed(&error.to_string())),
    }
}

/// A result that is there is the result; in its canonical form it is stored again.
async fn existing(part: &RepositoryWork, result: ExecutionResult) -> DeliveryOutcome {
    let changed =
        result.results.iter().any(|entry| matches!(entry, ResultEntry::Success(e) if e.has_changes));
    let status = if changed { DeliveryStatus::Success } else { DeliveryStatus::NoChanges };
    let (directory, written) = (part.work_dir.clone(), result.clone());
    let _ = tokio::task::spawn_blocking(move || result_file::write(&directory, &written)).await;
    let incomplete = result.results.iter().any(|entry| matches!(entry, ResultEntry::Failed { .. }));
    let held_back = result
        .results
        .iter()
        .any(|entry| matches!(entry, ResultEntry::Success(e) if !e.held_back.is_empty()));
    DeliveryOutcome {
        incomplete,
        held_back,
        ..DeliveryOutcome::new(status, DeliveryPath::ArtifactExisting).with(result)
    }
}

/// Where the work lies, if it may and can be looked at.
pub(super) async fn inspect(
    outcome: &LoopOutcome<'_>,
    part: &RepositoryWork,
) -> Result<DeliveryContext, DeliveryOutcome> {
    let skipped =
        |reason: &str| DeliveryOutcome::new(DeliveryStatus::Skipped, DeliveryPath::None).because(reason);
    let failed =
        |reason: &str| DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::None).because(reason);
    let directory = part.directory.as_deref().filter(|directory| directory.is_dir());
    let directory =
        directory.ok_or_else(|| skipped("worktree directory unavailable for execute finalization"))?;
    if outcome.finalizer.layout.allowed(directory).is_none() {
        return Err(skipped("worktree directory not allowed by current sandbox"));
    }
    let git = &outcome.finalizer.git;
    if let Some(clone) = part.repository.as_deref().filter(|_| !directory.join(".git").exists())
        && let Err(error) = git.worktree_repair(clone).await
    {
        tracing::warn!(loop_id = %outcome.id, %error, "a worktree has no link to its repository any more");
    }
    // A git of the loop that was killed may have left them; nothing could be committed then.
    free_locks(outcome.finalizer.sandbox.clone(), directory).await;
    if let Some(branch) = part.branch.as_deref().and_then(|branch| branch.parse().ok()) {
        deliver_from_branch(&outcome.finalizer.workspaces.worktrees, outcome.id, directory, &branch).await;
    }
    let base = match &part.base {
        Some(base) => base.clone(),
        None => git.usual_base(directory).await.ok().flatten().unwrap_or_default(),
    };
    let base = base.parse::<BranchName>().map_err(|error| failed(&error.to_string()))?;
    let known = git.base_ref(directory, &base).await.map_err(|error| failed(&error.to_string()))?;
    let base_revision = known
        .or_else(|| part.start_sha.clone())
        .ok_or_else(|| failed("the base branch does not exist any more"))?;
    let full_name = match &part.full_name {
        Some(name) => name.clone(),
        None => {
            let found = git.repository(directory).await.ok();
            found.and_then(|found| found.origin()).map(|name| name.to_string()).unwrap_or_default()
        }
    };
    let work_dir = part.work_dir.clone();
    Ok(DeliveryContext { directory: directory.to_owned(), work_dir, full_name, base, base_revision })
}

async fn deliver_from(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
) -> Result<DeliveryOutcome, DeliveryError> {
    let git = &outcome.finalizer.git;
    // A commit that was under way when an earlier process died comes first.
    let own = assistant_commit::process(outcome, job, context);
    let committed = if job.run.process.as_ref() == Some(&own) {
        assistant_commit::resume(outcome, job, context).await
    } else {
        let claimed = verified_claim(outcome, context).await;
        clear_scratch(outcome, context).await;
        if let Some(result) = claimed {
            return Ok(
                DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::ArtifactExisting).with(result)
            );
        }
        let held = held_back::find(outcome, context).await?;
        let ahead = git.ahead_of(&context.directory, &context.base_revision).await? > 0;
        if !held.others_changed && !ahead {
            held.announce(outcome, context).await?;
            return Ok(no_changes(outcome, context, &held));
        }
        // Committed, and perhaps pushed, already: there is nothing for an assistant to do. And what is
        // held back is no business of one that commits and pushes what it finds.
        if !held.others_changed || !held.entries.is_empty() {
            return git_delivery::deliver(outcome, job, context).await;
        }
        assistant_commit::run(outcome, job, context).await?
    };
    match committed {
        CommitOutcome::Auth(text) => {
            let mut delivered = DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::Llm).because(&text);
            delivered.auth_challenge = Some(text);
            return Ok(delivered);
        }
        CommitOutcome::Cancelled => return Err(DeliveryError::Cancelled),
        CommitOutcome::Done => {
            if let Some(result) = verified_claim(outcome, context).await {
                clear_scratch(outcome, context).await;
                return Ok(DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::Llm).with(result));
            }
        }
        CommitOutcome::Failed(reason) => {
            tracing::info!(loop_id = %job.id, reason, "the assistant did not commit; git does");
        }
    }
    // A commit that ended because a person ended the loop is not made up for.
    ensure_not_cancelled(outcome).await?;
    clear_scratch(outcome, context).await;
    free_locks(outcome.finalizer.sandbox.clone(), &context.directory).await;
    git_delivery::deliver(outcome, job, context).await
}

/// What a delivery that a person ended has left at the code host.
async fn stopped(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> DeliveryOutcome {
    let found = match verified_claim(outcome, context).await {
        None => git_delivery::open_pull_request(outcome, context).await,
        claimed => claimed,
    };
    clear_scratch(outcome, context).await;
    match found {
        Some(result) => DeliveryOutcome::new(DeliveryStatus::Success, DeliveryPath::Llm).with(result),
        None => DeliveryOutcome::new(DeliveryStatus::Error, DeliveryPath::Llm).because("cancelled"),
    }
}

/// What the assistant says it delivered, when the clone agrees: HEAD is that commit, and `origin`
/// has it on that branch.
async fn verified_claim(outcome: &LoopOutcome<'_>, context: &DeliveryContext) -> Option<ExecutionResult> {
    let scratch = context.directory.join(EXECUTION_RESULT);
    let claim = tokio::task::spawn_blocking(move || result_file::claim(&scratch)).await.ok().flatten()?;
    let ReportedPullRequest { full_name, pr_number, branch, commit } = claim;
    let own = full_name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&context.full_name));
    if !own && !context.full_name.is_empty() {
        tracing::warn!("the assistant named a pull request of another repository");
        return None;
    }
    let name = if context.full_name.is_empty() { full_name? } else { context.full_name.clone() };
    let branch: BranchName = branch.parse().ok()?;
    let git = &outcome.finalizer.git;
    let head = git.head(&context.directory).await.ok()?;
    let remote = git.commit_of(&context.directory, &format!("refs/remotes/origin/{branch}")).await.ok()??;
    let agrees = head == remote && head.starts_with(&commit.to_lowercase());
    if !agrees {
        tracing::warn!("the assistant reported a push that did not happen");
        return None;
    }
    Some(result_file::success(&name, pr_number, branch.as_str(), context.base.as_str(), &head, Vec::new()))
}

/// Removes the assistant's scratch files, so that they are never committed; files of the repository
/// with these names stay.
pub(super) async fn clear_scratch(outcome: &LoopOutcome<'_>, context: &DeliveryContext) {
    for name in [EXECUTION_RESULT, PR_BODY] {
        if !outcome.finalizer.git.tracks(&context.directory, name).await.unwrap_or(true) {
            let scratch = context.directory.join(name);
            let _ = tokio::task::spawn_blocking(move || untrusted::remove(&scratch)).await;
        }
    }
}
