//! Browser sessions. Only the hash of a session's secrets is stored.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sessions")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id_hash: String,
    pub user_id: Uuid,
    // The organization of the user row that was selected at sign-in or last switched to.
    pub organization_id: Uuid,
    pub created_at: i64,
    // Rolling expiry, extended by requests up to `absolute_expires_at`.
    pub expires_at: i64,
    pub absolute_expires_at: i64,
    pub revoked_at: Option<i64>,
    // Client address of the sign-in.
    pub address: Option<String>,
    pub user_agent: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
