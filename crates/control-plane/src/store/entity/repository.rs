//! Repositories that an administrator allowed for loops.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "repositories")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub organization_id: Uuid,
    // Lower-case: names at the code host are case-insensitive.
    #[sea_orm(primary_key, auto_increment = false)]
    pub full_name: String,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    // NULL when the branches are not known; then every branch is accepted.
    pub branches: Option<Json>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
