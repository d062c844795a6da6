//! Signed commands whose execution credentials have been issued. A command gets them only once.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_execution_credential_consumptions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub command_id: Uuid,
    pub consumed_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
