//! The latest check of programs and plugins on a desktop.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "compute_target_health_checks")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    pub compute_target_id: Uuid,
    pub checked_at: i64,
    pub expected_mcp_url: Option<String>,
    pub latest_version: Option<String>,
    pub plugin_auto_update_enabled: Option<bool>,
    #[sea_orm(column_type = "JsonBinary")]
    pub result: Json,
    pub created_at: i64,
    pub updated_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
