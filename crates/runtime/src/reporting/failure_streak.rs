//! Tells people that nothing can be stored about a loop, most likely because the disk is full.
//!
//! It goes past the queue, which lies on the same disk, and only once an outage: whoever has the
//! outage tries on, and loses nothing.

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::LoopId;
use loopgate_api::redact;
use serde_json::json;
use uuid::Uuid;

use crate::jobs::store::StoreError;
use crate::reporting::control_plane::SHORT_EVENT_TIME;
use crate::reporting::tokens::Tokens;

/// Failures in a row before they are reported: the first may be a file that is locked for a moment.
const PATIENCE: u32 = 2;

/// Failures to store something of one loop, in a row.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    failures: u32,
}

impl Outage {
    /// Something could not be stored; it will be tried again.
    pub async fn record_failure(&mut self, tokens: &Tokens, id: LoopId, error: &StoreError) {
        self.failures = self.failures.saturating_add(1);
        if self.failures == PATIENCE {
            report(tokens, id, error).await;
        }
    }

    /// Something was stored.
    pub const fn over(&mut self) {
        self.failures = 0;
    }
}

async fn report(tokens: &Tokens, id: LoopId, error: &StoreError) {
    let cause = redact::cause(&error.to_string());
    let text = format!(
        "This desktop cannot store what the loop does: {cause}. Make room on its disk. Nothing is lost; it is tried again."
    );
    let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
    let body = serde_json::to_string(&event).unwrap_or_default();
    if let Err(error) = tokens.post_event(id, Uuid::new_v4(), &body, SHORT_EVENT_TIME).await {
        tracing::warn!(loop_id = %id, %error, "the control plane does not know that a loop cannot be stored");
    }
}
