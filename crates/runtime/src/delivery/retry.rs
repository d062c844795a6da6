//! Retries a delivery step with backoff until it succeeds, fails permanently, or the loop is cancelled.
//!
//! The progress of a delivery is recorded in the repositories: each step first checks whether it has been
//! done, so another runtime process can repeat the delivery from the beginning.

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::BranchName;
use loopgate_api::redact;
use loopgate_home::disk;
use loopgate_tools::code_host::CodeHostError;
use loopgate_tools::git::GitError;

use super::outcome::LoopOutcome;
use crate::jobs::store::{OutboxMessage, StoreError};

/// Attempts in a row that may end because a remote shows no activity. What keeps a connection open and swallows its data
/// can be permanent: a proxy, a firewall, or a hook of the remote that hangs.
const MAX_STALLS: u32 = 5;

/// Error of a delivery step.
#[derive(Debug, thiserror::Error)]
pub(super) enum DeliveryError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    CodeHost(#[from] CodeHostError),
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// The user cancelled or stopped the loop.
    #[error("cancelled")]
    Cancelled,
    /// The user cancelled or stopped the loop after this branch had reached the remote.
    #[error("cancelled after the push of {0}")]
    CancelledAfterPush(BranchName),
}

impl DeliveryError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Git(error) => error.is_transient(),
            Self::CodeHost(error) => error.is_transient(),
            Self::Io(error) => disk::is_full(error),
            // Waiting does not resolve local failures.
            Self::Store(_) | Self::Cancelled | Self::CancelledAfterPush(_) => false,
        }
    }

    const fn is_stall(&self) -> bool {
        matches!(self, Self::Git(GitError::TimedOut { .. }))
    }
}

/// Runs `attempt` until it returns something other than a transient error, or the last of [`MAX_STALLS`]. `step` names it
/// in messages.
pub(super) async fn repeat<T, F>(
    outcome: &LoopOutcome<'_>,
    step: &str,
    attempt: impl Fn() -> F + Send,
) -> Result<T, DeliveryError>
where
    F: Future<Output = Result<T, DeliveryError>> + Send,
{
    let finalizer = outcome.finalizer;
    let mut stop_requests = finalizer.jobs.stop_requests.subscribe();
    let (mut tries, mut stalls) = (0, 0);
    loop {
        // Mark before the check: a request that arrives after it wakes the wait below.
        stop_requests.mark_unchanged();
        ensure_not_cancelled(outcome).await?;
        let result = attempt().await;
        stalls = if result.as_ref().is_err_and(DeliveryError::is_stall) { stalls + 1 } else { 0 };
        let error = match result {
            Err(error) if error.is_transient() && stalls < MAX_STALLS => error,
            result if tries == 0 => return result,
            // The step was announced as waiting. Clear the announcement.
            result => {
                outcome
                    .finalizer
                    .jobs
                    .store
                    .update(outcome.id, |job| job.progress.live_activity = None)
                    .await?;
                return result;
            }
        };
        tries += 1;
        tracing::warn!(loop_id = %outcome.id, step, tries, %error, "delivery step failed; retrying");
        // Announce only the first failure. Retries may continue for hours and would flood the loop's output.
        if tries == 1 {
            announce(outcome, step, &error).await?;
        }
        let wait = tokio::time::sleep(finalizer.timing.retry_wait(tries, false));
        tokio::select! {
            () = wait => {}
            _ = stop_requests.changed() => {}
        }
    }
}

/// Runs `step` until the user cancels or stops the loop. Then the step is dropped, which ends its program.
pub(super) async fn unless_cancelled<T>(
    outcome: &LoopOutcome<'_>,
    step: impl Future<Output = Result<T, DeliveryError>> + Send,
) -> Result<T, DeliveryError> {
    let mut stop_requests = outcome.finalizer.jobs.stop_requests.subscribe();
    let cancelled = async {
        loop {
            if let Err(error) = ensure_not_cancelled(outcome).await {
                return error;
            }
            // The sender lives as long as the jobs.
            let _ = stop_requests.changed().await;
        }
    };
    tokio::select! {
        result = step => result,
        error = cancelled => Err(error),
    }
}

/// Fails with [`DeliveryError::Cancelled`] when the user has cancelled or stopped the loop.
pub(super) async fn ensure_not_cancelled(outcome: &LoopOutcome<'_>) -> Result<(), DeliveryError> {
    match outcome.finalizer.jobs.store.job(outcome.id).await? {
        Some(job) if !job.is_cancelled() => Ok(()),
        _ => Err(DeliveryError::Cancelled),
    }
}

/// Reports the failed step in the loop's output and as its live activity.
async fn announce(outcome: &LoopOutcome<'_>, step: &str, error: &DeliveryError) -> Result<(), StoreError> {
    let reason = redact::cause(&error.to_string());
    let next = if error.is_stall() {
        format!("Loopgate tries it up to {MAX_STALLS} times; cancel the loop to stop.")
    } else {
        "Loopgate retries until it succeeds; cancel the loop to stop.".to_owned()
    };
    outcome
        .finalizer
        .jobs
        .change(outcome.id, |now| {
            // A full disk is the likely cause of whatever fails.
            let shortage = disk::shortage(&now.job.work_dir()).map(|text| format!(" {text}."));
            let text = format!(
                "Delivery is waiting: {step} failed ({reason}).{} {next}",
                shortage.unwrap_or_default()
            );
            let event = LoopEvent::note(&text);
            now.job.progress.live_activity = Some(text);
            now.send(OutboxMessage::event(&event));
            Ok(())
        })
        .await?;
    Ok(())
}
