//! What the desktop knows of its loops: their records, the state machine of a record, the database that
//! keeps both, and which loops and worktrees are in use by this process.

mod job;
pub mod lifecycle;
mod notification;
mod record;
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
    ReportRecord, RunRecord, SpawnMeta, StartAttempt, TestRunRecord, TranscriptRecord, UserVisibleFailure,
    WorkspaceRecord,
};

/// The records of loops, and who is signalled when one changes.
#[derive(Clone)]
pub struct Jobs {
    pub(crate) store: JobStore,
    /// Wakes the sender of a loop's outbox.
    wake_outbox: Arc<dyn Fn(LoopId) + Send + Sync>,
    /// Signalled when a person asked some loop to end.
    pub(crate) stop_requests: watch::Sender<()>,
    /// Signalled when a record holds a notification that is not sent.
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

    /// The record of a loop as it is stored.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn get(&self, id: LoopId) -> Result<Option<Job>, StoreError> {
        self.store.job(id).await
    }

    /// Every record, active ones first, then the ended ones, the newest of each first.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn list(&self) -> Result<Vec<Job>, StoreError> {
        self.store.jobs().await
    }

    /// The records that belong to a ticket, active ones first. Loops that were ordered with a
    /// document belong to the document's slug, and each loop to its own id.
    ///
    /// # Errors
    /// [`StoreError`].
    pub async fn of_ticket(&self, ticket: &TicketId) -> Result<Vec<Job>, StoreError> {
        let wanted = Some(ticket.as_str());
        let mut jobs = self.store.jobs().await?;
        jobs.retain(|job| {
            job.launch.ticket_id.as_deref() == wanted
                || job.launch.artifact_slug.as_deref() == wanted
                || job.launch.artifact_id.as_deref() == wanted
                || job.id.to_string() == ticket.as_str()
        });
        Ok(jobs)
    }

    /// Changes a record in one transaction, and wakes the tasks that act on the change.
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
            tracing::info!(loop_id = %id, status = ?job.status(), "job");
            if job.is_cancelled() {
                self.stop_requests.send_replace(());
            }
        }
        if !job.progress.notifications.is_empty() {
            self.pending_notifications.notify_one();
        }
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
