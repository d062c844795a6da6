//! A sign-in that is on its way through an OpenID provider. Used once.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, Eq, DeriveEntityModel)]
#[sea_orm(table_name = "oidc_sign_ins")]
pub struct Model {
    /// Hash of the state that comes back with the browser.
    #[sea_orm(primary_key, auto_increment = false)]
    pub state_hash: String,
    /// Hash of the secret that the browser keeps meanwhile.
    pub browser_hash: String,
    pub nonce: String,
    pub pkce_verifier: String,
    /// Path of the page to go on to.
    pub return_to: Option<String>,
    /// Hash of the token of an invitation that is to be accepted.
    pub invitation_hash: Option<String>,
    pub expires_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
