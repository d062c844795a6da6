//! The tree of documents: a plan is derived from a feature, and a feature from requirements.

use std::collections::{HashMap, HashSet};

use sea_orm::prelude::*;
use sea_orm::{ConnectionTrait, QueryOrder as _};

use crate::store::entity::document;

// Levels of derived documents that are followed. Guards against cycles; real chains have two or three levels.
const MAX_DEPTH: usize = 10;

/// Returns the document that a document is derived from, over all levels; the document itself when it has no source.
pub async fn root_of(
    db: &impl ConnectionTrait,
    mut document: document::Model,
) -> Result<document::Model, DbErr> {
    for _ in 0..MAX_DEPTH {
        let Some(source) = document.source_document_id else { break };
        let Some(source) = document::Entity::find_by_id(source).one(db).await? else { break };
        document = source;
    }
    Ok(document)
}

/// Returns the documents derived from `sources`, over all levels, in the order of their creation. Without `sources`
/// themselves.
pub async fn derived(
    db: &impl ConnectionTrait,
    organization_id: Uuid,
    sources: impl IntoIterator<Item = Uuid>,
) -> Result<Vec<document::Model>, DbErr> {
    use document::Column;
    let mut seen: HashSet<Uuid> = sources.into_iter().collect();
    let (mut derived, mut level): (Vec<document::Model>, Vec<Uuid>) =
        (Vec::new(), seen.iter().copied().collect());
    for _ in 0..MAX_DEPTH {
        let children = document::Entity::find()
            .filter(Column::OrganizationId.eq(organization_id))
            .filter(Column::SourceDocumentId.is_in(level))
            .order_by_asc(Column::CreatedAt)
            .all(db)
            .await?;
        let children: Vec<_> = children.into_iter().filter(|child| seen.insert(child.id)).collect();
        if children.is_empty() {
            break;
        }
        level = children.iter().map(|child| child.id).collect();
        derived.extend(children);
    }
    derived.sort_by_key(|document| document.created_at);
    Ok(derived)
}

/// Returns a document and those that it is derived from, nearest first, as far as they are in `documents`.
pub fn lineage(
    documents: &HashMap<Uuid, document::Model>,
    id: Uuid,
) -> impl Iterator<Item = &document::Model> {
    let source = |document: &&document::Model| documents.get(&document.source_document_id?);
    std::iter::successors(documents.get(&id), source).take(MAX_DEPTH + 1)
}
