//! A person's approval of the changes, before which a loop opens no pull request: it pushes its work, and another loop,
//! which runs no assistant, opens the pull request of the approved commits.

use loopgate_home::untrusted::{self, write_private};

use super::held_back::HeldBack;
use super::outcome::LoopOutcome;
use super::push::PushedBranch;
use super::result::DeliveryContext;
use super::retry::DeliveryError;
use crate::jobs::Job;

// Answer of the assistant with the texts of the pull request, until the approval.
const TEXT: &str = "delivery-text.md";

/// Returns whether a person has to approve the changes. An open pull request shows them already.
pub(super) async fn is_required(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    pushed: &PushedBranch,
) -> bool {
    if !job.launch.hold_pull_request || job.launch.approved_commits.is_some() {
        return false;
    }
    let host = &outcome.finalizer.code_host;
    pushed.is_new || !matches!(host.pr_view(&context.directory, &pushed.branch).await, Ok(Some(_)))
}

/// Returns why an approved delivery must not proceed: the worktree no longer has the approved state.
pub(super) async fn refusal(
    outcome: &LoopOutcome<'_>,
    job: &Job,
    context: &DeliveryContext,
    held: &HeldBack,
) -> Result<Option<String>, DeliveryError> {
    let Some(approved) = &job.launch.approved_commits else { return Ok(None) };
    let head = outcome.finalizer.git.head(&context.directory).await?;
    // The page names a clone without a remote by its directory.
    let is_approved = match approved.get(&context.full_name) {
        Some(commit) => *commit == head,
        None => context.full_name.is_empty(),
    };
    if is_approved && !held.others_changed {
        return Ok(None);
    }
    let changed = if is_approved { "It has uncommitted changes" } else { "Its branch is at another commit" };
    Ok(Some(format!("{changed} since the approval. Review the changes and approve them again.")))
}

/// Keeps the texts that the assistant wrote for the pull request. Best-effort: without them, texts are generated.
pub(super) async fn keep_text(outcome: &LoopOutcome<'_>, context: &DeliveryContext) {
    let Some(answer) = outcome.summary.delivery.clone() else { return };
    let path = context.work_dir.join(TEXT);
    let kept = tokio::task::spawn_blocking(move || write_private(&path, answer.as_bytes()));
    if let Ok(Err(error)) = kept.await {
        tracing::warn!(loop_id = %outcome.id, %error, "failed to keep the text of the pull request");
    }
}

/// Returns the texts that the loop whose work was approved has kept.
pub(super) async fn kept_text(job: &Job, context: &DeliveryContext) -> Option<String> {
    job.launch.approved_commits.as_ref()?;
    let path = context.work_dir.join(TEXT);
    tokio::task::spawn_blocking(move || untrusted::read_text(&path).ok()).await.ok().flatten()
}
