//! Reports that nothing can be stored for a loop, most likely because the disk is full.
//!
//! The event bypasses the outbox, which is on the same disk, and is sent once per failure streak; the caller
//! keeps retrying.

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use uuid::Uuid;

use crate::jobs::store::StoreError;
use crate::reporting::control_plane::SHORT_EVENT_TIME;
use crate::reporting::tokens::Tokens;

/// Consecutive failures before a report: a single one may be a file that was locked for a moment.
const REPORTED_AFTER: u32 = 2;

/// Consecutive failed writes about one loop.
#[derive(Debug, Default)]
pub(crate) struct FailureStreak {
    failures: u32,
}

impl FailureStreak {
    /// Counts a failed write; the second in a row is reported.
    pub async fn record_failure(&mut self, tokens: &Tokens, id: LoopId, error: &StoreError) {
        self.failures = self.failures.saturating_add(1);
        if self.failures == REPORTED_AFTER {
            report(tokens, id, error).await;
        }
    }

    /// Ends the streak after a successful write.
    pub const fn reset(&mut self) {
        self.failures = 0;
    }
}

async fn report(tokens: &Tokens, id: LoopId, error: &StoreError) {
    let cause = redact::cause(&error.to_string());
    let shortage = tokens.disk_shortage().map(|text| format!(" {text}.")).unwrap_or_default();
    let text = format!(
        "This machine cannot store the progress of the loop: {cause}.{shortage} Free disk space; the write is retried and nothing is lost."
    );
    let event = LoopEvent::note(&text);
    let body = serde_json::to_string(&event).unwrap_or_default();
    if let Err(error) = tokens.post_event(id, Uuid::new_v4(), &body, SHORT_EVENT_TIME).await {
        tracing::warn!(loop_id = %id, %error, "cannot report the storage failure to the control plane");
    }
}
