//! Finished reviews of the changes of a change request.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Result of a review of changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReviewKind {
    /// A loop received the comments and answers each of them.
    RequestChanges,
    /// A loop opens the pull requests of the reviewed commits.
    Approve,
    /// The comments were posted to a pull request, or are notes.
    Comment,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "change_reviews")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    // The document that the change request begins with.
    pub document_id: Uuid,
    pub user_id: Uuid,
    pub kind: StoredEnum<ReviewKind>,
    pub summary: Option<String>,
    // Loop that answers the comments.
    pub loop_id: Option<Uuid>,
    // Reviewed commit by repository.
    #[sea_orm(column_type = "JsonBinary")]
    pub heads: Json,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
