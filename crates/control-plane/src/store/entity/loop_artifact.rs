//! Artifacts that runners uploaded, one row for each name.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "loop_artifacts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub loop_id: Uuid,
    #[sea_orm(primary_key, auto_increment = false)]
    pub name: String,
    // JSON text as it was uploaded. Not a JSON column: a response passes it on without parsing it.
    #[sea_orm(column_type = "Text")]
    pub content: String,
    // Length of name and content; the limit of a loop is checked without reading the contents.
    pub bytes: i64,
    pub uploaded_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
