//! A ticket: what a feature document is, beside its text, to the people who work on it.

use sea_orm::entity::prelude::*;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::store::column::StoredEnum;

/// Whether a ticket's work is still wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum TicketState {
    /// It is.
    Open,
    /// It is done, or given up.
    Closed,
}

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "tickets")]
pub struct Model {
    /// The feature document that holds title, text and primary repository.
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    pub organization_id: Uuid,
    pub slug: String,
    /// The peers, a list of repositories with their branches.
    #[sea_orm(column_type = "JsonBinary")]
    pub additional_repos: Json,
    pub state: StoredEnum<TicketState>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {
    /// The feature document.
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
