//! Tables of signed commands.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::{plain, unique};
use super::schema::{references, table};

/// Creates the tables of browser keys and issued execution credentials.
pub struct CreateSigning;

impl MigrationName for CreateSigning {
    fn name(&self) -> &'static str {
        "m0010_signing"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateSigning {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut keys = table("user_public_keys", &["id"]);
        keys.col(uuid("id"));
        keys.col(uuid("organization_id"));
        keys.col(uuid("user_id"));
        keys.col(string("public_key"));
        keys.col(string("fingerprint"));
        keys.col(big_integer("created_at"));
        keys.foreign_key(&mut references("user_public_keys", "user_id", "users", ForeignKeyAction::Cascade));
        manager.create_table(keys).await?;
        manager.create_index(unique("user_public_keys", &["user_id", "fingerprint"])).await?;
        manager.create_index(plain("user_public_keys", &["organization_id"])).await?;

        // The primary key ensures that the credentials of a command are issued once.
        let mut consumptions = table("loop_execution_credential_consumptions", &["command_id"]);
        consumptions.col(uuid("command_id"));
        consumptions.col(big_integer("consumed_at"));
        consumptions.foreign_key(&mut references(
            "loop_execution_credential_consumptions",
            "command_id",
            "desktop_commands",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(consumptions).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
