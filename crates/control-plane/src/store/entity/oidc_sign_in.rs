//! Pending sign-ins at an OpenID provider. Finishing one deletes its row.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oidc_sign_ins")]
pub struct Model {
    // Hash of the `state` parameter that the provider returns.
    #[sea_orm(primary_key, auto_increment = false)]
    pub state_hash: String,
    // Hash of the secret in the browser's cookie: only the browser that started the sign-in can finish it.
    pub browser_hash: String,
    pub nonce: String,
    pub pkce_verifier: String,
    // Path of the page to open afterwards.
    pub return_to: Option<String>,
    // Hash of the token of an invitation to accept.
    pub invitation_hash: Option<String>,
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
