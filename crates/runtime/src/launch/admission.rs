//! Who may start: how many loops run at once, how much memory must be free, and what becomes of the
//! others.
//!
//! One loop may always run, whatever the limits say. A loop that finds no place is queued and
//! answered as queued; the keeper of the queue starts it when a place is free, and whatever keeps
//! it from starting then is told as an event, because nobody waits for an answer any more.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loopgate_api::event::{AbortReason, ErrorEvent, LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use loopgate_tools::machine;
use secrecy::SecretString;
use serde_json::json;

use crate::error::LoopError;
use crate::jobs::Job;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::Reservation;
use crate::jobs::store::{OutboxMessage, StoreError, StoredToken};
use crate::launch::LoopStart;
use crate::launch::queue::{Place, QueueEntry};
use crate::refusal::{CANCELLED, Refusal};
use crate::reporting::heartbeat;
use crate::request::{LoopHeaders, LoopRequest};
use crate::runtime::Runtime;

/// How often memory is looked at while loops wait for it.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// A place is told again after this long: the control plane gives up a loop of which it hears nothing.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(30 * 60);
const MEGABYTE: u64 = 1024 * 1024;

impl Runtime {
    /// Whether a loop that has its reservation must wait for a place.
    pub(crate) async fn must_wait(&self) -> bool {
        let settings = self.settings.get();
        let limited = settings.max_loops.is_some() || settings.min_free_memory_mb.is_some();
        let unknown = limited && !self.queue.ready.load(Ordering::Acquire);
        unknown || !self.queue.is_empty() || !self.has_place(1).await
    }

    /// Whether one more loop may run, beside these that are counted and do not run yet.
    async fn has_place(&self, counted: usize) -> bool {
        let settings = self.settings.get();
        let under_way = self.reservations.under_way().saturating_sub(counted);
        if under_way == 0 {
            return true;
        }
        let most = settings.max_loops.map_or(usize::MAX, |most| most as usize);
        let Some(floor) = settings.min_free_memory_mb else { return under_way < most };
        under_way < most && machine::available_memory().await >= floor.saturating_mul(MEGABYTE)
    }

    /// Puts a loop at the end of the queue.
    pub(crate) async fn enqueue(
        self: &Arc<Self>,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<LoopStart, LoopError> {
        let (id, number) = (request.loop_id, self.queue.number());
        if let Err(error) = self.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
        }
        self.store.begin(&queued_job(request, headers, number)).await?;
        let alive = self.queue.push(number, id, reservation);
        self.keep_alive(id, alive);
        let place = self.queue.place(id);
        tracing::info!(loop_id = %id, place, "the loop waits for a place");
        Ok(LoopStart { queue_place: place, ..LoopStart::accepted(id) })
    }

    /// Lets a loop wait, before every other, that was about to begin when an earlier process died.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn requeue(
        self: &Arc<Self>,
        id: LoopId,
        reservation: Reservation,
    ) -> Result<(), StoreError> {
        let number = self.queue.number_before();
        self.change(id, |now| {
            now.apply(JobEvent::Queued)?;
            let facts = &mut now.job.facts;
            (facts.queue_number, facts.process) = (Some(number), None);
            facts.live_activity =
                Some("Loopgate ended while this was being started; it begins again".to_owned());
            Ok(())
        })
        .await?;
        let alive = self.queue.push(number, id, reservation);
        self.keep_alive(id, alive);
        Ok(())
    }

    /// Renews the token of a loop while it waits.
    pub(crate) fn keep_alive(self: &Arc<Self>, id: LoopId, alive: tokio_util::sync::CancellationToken) {
        let runtime = self.clone();
        self.tasks.spawn(async move {
            tokio::select! {
                () = runtime.stop.cancelled() => {}
                () = alive.cancelled() => {}
                () = heartbeat::renew(&runtime, id) => {}
            }
        });
    }

    /// Starts loops that wait, in order, as places become free. Goes on until the runtime stops;
    /// the loops of an earlier process must have been taken up before.
    pub async fn run_queue(self: &Arc<Self>) {
        let mut given_back = self.reservations.subscribe();
        let mut settings = self.settings.subscribe();
        self.refuse_unapproved().await;
        for id in self.queue.ids() {
            if let Some(alive) = self.queue.alive(id) {
                self.keep_alive(id, alive);
            }
        }
        self.queue.ready.store(true, Ordering::Release);
        loop {
            while !self.queue.is_empty() && self.has_place(0).await {
                let Some(waiting) = self.queue.pop() else { break };
                self.start_waiting(waiting);
            }
            for place in self.queue.unannounced(ANNOUNCE_INTERVAL) {
                self.announce_place(&place).await;
            }
            let look = async {
                if self.queue.is_empty() {
                    std::future::pending::<()>().await;
                }
                tokio::time::sleep(LOOK_EVERY).await;
            };
            tokio::select! {
                () = self.stop.cancelled() => return,
                _ = given_back.changed() => {}
                _ = settings.changed() => {}
                () = self.queue.changed.notified() => {}
                () = look => {}
            }
        }
    }

    fn start_waiting(self: &Arc<Self>, waiting: QueueEntry) {
        let runtime = self.clone();
        self.tasks.spawn(async move {
            let id = waiting.id;
            let reservation = waiting.into_reservation();
            let reader = runtime.clone();
            let order =
                tokio::task::spawn_blocking(move || reader.launch_requests.read(id, &reader.credentials))
                    .await;
            let request = order.ok().flatten().and_then(|order| {
                LoopRequest::parse(order.body.as_bytes()).ok().map(|request| (request, order.headers))
            });
            let started = match request {
                Some((mut request, headers)) => {
                    // It may have been renewed while the loop waited.
                    if let Ok(token) = runtime.tokens.current(id).await {
                        request.token = token;
                    }
                    let prepared = Box::pin(runtime.prepare_and_spawn(&request, &headers, reservation)).await;
                    prepared.map(drop).map_err(|refusal| (refusal, Some(request.token)))
                }
                None => {
                    Err((LoopError::new(500, "The request of the loop cannot be read any more").into(), None))
                }
            };
            if let Err((refusal, token)) = started {
                runtime.refuse_waiting(id, token, &refusal).await;
            }
            runtime.delete_request(id).await;
        });
    }

    /// Ends a loop that was accepted and cannot be started, and tells it as the loop's last event.
    pub(crate) async fn refuse_waiting(&self, id: LoopId, token: Option<SecretString>, refusal: &Refusal) {
        if let Some(token) = token {
            let stored = self.store.put_token(id, &StoredToken::new(token)).await;
            let _ = stored.inspect_err(|error| tracing::warn!(%error, "a token was not stored"));
        }
        if refusal.is_cancelled() {
            tracing::info!(loop_id = %id, "a loop was cancelled while it was being prepared");
            let ended = self.end_cancelled(id).await;
            let _ =
                ended.inspect_err(|error| tracing::error!(%error, "a cancelled loop's end was not stored"));
            return;
        }
        let (code, message) = refusal
            .event
            .clone()
            .unwrap_or_else(|| (code::PRE_RUN_VALIDATION_FAILED, refusal.error.message.clone()));
        let message = redact::message(&message);
        tracing::info!(loop_id = %id, code, message, "an accepted loop could not be started");
        let error = ErrorEvent { code: code.to_owned(), message: message.clone(), ..ErrorEvent::default() };
        if let Err(error) = self.end_waiting(id, &error, JobEvent::Failed, Some(message)).await {
            tracing::error!(loop_id = %id, %error, "the end of a loop that was not started could not be stored");
        }
    }

    /// Cancels a loop that waits; `false` when none of that id does.
    pub(crate) async fn cancel_waiting(self: &Arc<Self>, id: LoopId) -> Result<bool, StoreError> {
        let Some(waiting) = self.queue.take(id) else { return Ok(false) };
        self.end_cancelled(id).await?;
        self.delete_request(id).await;
        drop(waiting);
        Ok(true)
    }

    async fn end_cancelled(&self, id: LoopId) -> Result<(), StoreError> {
        let error = ErrorEvent {
            code: code::CANCELLED.to_owned(),
            message: CANCELLED.to_owned(),
            abort_reason: Some(AbortReason::Cancelled),
            ..ErrorEvent::default()
        };
        self.end_waiting(id, &error, JobEvent::Cancelled, None).await
    }

    async fn end_waiting(
        &self,
        id: LoopId,
        error: &ErrorEvent,
        end: JobEvent,
        activity: Option<String>,
    ) -> Result<(), StoreError> {
        let error = ErrorEvent { diagnostics_version: Some("2".to_owned()), ..error.clone() };
        let mut event = LoopEvent::new("error", &error);
        event.members.insert("loopId".to_owned(), json!(id));
        self.change(id, |now| {
            if end == JobEvent::Cancelled {
                now.apply(JobEvent::CancelRequested)?;
            }
            now.apply(end)?;
            (now.job.facts.live_activity, now.job.facts.approval) = (activity, None);
            now.job.facts.final_status_persisted_at = Some(now_iso());
            now.send(OutboxMessage::last(&event));
            Ok(())
        })
        .await?;
        Ok(())
    }

    async fn announce_place(&self, Place { id, place, of }: &Place) {
        let text = format!("Waiting for a free place: {place} of {of} in the queue");
        let data = json!({"chunk": text, "queue": {"place": place, "waiting": of}});
        let event = LoopEvent::new("output", &json!({"data": data}));
        let stored = self
            .change(*id, |now| {
                if now.job.status() == JobStatus::Queued {
                    now.job.facts.live_activity = Some(text);
                    now.send(OutboxMessage::event(&event));
                }
                Ok(())
            })
            .await;
        if let Err(error) = stored {
            tracing::warn!(loop_id = %id, %error, "a loop's place in the queue was not stored");
        }
    }
}

/// The record of a loop that waits.
pub(crate) fn queued_job(request: &LoopRequest, headers: &LoopHeaders, number: i64) -> Job {
    let mut job = Job::waiting(request.loop_id, request.command);
    let facts = &mut job.facts;
    facts.queue_number = Some(number);
    facts.command_id.clone_from(&headers.command_id);
    facts.operation_id.clone_from(&headers.operation_id);
    facts.ticket_id.clone_from(&request.ticket_id);
    facts.artifact_slug.clone_from(&request.artifact_slug);
    facts.primary_repo_full_name = request.repo.as_ref().map(|repo| repo.full_name.to_string());
    facts.local_repo_path.clone_from(&request.local_repo_path);
    job
}
