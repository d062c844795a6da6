//! A signed-in browser. Only the hash of its id is stored.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id_hash: String,
    pub user_id: Uuid,
    pub organization_id: Uuid,
    pub created_at: i64,
    pub expires_at: i64,
    pub absolute_expires_at: i64,
    pub revoked_at: Option<i64>,
    /// Where the sign-in came from.
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
