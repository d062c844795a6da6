//! Change requests: the state of each document without a source, derived from its plan and loops.

use sea_orm::entity::prelude::*;

use crate::change_requests::standing::{Attention, ChangeState};
use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "change_requests")]
pub struct Model {
    // The document that the change request begins with.
    #[sea_orm(primary_key, auto_increment = false)]
    pub document_id: Uuid,
    pub organization_id: Uuid,
    // User who started the loop that determines the state, or else the author of the document.
    pub user_id: Uuid,
    pub state: StoredEnum<ChangeState>,
    pub attention: Option<StoredEnum<Attention>>,
    // Loop that determines the state.
    pub loop_id: Option<Uuid>,
    #[sea_orm(column_type = "JsonBinary")]
    pub details: Json,
    // US dollars, over all loops that reported a cost.
    pub cost: Option<f64>,
    pub archived_at: Option<i64>,
    // Time of the last change of the state, its details or the documents.
    pub changed_at: i64,
    // How far the work has come: `change_requests::standing::WorkProgress`.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub progress: Option<Json>,
    // Time of the last change of anything that lists show; 0 before the first derivation with progress.
    pub updated_at: i64,
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
