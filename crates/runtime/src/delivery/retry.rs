//! Repeats a step of a delivery until it succeeds, is refused for good, or the loop is to end.
//!
//! How far a delivery has come is recorded in the repositories themselves: a step that was done is found done by
//! whoever begins again, also another process of Loopgate.

use loopgate_api::event::LoopEvent;
use loopgate_api::redact;
use loopgate_tools::code_host::CodeHostError;
use loopgate_tools::git::GitError;
use serde_json::json;

use super::outcome::LoopOutcome;
use crate::jobs::store::{OutboxMessage, StoreError};

/// Why a step of a delivery did not happen.
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
    /// A person asked for the loop's end.
    #[error("cancelled")]
    Cancelled,
}

impl DeliveryError {
    fn is_transient(&self) -> bool {
        match self {
            Self::Git(error) => error.is_transient(),
            Self::CodeHost(error) => error.is_transient(),
            Self::Store(_) | Self::Io(_) | Self::Cancelled => false,
        }
    }
}

/// Works on a step until it is done. `step` names it for a person.
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
    let mut tries = 0;
    loop {
        stop_requests.mark_unchanged();
        ensure_not_cancelled(outcome).await?;
        let error = match attempt().await {
            Err(error) if error.is_transient() => error,
            result if tries == 0 => return result,
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
        tracing::warn!(loop_id = %outcome.id, step, tries, %error, "a step of a delivery failed and is repeated");
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

/// Refuses to go on with a loop that a person asked to end.
pub(super) async fn ensure_not_cancelled(outcome: &LoopOutcome<'_>) -> Result<(), DeliveryError> {
    match outcome.finalizer.jobs.store.job(outcome.id).await? {
        Some(job) if !job.is_cancelled() => Ok(()),
        _ => Err(DeliveryError::Cancelled),
    }
}

/// Says on the loop's page, and where its state is shown, what it waits for.
async fn announce(outcome: &LoopOutcome<'_>, step: &str, error: &DeliveryError) -> Result<(), StoreError> {
    let reason = redact::cause(&error.to_string());
    let text = format!(
        "The delivery waits: {step} failed ({reason}). It is repeated until it succeeds; stop the loop to end that."
    );
    let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
    outcome
        .finalizer
        .jobs
        .change(outcome.id, |now| {
            now.job.progress.live_activity = Some(text);
            now.send(OutboxMessage::event(&event));
            Ok(())
        })
        .await?;
    Ok(())
}
