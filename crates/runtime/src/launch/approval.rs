//! Loops that wait for their owner's approval.
//!
//! They are recorded and answered like those that wait for a place, so that the sender is not kept
//! waiting, and get their place in line when they are approved. Nobody can decide about a loop that an
//! earlier process held: it is refused, and can be run again.

use std::pin::pin;
use std::sync::Arc;

use loopgate_api::event::LoopEvent;
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

impl Launcher {
    /// Accepts a loop that may start only when `decision` says so; its error is why not, for a person.
    /// The decision is dropped when the loop is cancelled first.
    ///
    /// # Errors
    /// Status and exact text of the first check or step that fails; nobody has been asked then.
    pub async fn request_approval(
        self: &Arc<Self>,
        body: &[u8],
        headers: LoopHeaders,
        approval: LoopApproval,
        decision: impl Future<Output = Result<(), String>> + Send + 'static,
    ) -> Result<LoopStart, LoopRequestError> {
        let (request, reservation) = self.accept(body, &headers).await?;
        let (id, number) = (request.loop_id, self.queue.entries.number());
        let stored =
            LaunchRequest { body: String::from_utf8_lossy(body).into_owned(), headers: headers.clone() };
        self.queue.store_request(id, &stored).await?;
        if let Err(error) = self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
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
        decision: impl Future<Output = Result<(), String>>,
    ) {
        let mut decision = pin!(decision);
        let mut telling = tokio::time::interval(ANNOUNCE_INTERVAL);
        let decided = loop {
            tokio::select! {
                () = self.tasks.stop.cancelled() => return,
                () = alive.cancelled() => return,
                decided = &mut decision => break decided,
                _ = telling.tick() => self.announce_approval(id, approval).await,
            }
        };
        match decided {
            Ok(()) => match self.approve_waiting(id).await {
                Ok(()) => self.queue.entries.release(id),
                Err(error) => tracing::error!(loop_id = %id, %error, "an approval was not stored"),
            },
            Err(reason) => self.refuse_unapproved_loop(id, reason).await,
        }
    }

    async fn approve_waiting(&self, id: LoopId) -> Result<(), StoreError> {
        let approved = self.jobs.change(id, |now| {
            (now.job.launch.approval, now.job.progress.live_activity) = (None, None);
            Ok(())
        });
        approved.await.map(drop)
    }

    async fn refuse_unapproved_loop(self: &Arc<Self>, id: LoopId, reason: String) {
        let Some(waiting) = self.queue.entries.take(id) else { return };
        self.queue.refuse(id, None, &LoopRequestError::new(403, reason).into()).await;
        self.queue.delete_request(id).await;
        drop(waiting);
    }

    /// Refuses the loops that an earlier process held.
    pub(crate) async fn refuse_unapproved(self: &Arc<Self>) {
        for id in self.queue.entries.awaiting_approval() {
            let reason = "Loopgate was stopped while this loop waited for approval. Run it again.";
            self.refuse_unapproved_loop(id, reason.to_owned()).await;
        }
    }

    async fn announce_approval(&self, id: LoopId, approval: &LoopApproval) {
        let text = format!("Waiting for approval on the desktop: {}", approval.command);
        let data = json!({"chunk": text, "approval": approval});
        let event = LoopEvent::new("output", &json!({"data": data}));
        let stored = self.jobs.change(id, |now| {
            if now.job.status() == JobStatus::Queued && now.job.launch.approval.is_some() {
                now.job.progress.live_activity = Some(text);
                now.send(OutboxMessage::event(&event));
            }
            Ok(())
        });
        if let Err(error) = stored.await {
            tracing::warn!(loop_id = %id, %error, "that a loop waits for approval was not stored");
        }
    }
}
