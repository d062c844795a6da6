//! Permissions on desktops: commands of members, and gateway ids for each owner.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::unique;

/// Adds the permission to send commands to a shared desktop.
pub struct CommandGrant;

impl MigrationName for CommandGrant {
    fn name(&self) -> &'static str {
        "m0014_command_grant"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CommandGrant {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Desktops that were shared before are shared for loops only, as their owners now read on the page.
        let grant = boolean("grants_commands").default(false).take();
        manager.alter_table(Table::alter().table("compute_targets").add_column(grant).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

/// Makes gateway ids unique for each owner. Before, the first user who named an id excluded its owner.
pub struct GatewayIdsPerOwner;

impl MigrationName for GatewayIdsPerOwner {
    fn name(&self) -> &'static str {
        "m0015_gateway_ids_per_owner"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for GatewayIdsPerOwner {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let table = "compute_targets";
        let global = Index::drop().name("ix_compute_targets_gateway_id").table(table).to_owned();
        manager.drop_index(global).await?;
        manager.create_index(unique(table, &["organization_id", "user_id", "gateway_id"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
