//! One-time permissions to connect a desktop. Only the hash of the id is stored.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "desktop_onboarding_attempts")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub attempt_hash: String,
    pub user_id: Uuid,
    pub organization_id: Uuid,
    pub web_app_origin: String,
    pub gateway_id: Option<Uuid>,
    pub created_at: i64,
    pub expires_at: i64,
    pub consumed_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
