//! The outbox: messages for the control plane, stored until they are delivered.

use std::collections::BTreeMap;

use loopgate_api::event::{LoopEvent, warning};
use loopgate_api::ids::LoopId;
use sea_orm::{
    ActiveValue, ColumnTrait as _, DatabaseTransaction, EntityTrait as _, QueryFilter as _, QueryOrder as _,
    QuerySelect as _, TransactionTrait as _,
};
use serde::Serialize;
use serde_json::Value;
use uuid::Uuid;

use super::entity::{job, outbox};
use super::{JobStore, StoreError, find, replace};
use crate::jobs::Job;

/// Kind of a message, which determines its endpoint and the effect of its delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MessageKind {
    /// An event other than the last one.
    Event,
    /// The artifacts of a loop.
    Artifacts,
    /// The event that ends the loop.
    Final,
}

impl MessageKind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Artifacts => "artifacts",
            Self::Final => "final",
        }
    }

    fn from_str(text: &str) -> Self {
        match text {
            "artifacts" => Self::Artifacts,
            "final" => Self::Final,
            _ => Self::Event,
        }
    }
}

/// A message for the control plane, with a nonce that all attempts share.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxMessage {
    pub kind: MessageKind,
    pub nonce: Uuid,
    /// JSON body of the request.
    pub body: String,
}

impl OutboxMessage {
    /// Creates a message for an event.
    #[must_use]
    pub fn event(event: &LoopEvent) -> Self {
        Self::new(MessageKind::Event, event)
    }

    /// Creates a message for the event that ends the loop.
    #[must_use]
    pub fn last(event: &LoopEvent) -> Self {
        Self::new(MessageKind::Final, event)
    }

    /// Creates a message with any JSON body and a new nonce.
    pub fn new(kind: MessageKind, body: &impl Serialize) -> Self {
        Self { kind, nonce: Uuid::new_v4(), body: serde_json::to_string(body).unwrap_or_default() }
    }
}

/// A queued message in the database.
#[derive(Debug, Clone, PartialEq)]
pub struct OutboxRow {
    /// Position in the queue, ascending.
    pub id: i64,
    pub outgoing: OutboxMessage,
    /// Number of attempts so far.
    pub attempts: u32,
}

impl From<outbox::Model> for OutboxRow {
    fn from(row: outbox::Model) -> Self {
        Self {
            id: row.id,
            outgoing: OutboxMessage {
                kind: MessageKind::from_str(&row.kind),
                nonce: row.nonce.parse().unwrap_or_default(),
                body: row.body,
            },
            attempts: u32::try_from(row.attempts).unwrap_or_default(),
        }
    }
}

/// Returns all undelivered messages of a loop, in order.
pub(super) async fn all(
    tx: &impl sea_orm::ConnectionTrait,
    id: LoopId,
) -> Result<Vec<OutboxMessage>, StoreError> {
    let rows = outbox::Entity::find()
        .filter(outbox::Column::LoopId.eq(id.to_string()))
        .filter(outbox::Column::Refusal.is_null())
        .order_by_asc(outbox::Column::Id)
        .all(tx)
        .await?;
    Ok(rows.into_iter().map(|row| OutboxRow::from(row).outgoing).collect())
}

pub(super) async fn insert(
    tx: &DatabaseTransaction,
    id: LoopId,
    item: &OutboxMessage,
) -> Result<(), StoreError> {
    let row = outbox::ActiveModel {
        id: ActiveValue::NotSet,
        loop_id: ActiveValue::Set(id.to_string()),
        nonce: ActiveValue::Set(item.nonce.to_string()),
        kind: ActiveValue::Set(item.kind.as_str().to_owned()),
        body: ActiveValue::Set(item.body.clone()),
        attempts: ActiveValue::Set(0),
        refusal: ActiveValue::Set(None),
    };
    outbox::Entity::insert(row).exec_without_returning(tx).await?;
    Ok(())
}

impl JobStore {
    /// Returns all undelivered messages of a loop, in order.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the rows cannot be read.
    pub async fn unsent_messages(&self, id: LoopId) -> Result<Vec<OutboxMessage>, StoreError> {
        all(&self.db, id).await
    }

    /// Returns the head of a loop's queue.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the row cannot be read.
    pub async fn next_message(&self, id: LoopId) -> Result<Option<OutboxRow>, StoreError> {
        let row = outbox::Entity::find()
            .filter(outbox::Column::LoopId.eq(id.to_string()))
            .filter(outbox::Column::Refusal.is_null())
            .order_by_asc(outbox::Column::Id)
            .one(&self.db)
            .await?;
        Ok(row.map(OutboxRow::from))
    }

    /// Returns the loops with queued messages.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the rows cannot be read.
    pub async fn loops_with_messages(&self) -> Result<Vec<LoopId>, StoreError> {
        let ids: Vec<String> = outbox::Entity::find()
            .select_only()
            .column(outbox::Column::LoopId)
            .filter(outbox::Column::Refusal.is_null())
            .distinct()
            .into_tuple()
            .all(&self.db)
            .await?;
        Ok(ids.iter().filter_map(|id| id.parse().ok()).collect())
    }

    /// Removes a delivered row and sets the marker of its delivery on the job.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the change cannot be stored.
    pub async fn mark_delivered(&self, id: LoopId, row: &OutboxRow) -> Result<(), StoreError> {
        let tx = self.db.begin().await?;
        outbox::Entity::delete_by_id(row.id).exec(&tx).await?;
        if row.outgoing.kind != MessageKind::Event
            && let Some(before) = find(&tx, id).await?
        {
            let mut job = before.clone();
            mark(&mut job, row.outgoing.kind);
            replace(&tx, &before, &mut job).await?;
        }
        // No sync needed: after a power loss the row is sent again, and its nonce makes it count once.
        tx.commit().await?;
        Ok(())
    }

    /// Counts a failed attempt; returns the number of attempts.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the change cannot be stored.
    pub async fn count_attempt(&self, row: &OutboxRow) -> Result<u32, StoreError> {
        // Not synced: the number only affects the backoff.
        let attempts = row.attempts.saturating_add(1);
        let model = outbox::ActiveModel {
            id: ActiveValue::Unchanged(row.id),
            attempts: ActiveValue::Set(i32::try_from(attempts).unwrap_or(i32::MAX)),
            ..Default::default()
        };
        outbox::Entity::update(model).exec(&self.db).await?;
        Ok(attempts)
    }

    /// Takes a permanently rejected row out of the queue and keeps it with the reason. The job gets a
    /// warning, and so does the final event if it is still queued.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the change cannot be stored.
    pub async fn mark_rejected(&self, id: LoopId, row: &OutboxRow, reason: &str) -> Result<(), StoreError> {
        let tx = self.db.begin().await?;
        let rejected = outbox::ActiveModel {
            id: ActiveValue::Unchanged(row.id),
            refusal: ActiveValue::Set(Some(reason.to_owned())),
            ..Default::default()
        };
        outbox::Entity::update(rejected).exec(&tx).await?;
        let warning = match row.outgoing.kind {
            MessageKind::Artifacts => warning::ARTIFACT_UPLOAD_FAILED,
            MessageKind::Event | MessageKind::Final => warning::EVENT_POST_FAILED,
        };
        if let Some(before) = find(&tx, id).await? {
            let mut job = before.clone();
            job.warn(warning);
            job.report.last_recovery_error = Some(reason.to_owned());
            if row.outgoing.kind == MessageKind::Final {
                // The rejection is permanent, so the loop counts as reported; a retry at each start would
                // fail again.
                job.report.cloud_finalized_at = Some(loopgate_api::time::now_iso());
            }
            replace(&tx, &before, &mut job).await?;
        }
        if row.outgoing.kind == MessageKind::Artifacts {
            warn_last_event(&tx, id, warning).await?;
        }
        self.commit(tx).await?;
        Ok(())
    }

    /// Marks a job as reported to the control plane.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the change cannot be stored.
    pub async fn mark_reported(&self, id: LoopId) -> Result<(), StoreError> {
        let mark = |job: &mut Job| job.report.cloud_finalized_at = Some(loopgate_api::time::now_iso());
        self.update(id, mark).await.map(drop)
    }

    /// Returns the loops with a rejected message, each with the last reason.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the rows cannot be read.
    pub async fn rejections(&self) -> Result<BTreeMap<LoopId, String>, StoreError> {
        let rows: Vec<(String, String)> = outbox::Entity::find()
            .select_only()
            .columns([outbox::Column::LoopId, outbox::Column::Refusal])
            .filter(outbox::Column::Refusal.is_not_null())
            .order_by_asc(outbox::Column::Id)
            .into_tuple()
            .all(&self.db)
            .await?;
        Ok(rows.into_iter().filter_map(|(id, reason)| Some((id.parse().ok()?, reason))).collect())
    }

    /// Returns whether a job has ended and is reported, without parsing its record; `None` without a record.
    ///
    /// # Errors
    /// Fails with [`StoreError`] when the row cannot be read.
    pub async fn is_reported(&self, id: LoopId) -> Result<Option<bool>, StoreError> {
        let row = job::Entity::find_by_id(id.to_string()).one(&self.db).await?;
        Ok(row.map(|row| row.terminal && row.reported))
    }
}

fn mark(job: &mut Job, kind: MessageKind) {
    let now = loopgate_api::time::now_iso();
    match kind {
        MessageKind::Event => {}
        MessageKind::Artifacts => job.report.artifacts_uploaded_at = Some(now),
        MessageKind::Final => {
            job.report.completed_event_posted_at = Some(now.clone());
            job.report.cloud_finalized_at = Some(now);
            job.report.last_recovery_error = None;
        }
    }
}

async fn warn_last_event(tx: &DatabaseTransaction, id: LoopId, warning: &str) -> Result<(), StoreError> {
    let last = outbox::Entity::find()
        .filter(outbox::Column::LoopId.eq(id.to_string()))
        .filter(outbox::Column::Refusal.is_null())
        .filter(outbox::Column::Kind.eq(MessageKind::Final.as_str()))
        .one(tx)
        .await?;
    let Some(last) = last else { return Ok(()) };
    let mut body: Value = serde_json::from_str(&last.body)?;
    let mut warnings = body.get("warnings").and_then(Value::as_array).cloned().unwrap_or_default();
    warnings.push(warning.into());
    body["warnings"] = warnings.into();
    let model = outbox::ActiveModel {
        id: ActiveValue::Unchanged(last.id),
        body: ActiveValue::Set(body.to_string()),
        ..Default::default()
    };
    outbox::Entity::update(model).exec(tx).await?;
    Ok(())
}
