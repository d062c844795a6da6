//! Sends what is queued for the control plane: in order a loop, until it is acknowledged.
//!
//! One task a loop while there is something to send. A row keeps its nonce over all tries, so an
//! event that arrived twice counts once. Shutdown never waits for a try: what was not acknowledged
//! is sent again by the next process.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use loopgate_api::ids::LoopId;
use tokio::sync::Notify;

use crate::jobs::store::{JobStore, MessageKind, OutboxRow, StoreError};
use crate::reporting::control_plane::{CallError, ControlPlaneClient, EVENT_TIME};
use crate::reporting::tokens::Tokens;
use crate::tasks::Tasks;
use crate::timing::RuntimeTiming;

/// Tries of something that the control plane refuses for what it is.
const TRIES_WHEN_REFUSED: u32 = 3;

/// The senders of all loops.
#[derive(Clone)]
pub(crate) struct Outbox(Arc<OutboxInner>);

struct OutboxInner {
    store: JobStore,
    cloud: ControlPlaneClient,
    tokens: Tokens,
    timing: RuntimeTiming,
    /// Senders that run; each is woken when something was queued.
    senders: Mutex<HashMap<LoopId, Arc<Notify>>>,
    tasks: Tasks,
}

/// What the control plane calls a loop whose end it knows.
const COMPLETED: &str = "COMPLETED";

/// Rejections of the head of a queue. Only these count: what waits while the control plane is away, or
/// does not know this desktop, must still be there when that is over.
#[derive(Debug, Default)]
struct RejectionCounter {
    row: i64,
    times: u32,
}

impl RejectionCounter {
    /// Counts a failure; answers whether the control plane will never take the row.
    fn are_final(&mut self, row: &OutboxRow, error: &CallError) -> bool {
        if self.row != row.id {
            *self = Self { row: row.id, times: 0 };
        }
        self.times += u32::from(error.is_refusal());
        self.times >= TRIES_WHEN_REFUSED
    }
}

/// What a try came to.
enum DeliveryAttempt {
    Done,
    Wait(std::time::Duration),
    /// Nothing can be sent before something else changes.
    Rest,
}

impl Outbox {
    pub fn new(
        store: JobStore,
        cloud: ControlPlaneClient,
        tokens: Tokens,
        timing: RuntimeTiming,
        tasks: Tasks,
    ) -> Self {
        Self(Arc::new(OutboxInner { store, cloud, tokens, timing, senders: Mutex::default(), tasks }))
    }

    /// Something may be queued for this loop.
    pub fn wake(&self, id: LoopId) {
        if self.0.tasks.stop.is_cancelled() {
            return;
        }
        let mut senders = self.0.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = senders.get(&id) {
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
        let mut refusals = RejectionCounter::default();
        loop {
            let wait = match self.send_first(id, &mut refusals).await {
                Ok(Some(DeliveryAttempt::Done)) => continue,
                Ok(Some(DeliveryAttempt::Wait(wait))) => Some(wait),
                Ok(Some(DeliveryAttempt::Rest)) => None,
                Ok(None) if self.retire(id, notify).await => return,
                Ok(None) => continue,
                Err(error) => {
                    tracing::error!(loop_id = %id, %error, "the outbox could not be read");
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

    /// Ends the sender unless something was queued in the meantime.
    async fn retire(&self, id: LoopId, notify: &Arc<Notify>) -> bool {
        self.0.senders.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        // Whoever queued before the removal has notified this sender; whoever queues later makes
        // a new one. Only a notification that is still unread means work for this one.
        let unread = futures_util::FutureExt::now_or_never(notify.notified()).is_some();
        let queued = unread && matches!(self.0.store.next_message(id).await, Ok(Some(_)));
        if !queued {
            return true;
        }
        let mut senders = self.0.senders.lock().unwrap_or_else(PoisonError::into_inner);
        if senders.contains_key(&id) {
            return true;
        }
        senders.insert(id, notify.clone());
        false
    }

    async fn send_first(
        &self,
        id: LoopId,
        refusals: &mut RejectionCounter,
    ) -> Result<Option<DeliveryAttempt>, StoreError> {
        let Some(row) = self.0.store.next_message(id).await? else { return Ok(None) };
        let answer = tokio::select! {
            () = self.0.tasks.stop.cancelled() => return Ok(Some(DeliveryAttempt::Rest)),
            answer = self.send(id, &row) => match answer {
                Err(error) if self.had_arrived(id, &row, &error).await => Ok(()),
                answer => answer,
            },
        };
        let error = match answer {
            Ok(()) => {
                self.0.store.mark_delivered(id, &row).await?;
                if row.outgoing.kind == MessageKind::Final {
                    self.0.tokens.forget(id).await;
                }
                return Ok(Some(DeliveryAttempt::Done));
            }
            Err(error) => error,
        };
        if error == CallError::MissingToken {
            tracing::warn!(loop_id = %id, "nothing can be reported: the loop's token is missing");
            return Ok(Some(DeliveryAttempt::Rest));
        }
        let tries = self.0.store.count_attempt(&row).await?;
        self.note_failure(id, &row, &error).await?;
        if refusals.are_final(&row, &error) {
            tracing::warn!(loop_id = %id, %error, "the control plane refuses a report of the loop; it is kept on disk and not sent again");
            self.0.store.mark_rejected(id, &row, &error.to_string()).await?;
            if row.outgoing.kind == MessageKind::Final {
                self.0.tokens.forget(id).await;
            }
            return Ok(Some(DeliveryAttempt::Done));
        }
        let ended = row.outgoing.kind != MessageKind::Event;
        Ok(Some(DeliveryAttempt::Wait(self.0.timing.retry_wait(tries, ended))))
    }

    async fn send(&self, id: LoopId, row: &OutboxRow) -> Result<(), CallError> {
        let cloud = &self.0.cloud;
        let outgoing = &row.outgoing;
        self.0
            .tokens
            .call(id, |token| async move {
                match outgoing.kind {
                    MessageKind::Artifacts => cloud.upload_artifacts(id, &token, outgoing.body.clone()).await,
                    MessageKind::Event | MessageKind::Final => {
                        cloud.post_event(id, &token, outgoing.nonce, outgoing.body.clone(), EVENT_TIME).await
                    }
                }
            })
            .await
    }

    /// Whether a last event is refused because it had arrived before, and this process died before it
    /// could note that: with the end of a loop that is completed its token is not taken any more.
    async fn had_arrived(&self, id: LoopId, row: &OutboxRow, error: &CallError) -> bool {
        if row.outgoing.kind != MessageKind::Final || !matches!(error.status(), Some(401 | 410)) {
            return false;
        }
        let Ok(token) = self.0.tokens.current(id).await else { return false };
        self.0.cloud.status(id, &token).await.is_ok_and(|status| status == COMPLETED)
    }

    async fn note_failure(&self, id: LoopId, row: &OutboxRow, error: &CallError) -> Result<(), StoreError> {
        tracing::info!(loop_id = %id, %error, "an event was not accepted and will be sent again");
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
    fn hours_without_a_control_plane_drop_nothing() {
        for kind in [MessageKind::Event, MessageKind::Artifacts, MessageKind::Final] {
            let row = OutboxRow { id: 7, outgoing: OutboxMessage::new(kind, &json!({})), attempts: 0 };
            let mut refusals = RejectionCounter::default();
            let away = [http(500), http(503), http(401), http(403), http(409), CallError::Timeout];
            for error in away.iter().cycle().take(1000) {
                assert!(!refusals.are_final(&row, error), "{kind:?} {error}");
            }
            let refused = (1..).find(|_| refusals.are_final(&row, &http(400)));
            assert_eq!(refused, Some(TRIES_WHEN_REFUSED), "{kind:?}");
        }
    }
}
