//! Usage of finished loops per organization, day, user and command. [`crate::loop_state`] updates it together
//! with the status of a loop.

use loopgate_api::command::LoopCommand;
use sea_orm::entity::prelude::*;

use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "usage_days")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    // Day on which the loops were created, in days since the Unix epoch, in UTC.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    #[sea_orm(primary_key, auto_increment = false)]
    pub user_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub command: StoredEnum<LoopCommand>,
    pub loops: i64,
    pub tokens_input: i64,
    pub tokens_output: i64,
    pub cache_creation_tokens: i64,
    pub cache_read_tokens: i64,
    // Millionths of a US dollar. Integers, so that a loop can be subtracted again exactly.
    pub cost_micros: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
