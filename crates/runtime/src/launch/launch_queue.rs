//! Admission control: concurrency limit, free-memory threshold, and the queue of waiting loops.
//!
//! One loop may always run, regardless of the limits. When the limits are reached, a loop is queued and the
//! request is answered; the dispatcher starts it later. Later failures are reported by events.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use loopgate_api::event::{AbortReason, ErrorEvent, LoopEvent, code};
use loopgate_api::event_body::{EventBody, QueueEvent, QueuePlace};
use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
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
use crate::refusal::{CANCELLED, Refusal, RefusalEvent};
use crate::reporting::heartbeat::HeartbeatSender;
use crate::request::{LoopHeaders, LoopRequest};
use crate::supervision::STORE_RETRY;
use crate::tasks::Tasks;

/// The position in the queue is reported again after this interval: the control plane times out loops without
/// events.
pub(crate) const ANNOUNCE_INTERVAL: Duration = Duration::from_secs(30 * 60);
const MEGABYTE: u64 = 1024 * 1024;

/// Response to an accepted launch request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopStart {
    /// Id of the started or queued loop.
    pub loop_id: LoopId,
    /// Process id; `None` while the loop is queued or being prepared.
    pub pid: Option<u32>,
    /// Worktree of the loop; `None` for commands without one.
    pub worktree_path: Option<PathBuf>,
    /// Position in the queue, from 1; `None` for a loop that is not queued.
    pub queue_place: Option<usize>,
}

impl LoopStart {
    /// Creates the response for a loop that has no process yet.
    pub(crate) const fn accepted(loop_id: LoopId) -> Self {
        Self { loop_id, pid: None, worktree_path: None, queue_place: None }
    }
}

/// Loops that wait for capacity or approval.
pub(crate) struct LaunchQueue {
    pub jobs: Jobs,
    pub entries: QueueEntries,
    pub reservations: Reservations,
    pub settings: Arc<SettingsStore>,
    pub heartbeat: HeartbeatSender,
    pub tasks: Tasks,
}

impl LaunchQueue {
    /// Returns whether a loop that holds a reservation must be queued.
    pub(crate) async fn must_wait(&self) -> bool {
        let settings = self.settings.get();
        let limited = settings.max_loops.is_some() || settings.min_free_memory_mb.is_some();
        // Until recovery has counted the loops of the previous process, the number of running loops is
        // unknown.
        let uncounted = limited && !self.entries.ready.load(Ordering::Acquire);
        uncounted || !self.entries.is_empty() || !self.has_capacity(1).await
    }

    /// Returns whether one more loop may run. `counted` is 1 when the loop's own reservation already counts
    /// as running, otherwise 0.
    pub(super) async fn has_capacity(&self, counted: usize) -> bool {
        let settings = self.settings.get();
        let active = self.reservations.under_way().saturating_sub(counted);
        if active == 0 {
            return true;
        }
        let limit = settings.max_loops.map_or(usize::MAX, |limit| limit as usize);
        let Some(threshold) = settings.min_free_memory_mb else { return active < limit };
        active < limit && machine::available_memory().await >= threshold.saturating_mul(MEGABYTE)
    }

    /// Returns the position of a loop in the queue, from 1.
    pub(crate) fn position(&self, id: LoopId) -> Option<usize> {
        self.entries.position(id)
    }

    /// Stores a request until the loop's process runs. A restarted runtime continues the launch from it.
    pub(crate) async fn store_request(
        &self,
        id: LoopId,
        request: &LaunchRequest,
    ) -> Result<(), LoopRequestError> {
        self.jobs.store.put_launch_request(id, request).await.map_err(|error| {
            tracing::error!(loop_id = %id, %error, "failed to store the launch request");
            LoopRequestError::new(500, "The loop request could not be stored")
        })
    }

    /// Deletes the stored request of a loop that was started or refused. Best-effort.
    pub(crate) async fn delete_request(&self, id: LoopId) {
        if let Err(error) = self.jobs.store.delete_launch_request(id).await {
            tracing::warn!(loop_id = %id, %error, "failed to delete the launch request");
        }
    }

    /// Appends a loop to the queue.
    pub(crate) async fn enqueue(
        &self,
        request: &LoopRequest,
        headers: &LoopHeaders,
        reservation: Reservation,
    ) -> Result<LoopStart, LoopRequestError> {
        let (id, number) = (request.loop_id, self.entries.number());
        // Best-effort: the token is also part of the stored request.
        if let Err(error) = self.jobs.store.put_token(id, &StoredToken::new(request.token.clone())).await {
            tracing::warn!(loop_id = %id, %error, "failed to store the runner token");
        }
        self.jobs.store.create(&queued_job(request, headers, number)).await?;
        let alive = self.entries.push(number, id, reservation);
        self.keep_alive(id, alive);
        let position = self.entries.position(id);
        tracing::info!(loop_id = %id, position, "loop queued");
        Ok(LoopStart { queue_place: position, ..LoopStart::accepted(id) })
    }

    /// Puts a loop at the front of the queue. Used for a loop that was being started when the previous
    /// process terminated.
    ///
    /// # Errors
    /// Fails with [`StoreError`].
    pub(crate) async fn requeue(&self, id: LoopId, reservation: Reservation) -> Result<(), StoreError> {
        let number = self.entries.number_before();
        self.jobs
            .change(id, |now| {
                now.apply(JobEvent::Queued)?;
                // Drop the process of the interrupted start; the next start records its own.
                (now.job.launch.queue_number, now.job.run.process) = (Some(number), None);
                now.job.progress.live_activity = Some(
                    "Loopgate stopped while this loop was being started; it has been requeued".to_owned(),
                );
                Ok(())
            })
            .await?;
        let alive = self.entries.push(number, id, reservation);
        self.keep_alive(id, alive);
        Ok(())
    }

    /// Renews the token of a loop until it leaves the queue or the runtime stops.
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

    /// Finishes a loop that was accepted and could not be started, with its terminal event.
    pub(crate) async fn refuse(&self, id: LoopId, token: Option<SecretString>, refusal: &Refusal) {
        if let Some(token) = token.map(StoredToken::new) {
            // Without its token, the end could not be reported.
            self.until_stored(id, "token", || self.jobs.store.put_token(id, &token)).await;
        }
        if refusal.is_cancelled() {
            tracing::info!(loop_id = %id, "loop cancelled during its preparation");
            self.until_stored(id, "cancellation", || self.finish_cancelled(id)).await;
            return;
        }
        let event = refusal.event.clone().unwrap_or_else(|| {
            RefusalEvent::new(code::PRE_RUN_VALIDATION_FAILED, refusal.error.message.clone())
        });
        let error = event.error();
        let message = error.message.clone();
        tracing::info!(loop_id = %id, code = event.code, message, "accepted loop could not be started");
        let end = || self.finish_waiting(id, &error, JobEvent::Failed, Some(message.clone()));
        self.until_stored(id, "failed launch", end).await;
    }

    /// Repeats a change that ends a launch, see [`until_stored`].
    pub(super) async fn until_stored<F>(&self, id: LoopId, what: &str, change: impl Fn() -> F + Send)
    where
        F: Future<Output = Result<(), StoreError>> + Send,
    {
        until_stored(&self.tasks.stop, id, what, change).await;
    }

    /// Cancels a waiting loop. Returns `false` when no loop with this id is waiting.
    pub(crate) async fn cancel(&self, id: LoopId) -> Result<bool, StoreError> {
        let Some(entry) = self.entries.take(id) else { return Ok(false) };
        self.finish_cancelled(id).await?;
        self.delete_request(id).await;
        // The reservation in the entry is released last: the same loop must not be accepted before it is
        // finished.
        drop(entry);
        Ok(true)
    }

    async fn finish_cancelled(&self, id: LoopId) -> Result<(), StoreError> {
        let error = ErrorEvent {
            code: code::CANCELLED.to_owned(),
            message: CANCELLED.to_owned(),
            abort_reason: Some(AbortReason::Cancelled),
            ..ErrorEvent::default()
        };
        self.finish_waiting(id, &error, JobEvent::Cancelled, None).await
    }

    async fn finish_waiting(
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
                // The state machine permits the cancelled status only after a cancellation was requested.
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
        let text = format!("Waiting for a free slot: {position} of {of} in the queue");
        let queue = QueuePlace { place: *position as u64, waiting: *of as u64 };
        let event = LoopEvent::output(EventBody::Queue(QueueEvent { queue, chunk: Some(text.clone()) }));
        let stored = self
            .jobs
            .change(*id, |now| {
                // The loop may have been started since the position was computed.
                if now.job.status() == JobStatus::Queued {
                    now.job.progress.live_activity = Some(text);
                    now.send(OutboxMessage::event(&event));
                }
                Ok(())
            })
            .await;
        if let Err(error) = stored {
            tracing::warn!(loop_id = %id, %error, "failed to announce the queue position");
        }
    }
}

/// Repeats a change of the store, for example while the disk is full, until it is stored or the runtime stops: a launch
/// without a stored end would never end for its readers. `what` names the change in the log.
async fn until_stored<F>(stop: &CancellationToken, id: LoopId, what: &str, change: impl Fn() -> F + Send)
where
    F: Future<Output = Result<(), StoreError>> + Send,
{
    let mut waits = STORE_RETRY.iter();
    let mut wait = Duration::ZERO;
    loop {
        let Err(error) = change().await else { return };
        tracing::error!(loop_id = %id, %error, what, "failed to store the end of a launch");
        // Retrying an error of the record itself would never end.
        if !error.is_transient() {
            return;
        }
        wait = waits.next().copied().unwrap_or(wait);
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(wait) => {}
        }
    }
}

/// Creates the record of a waiting loop.
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use sea_orm::DbErr;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn end_of_a_launch_is_repeated_until_it_is_stored() {
        let (stop, id) = (CancellationToken::new(), LoopId(uuid::Uuid::nil()));
        let full = || StoreError::Database(DbErr::Custom("disk full".to_owned()));
        let tries = AtomicUsize::new(0);
        let change = || {
            let number = tries.fetch_add(1, Ordering::Relaxed);
            std::future::ready(if number < 6 { Err(full()) } else { Ok(()) })
        };
        until_stored(&stop, id, "test", change).await;
        assert_eq!(tries.swap(0, Ordering::Relaxed), 7);
        let change = || {
            tries.fetch_add(1, Ordering::Relaxed);
            std::future::ready(Err(StoreError::NoJob))
        };
        until_stored(&stop, id, "test", change).await;
        assert_eq!(tries.load(Ordering::Relaxed), 1, "a retry would not help");
        stop.cancel();
        until_stored(&stop, id, "test", || std::future::ready(Err(full()))).await;
    }
}
