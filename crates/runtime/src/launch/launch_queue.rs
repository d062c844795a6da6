//! Who may start: how many loops run at once, how much memory must be free, and what becomes of the
//! others.
//!
//! One loop may always run, whatever the limits say. A loop that finds no place is queued and
//! answered as queued; the dispatcher starts it when a place is free, and whatever keeps
//! it from starting then is reported by an event, because nobody waits for an answer any more.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loopgate_api::event::{AbortReason, ErrorEvent, LoopEvent, code};
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use loopgate_api::redact;
use loopgate_api::time::now_iso;
use loopgate_home::SettingsStore;
use loopgate_tools::machine;
use secrecy::SecretString;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::error::LoopRequestError;
use crate::jobs::lifecycle::JobEvent;
use crate::jobs::reservations::{Reservation, Reservations};
use crate::jobs::store::{LaunchRequest, OutboxMessage, StoreError, StoredToken};
use crate::jobs::{Job, Jobs};
use crate::launch::queue::{QueueEntries, QueuePosition};
use crate::refusal::{CANCELLED, Refusal};
use crate::reporting::heartbeat::HeartbeatSender;
use crate::request::{LoopHeaders, LoopRequest};
use crate::tasks::Tasks;

/// A position is reported again after this long: the control plane gives up a loop that reports nothing.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(30 * 60);
const MEGABYTE: u64 = 1024 * 1024;

/// A loop that runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopStart {
    /// The loop.
    pub loop_id: LoopId,
    /// Pid of its process; `None` while it waits for a place or is being prepared.
    pub pid: Option<u32>,
    /// Its worktree.
    pub worktree_path: Option<PathBuf>,
    /// Its position in the queue, from 1.
    pub queue_place: Option<usize>,
}

impl LoopStart {
    /// A loop that has no process yet.
    pub(crate) const fn accepted(loop_id: LoopId) -> Self {
        Self { loop_id, pid: None, worktree_path: None, queue_place: None }
    }
}

/// Loops that wait for a place or for approval.
pub(crate) struct LaunchQueue {
    pub jobs: Jobs,
    pub entries: QueueEntries,
    pub reservations: Reservations,
    pub settings: Arc<SettingsStore>,
    pub heartbeat: HeartbeatSender,
    pub tasks: Tasks,
}

impl LaunchQueue {
    /// Whether a loop that has its reservation must wait for a place.
    pub(crate) async fn must_wait(&self) -> bool {
        let settings = self.settings.get();
        let limited = settings.max_loops.is_some() || settings.min_free_memory_mb.is_some();
        let unknown = limited && !self.entries.ready.load(Ordering::Acquire);
        unknown || !self.entries.is_empty() || !self.has_capacity(1).await
    }

    /// Whether one more loop may run, beside these that are counted and do not run yet.
    pub(super) async fn has_capacity(&self, counted: usize) -> bool {
        let settings = self.settings.get();
        let under_way = self.reservations.under_way().saturating_sub(counted);
        if under_way == 0 {
            return true;
        }
        let most = settings.max_loops.map_or(usize::MAX, |most| most as usize);
        let Some(floor) = settings.min_free_memory_mb else { return under_way < most };
        under_way < most && machine::available_memory().await >= floor.saturating_mul(MEGABYTE)
    }

    /// The position of a loop in the queue, from 1.
    pub(crate) fn position(&self, id: LoopId) -> Option<usize> {
        self.entries.position(id)
    }

    /// Stores a request until the loop's process runs, so that the death of this process costs no loop.
    pub(crate) async fn store_request(
        &self,
        id: LoopId,
        request: &LaunchRequest,
    ) -> Result<(), LoopRequestError> {
        self.jobs.store.put_launch_request(id, request).await.map_err(|error| {
            tracing::error!(loop_id = %id, %error, "the request of a loop could not be stored");
            LoopRequestError::new(500, "The order of the loop could not be kept")
        })
    }

    /// Deletes the request of a loop that was started, or never will be.
    pub(crate) async fn delete_request(&self, id: LoopId) {
        if let Err(error) = self.jobs.store.delete_launch_request(id).await {
            tracing::warn!(loop_id = %id, %error, "the request of a loop was not deleted");
        }
    }

    /// Puts a loop at the end of the queue.
    pub(crate) async fn enqueue(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<LoopStart, LoopRequestError> {
        let (id, number) = (request.loop_id, self.entries.number());
        if let Err(error) = self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "the loop's token could not be stored");
        }
        self.jobs.store.create(&queued_job(request, headers, number)).await?;
        let alive = self.entries.push(number, id, reservation);
        self.keep_alive(id, alive);
        let position = self.entries.position(id);
        tracing::info!(loop_id = %id, position, "the loop waits for a place");
        Ok(LoopStart { queue_place: position, ..LoopStart::accepted(id) })
    }

    /// Lets a loop wait, before every other, that was about to begin when an earlier process died.
    ///
    /// # Errors
    /// [`StoreError`].
    pub(crate) async fn requeue(&self, id: LoopId, reservation: Reservation) -> Result<(), StoreError> {
        let number = self.entries.number_before();
        self.jobs
            .change(id, |now| {
                now.apply(JobEvent::Queued)?;
                (now.job.launch.queue_number, now.job.run.process) = (Some(number), None);
                now.job.progress.live_activity =
                    Some("Loopgate ended while this was being started; it begins again".to_owned());
                Ok(())
            })
            .await?;
        let alive = self.entries.push(number, id, reservation);
        self.keep_alive(id, alive);
        Ok(())
    }

    /// Renews the token of a loop while it waits.
    pub(crate) fn keep_alive(&self, id: LoopId, alive: CancellationToken) {
        let (heartbeat, stop) = (self.heartbeat.clone(), self.tasks.stop.clone());
        self.tasks.spawn(async move {
            tokio::select! {
                () = stop.cancelled() => {}
                () = alive.cancelled() => {}
                () = heartbeat.renew(id) => {}
            }
        });
    }

    /// Ends a loop that was accepted and cannot be started, with the loop's last event.
    pub(crate) async fn refuse(&self, id: LoopId, token: Option<SecretString>, refusal: &Refusal) {
        if let Some(token) = token {
            let stored = self.jobs.store.put_token(id, &StoredToken::new(token)).await;
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
    pub(crate) async fn cancel(&self, id: LoopId) -> Result<bool, StoreError> {
        let Some(waiting) = self.entries.take(id) else { return Ok(false) };
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
        self.jobs
            .change(id, |now| {
                if end == JobEvent::Cancelled {
                    now.apply(JobEvent::CancelRequested)?;
                }
                now.apply(end)?;
                (now.job.progress.live_activity, now.job.launch.approval) = (activity, None);
                now.job.report.final_status_persisted_at = Some(now_iso());
                now.send(OutboxMessage::last(&event));
                Ok(())
            })
            .await?;
        Ok(())
    }

    pub(super) async fn announce_position(&self, QueuePosition { id, position, of }: &QueuePosition) {
        let text = format!("Waiting for a free place: {position} of {of} in the queue");
        let data = json!({"chunk": text, "queue": {"place": position, "waiting": of}});
        let event = LoopEvent::new("output", &json!({"data": data}));
        let stored = self
            .jobs
            .change(*id, |now| {
                if now.job.status() == JobStatus::Queued {
                    now.job.progress.live_activity = Some(text);
                    now.send(OutboxMessage::event(&event));
                }
                Ok(())
            })
            .await;
        if let Err(error) = stored {
            tracing::warn!(loop_id = %id, %error, "a loop's position in the queue was not stored");
        }
    }
}

/// The record of a loop that waits.
pub(crate) fn queued_job(request: &LoopRequest, headers: &LoopHeaders, number: i64) -> Job {
    let mut job = Job::waiting(request.loop_id, request.command);
    job.launch.queue_number = Some(number);
    job.launch.command_id.clone_from(&headers.command_id);
    job.launch.operation_id.clone_from(&headers.operation_id);
    job.launch.ticket_id.clone_from(&request.ticket_id);
    job.launch.artifact_slug.clone_from(&request.artifact_slug);
    job.workspace.primary_repo_full_name = request.repo.as_ref().map(|repo| repo.full_name.to_string());
    job.workspace.local_repo_path.clone_from(&request.local_repo_path);
    job
}
