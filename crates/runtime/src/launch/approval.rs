//! Loops that wait for the owner's approval.
//!
//! They are recorded and answered like queued loops, so that the sender does not wait for the decision, and
//! enter the queue when they are approved. A decision cannot be received after a restart, so loops that were
//! waiting then are refused and can be started again.

use std::pin::pin;
use std::sync::Arc;

use loopgate_api::event::LoopEvent;
use loopgate_api::event_body::{ApprovalDecision, ApprovalOutcome};
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::error::LoopRequestError;
use crate::jobs::LoopApproval;
use crate::jobs::store::{LaunchRequest, OutboxMessage, StoreError, StoredToken};
use crate::launch::launch_queue::{ANNOUNCE_INTERVAL, queued_job};
use crate::launch::{Launcher, LoopStart};
use crate::request::LoopHeaders;

/// Why a loop is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unapproved {
    pub outcome: ApprovalOutcome,
    /// Message for the user.
    pub reason: String,
}

impl Launcher {
    /// Accepts a loop that is started only if `decision` resolves to `Ok`. Drops `decision` when the loop is
    /// cancelled first.
    ///
    /// # Errors
    /// Fails with the status and exact text of the first failed check or step. The owner has not been asked
    /// then.
    pub async fn request_approval(
        self: &Arc<Self>,
        body: &[u8],
        headers: LoopHeaders,
        approval: LoopApproval,
        decision: impl Future<Output = Result<(), Unapproved>> + Send + 'static,
    ) -> Result<LoopStart, LoopRequestError> {
        let (request, reservation) = self.accept(body, &headers).await?;
        let (id, number) = (request.loop_id, self.queue.entries.number());
        let stored =
            LaunchRequest { body: String::from_utf8_lossy(body).into_owned(), headers: headers.clone() };
        self.queue.store_request(id, &stored).await?;
        // Best-effort: the token is also part of the stored request.
        if let Err(error) = self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "failed to store the runner token");
        }
        let mut job = queued_job(&request, &headers, number);
        job.launch.approval = Some(approval.clone());
        self.jobs.store.create(&job).await?;
        let alive = self.queue.entries.hold(number, id, reservation);
        self.queue.keep_alive(id, alive.clone());
        let launcher = self.clone();
        self.tasks.spawn(async move { launcher.follow_decision(id, &approval, alive, decision).await });
        Ok(LoopStart::accepted(id))
    }

    async fn follow_decision(
        self: &Arc<Self>,
        id: LoopId,
        approval: &LoopApproval,
        alive: CancellationToken,
        decision: impl Future<Output = Result<(), Unapproved>>,
    ) {
        let mut decision = pin!(decision);
        let mut announce = tokio::time::interval(ANNOUNCE_INTERVAL);
        let decided = loop {
            tokio::select! {
                () = self.tasks.stop.cancelled() => return,
                () = alive.cancelled() => return,
                decided = &mut decision => break decided,
                // The first tick completes immediately. Later ticks repeat the event, so that the control
                // plane does not time out a loop without events.
                _ = announce.tick() => self.announce_approval(id, approval).await,
            }
        };
        let (outcome, text) = match &decided {
            Ok(()) => (ApprovalOutcome::Approved, "Approved on the machine."),
            Err(unapproved) => (unapproved.outcome, unapproved.reason.as_str()),
        };
        let stored = self.store_decision(id, approval, outcome, text).await;
        if let Err(error) = &stored {
            tracing::error!(loop_id = %id, %error, "failed to store the decision about the loop");
        }
        match decided {
            // Without the stored approval, a restart would refuse the loop.
            Ok(()) if stored.is_ok() => self.queue.entries.release(id),
            Ok(()) => {}
            Err(unapproved) => self.refuse_unapproved_loop(id, unapproved.reason).await,
        }
    }

    /// Stores and reports a decision.
    async fn store_decision(
        &self,
        id: LoopId,
        approval: &LoopApproval,
        outcome: ApprovalOutcome,
        text: &str,
    ) -> Result<(), StoreError> {
        let decision = ApprovalDecision { id: approval.id.to_string(), outcome };
        let event = LoopEvent::new("output", &json!({"data": {"chunk": text, "approvalDecision": decision}}));
        let change = self.jobs.change(id, |now| {
            if outcome == ApprovalOutcome::Approved {
                (now.job.launch.approval, now.job.progress.live_activity) = (None, None);
            }
            now.send(OutboxMessage::event(&event));
            Ok(())
        });
        change.await.map(drop)
    }

    async fn refuse_unapproved_loop(self: &Arc<Self>, id: LoopId, reason: String) {
        // `None` when the loop was cancelled at the same time. The task that removed the entry finishes the
        // loop.
        let Some(entry) = self.queue.entries.take(id) else { return };
        self.queue.refuse(id, None, &LoopRequestError::new(403, reason).into()).await;
        self.queue.delete_request(id).await;
        drop(entry);
    }

    /// Refuses the loops that waited for approval when the previous runtime process stopped.
    pub(crate) async fn refuse_unapproved(self: &Arc<Self>) {
        for id in self.queue.entries.awaiting_approval() {
            let reason = "Loopgate was stopped while this loop waited for approval. Run it again.";
            self.refuse_unapproved_loop(id, reason.to_owned()).await;
        }
    }

    async fn announce_approval(&self, id: LoopId, approval: &LoopApproval) {
        let text = format!("Waiting for approval on the machine: {}", approval.command);
        let data = json!({"chunk": text, "approval": approval});
        let event = LoopEvent::new("output", &json!({"data": data}));
        let change = self.jobs.change(id, |now| {
            if now.job.status() == JobStatus::Queued && now.job.launch.approval.is_some() {
                now.job.progress.live_activity = Some(text);
                now.send(OutboxMessage::event(&event));
            }
            Ok(())
        });
        if let Err(error) = change.await {
            tracing::warn!(loop_id = %id, %error, "failed to announce that the loop waits for approval");
        }
    }
}
