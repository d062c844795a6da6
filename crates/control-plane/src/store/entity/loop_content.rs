//! Large values of a loop, apart from its artifacts.
//!
//! They are not columns of `loops`: SQLite rewrites a whole row for each changed column, and every event
//! changes the row of its loop.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_contents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    #[sea_orm(column_type = "Text", nullable)]
    pub prompt: Option<String>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub context_refs: Option<Json>,
    // Changes only while the loop's row is locked: it is read, merged and written back.
    #[sea_orm(column_type = "JsonBinary")]
    pub metadata: Json,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub results: Option<Json>,
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub tokens_by_model: Option<Json>,
    /// What its user selected; absent for the defaults.
    #[sea_orm(column_type = "JsonBinary", nullable)]
    pub options: Option<Json>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
