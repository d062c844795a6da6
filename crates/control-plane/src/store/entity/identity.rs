//! People who can sign in, independent of the organizations that they belong to.

use sea_orm::entity::prelude::*;

#[derive(Clone, Debug, PartialEq, DeriveEntityModel)]
#[sea_orm(table_name = "identities")]
pub struct Model {
    #[sea_orm(primary_key, auto_increment = false)]
    pub id: Uuid,
    // Lower-case name of the local account; set exactly when `password_hash` is.
    pub sign_in_email: Option<String>,
    // Argon2id, as a PHC string.
    pub password_hash: Option<String>,
    pub created_at: i64,
}

#[derive(Copy, Clone, Debug, EnumIter, DeriveRelation)]
pub enum Relation {}

impl ActiveModelBehavior for ActiveModel {}
