//! Jobs: the desktop's records of loops, their state machine, the database that stores them, and the
//! reservations of loops and worktrees in this process.

mod job;
pub mod lifecycle;
mod notification;
mod record;
mod repositories;
pub(crate) mod reservations;
pub mod store;

use std::sync::Arc;

use loopgate_api::event::LoopEvent;
use loopgate_api::ids::{LoopId, TicketId};
use tokio::sync::{Notify, watch};

use store::{JobStore, JobUpdate, OutboxMessage, StoreError};

pub use job::Job;
pub use notification::{AwaitingUserSince, Notification, UserAction};
pub use record::{
    DeliveryCompletion, DeliveryPath, DeliveryRecord, DeliveryStatus, FileIdentity, FinalizationSource,
    LaunchRecord, LoopApproval, PeerWorktree, PerfMark, ProcessKind, ProcessRecord, ProgressRecord,
    ReportRecord, RunRecord, SpawnMeta, StartAttempt, StartState, TestRunRecord, TranscriptRecord,
    UserVisibleFailure, WorkspaceRecord,
};
pub use repositories::JobRepository;

/// Access to the records of loops; wakes the tasks that act on a change.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) store: JobStore,
    /// Wakes the outbox sender of a loop.
    wake_outbox: Arc<dyn Fn(LoopId) + Send + Sync>,
    /// Notified when the user stops a loop.
    pub(crate) stop_requests: watch::Sender<()>,
    /// Notified when a record has a pending notification.
    pub(crate) pending_notifications: Arc<Notify>,
}

impl Jobs {
    pub(crate) fn new(store: JobStore, wake_outbox: impl Fn(LoopId) + Send + Sync + 'static) -> Self {
        Self {
            store,
            wake_outbox: Arc::new(wake_outbox),
            stop_requests: watch::Sender::default(),
            pending_notifications: Arc::default(),
        }
    }

    /// Returns the stored record of a loop.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the record cannot be read.
    pub async fn get(&self, id: LoopId) -> Result<Option<Job>, StoreError> {
        self.store.job(id).await
    }

    /// Returns all records: active ones before ended ones, and the newest first within each group.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn list(&self) -> Result<Vec<Job>, StoreError> {
        self.store.jobs().await
    }

    /// Returns the records of a ticket, active ones first. A loop belongs to the ticket if the ticket's id is
    /// the loop's ticket id, the slug or id of its document, or the id of the loop itself.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the records cannot be read.
    pub async fn of_ticket(&self, ticket: &TicketId) -> Result<Vec<Job>, StoreError> {
        let ticket_id = Some(ticket.as_str());
        let mut jobs = self.store.jobs().await?;
        jobs.retain(|job| {
            job.launch.ticket_id.as_deref() == ticket_id
                || job.launch.artifact_slug.as_deref() == ticket_id
                || job.launch.artifact_id.as_deref() == ticket_id
                || job.id.to_string() == ticket.as_str()
        });
        Ok(jobs)
    }

    /// Changes a record in one transaction and wakes the tasks that act on the change.
    pub(crate) async fn change(
        &self,
        id: LoopId,
        change: impl FnOnce(&mut JobUpdate<'_>) -> Result<(), StoreError> + Send,
    ) -> Result<Job, StoreError> {
        let mut before = None;
        let job = self
            .store
            .change(id, |now| {
                before = Some(now.job.status());
                change(now)
            })
            .await?;
        if before != Some(job.status()) {
            tracing::info!(loop_id = %id, status = ?job.status(), "job status changed");
            if job.is_cancelled() {
                self.stop_requests.send_replace(());
            }
        }
        if !job.progress.notifications.is_empty() {
            self.pending_notifications.notify_one();
        }
        // Woken after every change: a sender without messages ends immediately.
        (self.wake_outbox)(id);
        Ok(job)
    }

    /// Queues an event for the control plane.
    pub(crate) async fn enqueue_event(&self, id: LoopId, event: &LoopEvent) -> Result<Job, StoreError> {
        self.change(id, |now| {
            now.send(OutboxMessage::event(event));
            Ok(())
        })
        .await
    }
}
