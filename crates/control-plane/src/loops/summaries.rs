//! What the loops of documents have come to.

use std::collections::{HashMap, HashSet};

use loopgate_api::command::LoopCommand;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::ArtifactType;
use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, FromQueryResult, QueryOrder, QuerySelect};
use serde::Serialize;
use utoipa::ToSchema;

use super::view::{LoopUser, users};
use crate::loop_state::ACTIVE;
use crate::store::column::StoredEnum;
use crate::store::entity::{agent_loop, document};
use crate::store::iso;

/// How far documents are followed that were made from a document.
const MAX_DEPTH: usize = 10;

/// Loops of one document and of the documents that were made from it.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSummary {
    /// The newest one that has not ended.
    pub active_loop: Option<DocumentLoop>,
    /// The newest one that completed.
    pub latest_completed: Option<DocumentLoop>,
    /// The newest one that failed or timed out.
    pub latest_failed: Option<DocumentLoop>,
}

/// One of these loops.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct DocumentLoop {
    /// Id.
    pub loop_id: Uuid,
    /// What it does.
    pub command: LoopCommand,
    /// Its status.
    pub status: LoopStatus,
    /// Who started it.
    pub user: Option<LoopUser>,
    /// Whether a desktop runs it.
    pub is_local: bool,
    /// Kind of the document that it is about, when that was made from the one in question.
    pub child_subtype: Option<ArtifactType>,
    /// Whether it is about the document in question itself.
    pub is_direct_loop: bool,
    /// ISO 8601.
    pub started_at: Option<String>,
    /// ISO 8601.
    pub completed_at: Option<String>,
    /// ISO 8601.
    pub failed_at: Option<String>,
    /// ISO 8601.
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

/// A document, and the one in question from which it descends.
#[derive(Debug, Clone, Copy)]
struct Descendant {
    root: Uuid,
    /// `None` for the document in question itself.
    kind: Option<ArtifactType>,
}

/// Summarises the loops of documents of an organization; a document that it does not have has none.
pub async fn summarize(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    documents: &[Uuid],
) -> Result<HashMap<Uuid, DocumentSummary>, DbErr> {
    let family = descendants(db, organization_id, documents).await?;
    let rows = loops_of(db, organization_id, family.keys().copied()).await?;
    let people = users(db, rows.iter().map(|row| row.user_id)).await?;
    let mut summaries: HashMap<Uuid, DocumentSummary> =
        documents.iter().map(|id| (*id, DocumentSummary::default())).collect();
    for row in rows {
        for descendant in row.document_id.iter().filter_map(|id| family.get(id)).flatten() {
            let summary = summaries.entry(descendant.root).or_default();
            let Some(slot) = summary.slot(row.status.0) else { continue };
            slot.get_or_insert_with(|| row.summary(descendant.kind, people.get(&row.user_id)));
        }
    }
    Ok(summaries)
}

/// The documents in question, and those made from them, from whichever of them each descends.
async fn descendants(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    documents: &[Uuid],
) -> Result<HashMap<Uuid, Vec<Descendant>>, DbErr> {
    let mut family: HashMap<Uuid, Vec<Descendant>> =
        documents.iter().map(|id| (*id, vec![Descendant { root: *id, kind: None }])).collect();
    let mut newest: HashSet<Uuid> = documents.iter().copied().collect();
    for _ in 0..MAX_DEPTH {
        let children = document::Entity::find()
            .filter(document::Column::OrganizationId.eq(organization_id))
            .filter(document::Column::SourceDocumentId.is_in(newest))
            .all(db)
            .await?;
        newest = HashSet::new();
        for child in children {
            let Some(parents) = child.source_document_id.and_then(|id| family.get(&id).cloned()) else {
                continue;
            };
            let own = family.entry(child.id).or_default();
            for Descendant { root, .. } in parents {
                if !own.iter().any(|known| known.root == root) {
                    own.push(Descendant { root, kind: Some(child.kind.0) });
                    newest.insert(child.id);
                }
            }
        }
        if newest.is_empty() {
            break;
        }
    }
    Ok(family)
}

/// Loops of documents, the newest first.
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
    /// Where a loop of this status is told; one that was cancelled, or waits for a person, nowhere.
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
        let ended_as = |completed: bool| {
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
            completed_at: ended_as(true),
            failed_at: ended_as(false),
            updated_at: iso(self.updated_at),
        }
    }
}
