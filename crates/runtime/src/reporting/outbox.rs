//! Outbox: sends queued messages to the control plane, in order per loop, until they are acknowledged.
//!
//! One task per loop while messages are queued. A row keeps its nonce across attempts, so an event that
//! arrives twice counts once. Shutdown does not wait for an attempt in flight: the next process repeats it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use loopgate_api::ids::LoopId;
use tokio::sync::Notify;

use crate::jobs::store::{JobStore, MessageKind, OutboxRow, StoreError};
use crate::reporting::control_plane::{CallError, ControlPlaneClient, EVENT_TIME};
use crate::reporting::ended_loops::EndedLoops;
use crate::reporting::pull_requests::PullRequestReports;
use crate::reporting::tokens::Tokens;
use crate::tasks::Tasks;
use crate::timing::RuntimeTiming;

/// Attempts for a message that the control plane rejects as invalid.
const MAX_REJECTIONS: u32 = 3;

/// Senders of all loops; clones share them.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<OutboxInner>);

struct OutboxInner {
    store: JobStore,
    cloud: ControlPlaneClient,
    tokens: Tokens,
    timing: RuntimeTiming,
    /// Running senders; each is notified when a message is queued.
    senders: Mutex<HashMap<LoopId, Arc<Notify>>>,
    tasks: Tasks,
    ended: EndedLoops,
    pull_requests: PullRequestReports,
}

/// Status of a completed loop in the control plane.
const COMPLETED: &str = "COMPLETED";

/// Counts rejections of the head of a queue. Other failures do not count: messages stay queued while the
/// control plane is unreachable or does not accept this desktop's credentials.
#[derive(Debug, Default)]
struct RejectionCounter {
    row: i64,
    times: u32,
}

impl RejectionCounter {
    /// Counts a failure. Returns whether the row is rejected permanently.
    fn is_final(&mut self, row: &OutboxRow, error: &CallError) -> bool {
        if self.row != row.id {
            *self = Self { row: row.id, times: 0 };
        }
        self.times += u32::from(error.is_refusal());
        self.times >= MAX_REJECTIONS
    }
}

/// Outcome of one attempt to send.
enum DeliveryAttempt {
    Done,
    Wait(std::time::Duration),
    /// No retry can succeed before the next notification.
    Rest,
}

impl Outbox {
    pub fn new(
        store: JobStore,
        cloud: ControlPlaneClient,
        tokens: Tokens,
        timing: RuntimeTiming,
        tasks: Tasks,
        ended: EndedLoops,
        pull_requests: PullRequestReports,
    ) -> Self {
        Self(Arc::new(OutboxInner {
            store,
            cloud,
            tokens,
            timing,
            senders: Mutex::default(),
            tasks,
            ended,
            pull_requests,
        }))
    }

    /// Notifies the sender of a loop, or starts one, after a message was queued.
    pub fn wake(&self, id: LoopId) {
        // The message is stored; the next process sends it.
        if self.0.tasks.stop.is_cancelled() {
            return;
        }
        let mut senders = self.0.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = senders.get(&id) {
            // Stores a permit, so a sender that is about to wait does not miss the message.
            sender.notify_one();
            return;
        }
        let notify = Arc::new(Notify::new());
        senders.insert(id, notify.clone());
        drop(senders);
        let this = self.clone();
        self.0.tasks.spawn(async move { this.send_all(id, &notify).await });
    }

    async fn send_all(&self, id: LoopId, notify: &Arc<Notify>) {
        let mut rejections = RejectionCounter::default();
        loop {
            let wait = match self.send_first(id, &mut rejections).await {
                Ok(Some(DeliveryAttempt::Done)) => continue,
                Ok(Some(DeliveryAttempt::Wait(wait))) => Some(wait),
                Ok(Some(DeliveryAttempt::Rest)) => None,
                Ok(None) if self.retire(id, notify).await => return,
                Ok(None) => continue,
                Err(error) => {
                    tracing::error!(loop_id = %id, %error, "cannot send from the outbox");
                    Some(self.0.timing.retry_max)
                }
            };
            let rest = async {
                match wait {
                    Some(wait) => tokio::time::sleep(wait).await,
                    None => notify.notified().await,
                }
            };
            tokio::select! {
                () = self.0.tasks.stop.cancelled() => return,
                () = rest => {}
            }
        }
    }

    /// Ends the sender. Returns false when a message was queued at the same time.
    async fn retire(&self, id: LoopId, notify: &Arc<Notify>) -> bool {
        self.0.senders.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // A message that was queued before the removal has notified this sender; one queued later starts a
        // new sender. Only a pending notification means more work for this one.
        let unread = futures_util::FutureExt::now_or_never(notify.notified()).is_some();
        let queued = unread && matches!(self.0.store.next_message(id).await, Ok(Some(_)));
        if !queued {
            return true;
        }
        let mut senders = self.0.senders.lock().unwrap_or_else(PoisonError::into_inner);
        // A new sender was started between the two locks.
        if senders.contains_key(&id) {
            return true;
        }
        senders.insert(id, notify.clone());
        false
    }

    async fn send_first(
        &self,
        id: LoopId,
        rejections: &mut RejectionCounter,
    ) -> Result<Option<DeliveryAttempt>, StoreError> {
        let Some(row) = self.0.store.next_message(id).await? else { return Ok(None) };
        let answer = tokio::select! {
            () = self.0.tasks.stop.cancelled() => return Ok(Some(DeliveryAttempt::Rest)),
            answer = self.send(id, &row) => match answer {
                Err(error) if self.already_arrived(id, &row, &error).await => Ok(false),
                answer => answer,
            },
        };
        let error = match answer {
            Ok(ended) => {
                self.0.store.mark_delivered(id, &row).await?;
                if ended {
                    self.0.ended.report(id);
                }
                if row.outgoing.kind == MessageKind::Final {
                    self.0.tokens.remove(id).await;
                    // The control plane now knows the pull requests of the loop.
                    self.0.pull_requests.check();
                }
                return Ok(Some(DeliveryAttempt::Done));
            }
            Err(error) => error,
        };
        if error == CallError::MissingToken {
            tracing::warn!(loop_id = %id, "cannot report: the loop's token is missing");
            return Ok(Some(DeliveryAttempt::Rest));
        }
        let tries = self.0.store.count_attempt(&row).await?;
        self.record_failure(id, &row, &error).await?;
        if rejections.is_final(&row, &error) {
            tracing::warn!(loop_id = %id, %error, "the control plane rejected a report of the loop permanently; it stays on disk and is not sent again");
            self.0.store.mark_rejected(id, &row, &error.to_string()).await?;
            if row.outgoing.kind == MessageKind::Final {
                self.0.tokens.remove(id).await;
            }
            return Ok(Some(DeliveryAttempt::Done));
        }
        // Artifacts and the final event are only queued once the loop has ended.
        let ended = row.outgoing.kind != MessageKind::Event;
        Ok(Some(DeliveryAttempt::Wait(self.0.timing.retry_wait(tries, ended))))
    }

    /// Returns whether the control plane has ended the loop.
    async fn send(&self, id: LoopId, row: &OutboxRow) -> Result<bool, CallError> {
        let cloud = &self.0.cloud;
        let outgoing = &row.outgoing;
        self.0
            .tokens
            .call(id, |token| async move {
                match outgoing.kind {
                    MessageKind::Artifacts => {
                        cloud.upload_artifacts(id, &token, outgoing.body.clone()).await.map(|()| false)
                    }
                    MessageKind::Event | MessageKind::Final => {
                        cloud.post_event(id, &token, outgoing.nonce, outgoing.body.clone(), EVENT_TIME).await
                    }
                }
            })
            .await
    }

    /// Returns whether a final event is rejected only because the control plane already has it, for example
    /// when an earlier process terminated before it recorded the delivery. The control plane stops accepting
    /// the token of a completed loop.
    async fn already_arrived(&self, id: LoopId, row: &OutboxRow, error: &CallError) -> bool {
        if row.outgoing.kind != MessageKind::Final || !matches!(error.status(), Some(401 | 410)) {
            return false;
        }
        let Ok(token) = self.0.tokens.current(id).await else { return false };
        self.0.cloud.status(id, &token).await.is_ok_and(|status| status == COMPLETED)
    }

    async fn record_failure(&self, id: LoopId, row: &OutboxRow, error: &CallError) -> Result<(), StoreError> {
        tracing::info!(loop_id = %id, %error, "message not accepted; it will be sent again");
        if row.outgoing.kind != MessageKind::Event {
            let text = error.to_string();
            self.0.store.update(id, |job| job.report.last_recovery_error = Some(text)).await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::jobs::store::OutboxMessage;

    fn http(status: u16) -> CallError {
        CallError::Http { status, code: None, text: String::new() }
    }

    #[test]
    fn unreachable_control_plane_drops_no_message() {
        for kind in [MessageKind::Event, MessageKind::Artifacts, MessageKind::Final] {
            let row = OutboxRow { id: 7, outgoing: OutboxMessage::new(kind, &json!({})), attempts: 0 };
            let mut rejections = RejectionCounter::default();
            let away = [http(500), http(503), http(401), http(403), http(409), CallError::Timeout];
            for error in away.iter().cycle().take(1000) {
                assert!(!rejections.is_final(&row, error), "{kind:?} {error}");
            }
            let attempts = (1..).find(|_| rejections.is_final(&row, &http(400)));
            assert_eq!(attempts, Some(MAX_REJECTIONS), "{kind:?}");
        }
    }
}
