//! Documents: requirements, features, and plans produced from them.

use loopgate_api::launch::ArtifactType;
use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Status of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DocumentStatus {
    /// The document is being written.
    Draft,
    /// The document awaits a review.
    InReview,
    /// A reviewer requested changes.
    ChangesRequested,
    /// The document was approved.
    Approved,
    /// The work described in the document is done.
    Executed,
    /// The document is no longer relevant.
    Obsolete,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "documents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub user_id: Uuid,
    pub kind: StoredEnum<ArtifactType>,
    pub number: i64,
    pub slug: String,
    pub title: String,
    pub status: StoredEnum<DocumentStatus>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub repo: Option<Json>,
    pub source_document_id: Option<Uuid>,
    pub current_version: i64,
    /// Number reserved for the plan of this document, which names the worktree of its loops before the plan
    /// exists.
    pub planned_number: Option<i64>,
    /// Removed an hour later, unless the deletion is undone.
    pub deleted_at: Option<i64>,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
