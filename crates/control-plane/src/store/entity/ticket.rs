//! Tickets. A row adds state and repositories to a feature document.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// State of a ticket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TicketState {
    /// The work is still planned or in progress.
    Open,
    /// The work is done or was abandoned.
    Closed,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "tickets")]
pub struct Model {
    // Id of the feature document, which contains title, text and primary repository.
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    pub organization_id: Uuid,
    pub slug: String,
    // Array of repositories with branches.
    #[sea_orm(column_type = "JsonBinary")]
    pub additional_repos: Json,
    pub state: StoredEnum<TicketState>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    #[sea_orm(
        belongs_to = "super::document::Entity",
        from = "Column::DocumentId",
        to = "super::document::Column::Id"
    )]
    Document,
}

impl Related<super::document::Entity> for Entity {
    fn to() -> RelationDef {
        Relation::Document.def()
    }
}

impl ActiveModelBehavior for ActiveModel {}
