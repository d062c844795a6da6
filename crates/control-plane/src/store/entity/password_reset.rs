//! One-time links with which a person sets a new password. Only the hash of the token is stored.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "password_resets")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_hash: String,
    // The user as whom the person is signed in afterwards. The password is that of the user's identity.
    pub user_id: Uuid,
    // Whether the operator created the link, and not an administrator of the user's organization.
    pub by_operator: bool,
    pub created_at: i64,
    pub expires_at: i64,
    // Also set when a newer link replaces this one.
    pub consumed_at: Option<i64>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
