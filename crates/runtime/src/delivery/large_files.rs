//! Uploads the content of files in Git LFS, which git itself does not push.

use loopgate_api::event::{LoopEvent, warning};
use loopgate_api::ids::BranchName;
use loopgate_api::redact;

use super::outcome::LoopOutcome;
use super::result::DeliveryContext;
use super::retry::{DeliveryError, repeat, unless_cancelled};
use crate::jobs::store::OutboxMessage;

/// Uploads the content for a branch. Content that cannot be uploaded on this machine is a warning of the loop.
///
/// # Errors
/// Fails with [`DeliveryError`] when the upload fails.
pub(super) async fn upload(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    branch: &BranchName,
) -> Result<(), DeliveryError> {
    let (git, directory) = (&outcome.finalizer.git, context.directory.as_path());
    let known = [context.base_revision.clone()];
    let attempt = async || {
        let upload = async { Ok(git.upload_large_files(directory, branch, &known).await?) };
        unless_cancelled(outcome, upload).await
    };
    match repeat(outcome, "uploading files to Git LFS", attempt).await? {
        Some(gap) => warn(outcome, &gap.to_string()).await,
        None => Ok(()),
    }
}

/// As [`upload`], for a branch that was pushed already: a failed upload is a warning as well.
///
/// # Errors
/// Fails with [`DeliveryError`] when the warning cannot be stored, and when the loop is cancelled.
pub(super) async fn upload_pushed(
    outcome: &LoopOutcome<'_>,
    context: &DeliveryContext,
    branch: &str,
) -> Result<(), DeliveryError> {
    let Ok(branch) = branch.parse() else { return Ok(()) };
    match upload(outcome, context, &branch).await {
        Err(DeliveryError::Git(error)) => {
            let reason = format!(
                "the upload to Git LFS failed ({}). Run in the worktree: git lfs push {} {branch}",
                redact::cause(&error.to_string()),
                context.remotes.push
            );
            warn(outcome, &reason).await
        }
        result => result,
    }
}

async fn warn(outcome: &LoopOutcome<'_>, reason: &str) -> Result<(), DeliveryError> {
    tracing::warn!(loop_id = %outcome.id, reason, "delivered branch is incomplete without Git LFS");
    let text = format!("The delivered branch is incomplete without Git LFS: {reason}.");
    let event = LoopEvent::note(&text);
    outcome
        .finalizer
        .jobs
        .change(outcome.id, |now| {
            now.job.warn(warning::LFS_NOT_UPLOADED);
            now.send(OutboxMessage::event(&event));
            Ok(())
        })
        .await?;
    Ok(())
}
