//! One-time sign-in links. Only the hash of the token is stored.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "sign_in_links")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub token_hash: String,
    pub user_id: Uuid,
    pub expires_at: i64,
    pub consumed_at: Option<i64>,
    // How the user authenticated, for the audit log; `link` when NULL.
    pub method: Option<String>,
    // Hash of the secret that the browser must have; NULL when any browser can use the link.
    pub browser_hash: Option<String>,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
