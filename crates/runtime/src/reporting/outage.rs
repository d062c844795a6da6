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
use crate::runtime::Runtime;

/// Failures in a row before anybody is told: the first may be a file that is locked for a moment.
const PATIENCE: u32 = 2;

/// Failures to store something of one loop, in a row.
#[derive(Debug, Default)]
pub(crate) struct Outage {
    failures: u32,
}

impl Outage {
    /// Something could not be stored; it will be tried again.
    pub async fn record_failure(&mut self, runtime: &Runtime, id: LoopId, error: &StoreError) {
        self.failures = self.failures.saturating_add(1);
        if self.failures == PATIENCE {
            tell(runtime, id, error).await;
        }
    }

    /// Something was stored.
    pub const fn over(&mut self) {
        self.failures = 0;
    }
}

async fn tell(runtime: &Runtime, id: LoopId, error: &StoreError) {
    let cause = redact::cause(&error.to_string());
    let text = format!(
        "This desktop cannot store what the loop does: {cause}. Make room on its disk. Nothing is lost; it is tried again."
    );
    let event = LoopEvent::new("output", &json!({"data": {"chunk": text}}));
    let body = serde_json::to_string(&event).unwrap_or_default();
    let (cloud, nonce) = (&runtime.cloud, Uuid::new_v4());
    let posting = runtime.tokens.call(id, |token| {
        let body = body.clone();
        async move { cloud.post_event(id, &token, nonce, body, SHORT_EVENT_TIME).await }
    });
    if let Err(error) = posting.await {
        tracing::warn!(loop_id = %id, %error, "nobody could be told that a loop cannot be stored");
    }
}
