//! Table of links that set a new password.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the table of password resets.
pub struct PasswordResets;

impl MigrationName for PasswordResets {
    fn name(&self) -> &'static str {
        "m0019_password_resets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PasswordResets {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "password_resets";
        let mut resets = table(name, &["token_hash"]);
        resets.col(string("token_hash"));
        resets.col(uuid("user_id"));
        resets.col(boolean("by_operator"));
        resets.col(big_integer("created_at"));
        resets.col(big_integer("expires_at"));
        resets.col(big_integer_null("consumed_at"));
        resets.foreign_key(&mut references(name, "user_id", "users", ForeignKeyAction::Cascade));
        manager.create_table(resets).await?;
        manager.create_index(plain(name, &["user_id"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
