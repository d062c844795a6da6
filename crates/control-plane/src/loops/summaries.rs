//! Summaries of the loops of documents.

use std::collections::HashMap;

use loopgate_api::command::LoopCommand;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::ArtifactType;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, FromQueryResult, QueryOrder, QuerySelect};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{LoopUser, users};
use crate::documents::tree;
use crate::loop_state::ACTIVE;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, document};
use crate::store::iso;

/// Loops of one document and of the documents derived from it.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSummary {
    /// Newest loop without a terminal status; null when there is none.
    pub active_loop: Option<DocumentLoop>,
    /// Newest completed loop; null when there is none.
    pub latest_completed: Option<DocumentLoop>,
    /// Newest loop that failed or timed out; null when there is none.
    pub latest_failed: Option<DocumentLoop>,
}

/// A loop in a summary.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentLoop {
    /// Id of the loop.
    pub loop_id: Uuid,
    /// Command of the loop.
    pub command: LoopCommand,
    /// Status of the loop.
    pub status: LoopStatus,
    /// User who started the loop.
    pub user: Option<LoopUser>,
    /// Whether a desktop runs the loop.
    pub is_local: bool,
    /// Type of the loop's document when it is derived from the summarized one; null otherwise.
    pub child_subtype: Option<ArtifactType>,
    /// Whether the loop works on the summarized document itself.
    pub is_direct_loop: bool,
    /// Start time, ISO 8601.
    pub started_at: Option<String>,
    /// Completion time, ISO 8601; null unless completed.
    pub completed_at: Option<String>,
    /// Failure time, ISO 8601; null unless failed or timed out.
    pub failed_at: Option<String>,
    /// Time of the last change, ISO 8601.
    pub updated_at: String,
}

#[derive(Debug, FromQueryResult)]
struct LoopRow {
    id: Uuid,
    user_id: Uuid,
    status: StoredEnum<LoopStatus>,
    command: StoredEnum<LoopCommand>,
    document_id: Option<Uuid>,
    compute_target_id: Option<Uuid>,
    started_at: Option<i64>,
    completed_at: Option<i64>,
    updated_at: i64,
}

/// Summarizes the loops of documents. Documents of other organizations have empty summaries.
pub async fn summarize(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    documents: &[Uuid],
) -> Result<HashMap<Uuid, DocumentSummary>, DbErr> {
    let of_organization = document::Entity::find()
        .filter(document::Column::OrganizationId.eq(organization_id))
        .filter(document::Column::Id.is_in(documents.iter().copied()));
    let summarized = of_organization.all(db).await?;
    let derived = tree::derived(db, organization_id, documents.iter().copied()).await?;
    let family: HashMap<Uuid, document::Model> =
        summarized.into_iter().chain(derived).map(|document| (document.id, document)).collect();
    let rows = loops_of(db, organization_id, family.keys().copied()).await?;
    let users_by_id = users(db, rows.iter().map(|row| row.user_id)).await?;
    let mut summaries: HashMap<Uuid, DocumentSummary> =
        documents.iter().map(|id| (*id, DocumentSummary::default())).collect();
    for row in rows {
        let Some(document) = row.document_id.and_then(|id| family.get(&id)) else { continue };
        for root in tree::lineage(&family, document.id) {
            let Some(slot) = summaries.get_mut(&root.id).and_then(|summary| summary.slot(row.status.0))
            else {
                continue;
            };
            // Rows are sorted newest first, so the first loop of a slot is the newest one.
            let child = (root.id != document.id).then_some(document.kind.0);
            slot.get_or_insert_with(|| row.summary(child, users_by_id.get(&row.user_id)));
        }
    }
    Ok(summaries)
}

/// Returns the loops of documents, newest first.
async fn loops_of(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    documents: impl Iterator<Item = Uuid>,
) -> Result<Vec<LoopRow>, DbErr> {
    use agent_loop::Column;
    agent_loop::Entity::find()
        .select_only()
        .columns([
            Column::Id,
            Column::UserId,
            Column::Status,
            Column::Command,
            Column::DocumentId,
            Column::ComputeTargetId,
            Column::StartedAt,
            Column::CompletedAt,
            Column::UpdatedAt,
        ])
        .filter(Column::OrganizationId.eq(organization_id))
        .filter(Column::DocumentId.is_in(documents))
        .order_by_desc(Column::CreatedAt)
        .order_by_desc(Column::Id)
        .into_model()
        .all(db)
        .await
}

impl DocumentSummary {
    /// Returns the slot for loops of a status. Cancelled loops and loops awaiting the user have none.
    fn slot(&mut self, status: LoopStatus) -> Option<&mut Option<DocumentLoop>> {
        match status {
            status if ACTIVE.contains(&status) => Some(&mut self.active_loop),
            LoopStatus::Completed => Some(&mut self.latest_completed),
            LoopStatus::Failed | LoopStatus::TimedOut => Some(&mut self.latest_failed),
            _ => None,
        }
    }
}

impl LoopRow {
    fn summary(&self, child: Option<ArtifactType>, user: Option<&LoopUser>) -> DocumentLoop {
        // The column holds the time of any terminal status; the response has one member per outcome.
        let finished_at = |completed: bool| {
            self.completed_at.filter(|_| (self.status.0 == LoopStatus::Completed) == completed).map(iso)
        };
        DocumentLoop {
            loop_id: self.id,
            command: self.command.0,
            status: self.status.0,
            user: user.cloned(),
            is_local: self.compute_target_id.is_some(),
            child_subtype: child,
            is_direct_loop: child.is_none(),
            started_at: self.started_at.map(iso),
            completed_at: finished_at(true),
            failed_at: finished_at(false),
            updated_at: iso(self.updated_at),
        }
    }
}
