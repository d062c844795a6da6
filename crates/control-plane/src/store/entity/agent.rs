//! Expert agents: named prompts that are passed to the loops of their repositories.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "agents")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub slug: String,
    pub role: String,
    // Normalized role, for the unique index.
    pub role_key: String,
    pub name: String,
    #[sea_orm(column_type = "Text", nullable)]
    pub description: Option<String>,
    #[sea_orm(column_type = "Text")]
    pub prompt: String,
    pub enabled: bool,
    // `<org>/<repo>`, or empty for all repositories of the organization. Not NULL: NULLs are distinct in a
    // unique index.
    pub source_repo: String,
    pub bootstrap_run_id: Option<String>,
    pub current_version: i64,
    pub created_by: Uuid,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
