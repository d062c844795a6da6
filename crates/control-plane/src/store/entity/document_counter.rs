//! The next number of a kind of document in an organization.

use loopgate_api::launch::ArtifactType;
use sea_orm::entity::prelude::*;

use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "document_counters")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub kind: StoredEnum<ArtifactType>,
    pub next: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
