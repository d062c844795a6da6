//! Invitations to an organization. Only the hash of the token is stored.

use sea_orm::entity::prelude::*;

use super::user::Role;
use crate::store::column::StoredEnum;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "invitations")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    pub organization_id: Uuid,
    // Lower-case, as `EmailAddress` normalizes it.
    pub email: String,
    pub role: StoredEnum<Role>,
    pub token_hash: String,
    pub created_by: Uuid,
    pub created_at: i64,
    pub expires_at: i64,
    pub accepted_at: Option<i64>,
    pub revoked_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
