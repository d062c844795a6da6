//! Spending of a loop per day.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_spending")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    // Days since the Unix epoch, in UTC.
    #[sea_orm(primary_key, auto_increment = false)]
    pub day: i64,
    // Redundant with the loop's row; spares a join in the sums per organization.
    pub organization_id: Uuid,
    // Millionths of a US dollar. Integers, so that sums are exact.
    pub micros: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
