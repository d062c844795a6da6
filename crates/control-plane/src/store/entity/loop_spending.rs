//! What a loop spent on a day.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_spending")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    /// Days since the epoch, in UTC.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    pub organization_id: Uuid,
    /// Millionths of a US dollar.
    pub micros: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
