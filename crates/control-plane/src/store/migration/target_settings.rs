//! Health checks of desktops, and the compute mode that users prefer.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::unique;
use super::schema::{references, table};

/// Creates the table of health checks and adds the preferred compute mode.
pub struct TargetSettings;

impl MigrationName for TargetSettings {
    fn name(&self) -> &'static str {
        "m0012_target_settings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for TargetSettings {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "compute_target_health_checks";
        let mut checks = table(name, &["id"]);
        checks.col(uuid("id"));
        checks.col(uuid("organization_id"));
        checks.col(uuid("compute_target_id"));
        checks.col(big_integer("checked_at"));
        checks.col(text_null("expected_mcp_url"));
        checks.col(string_null("latest_version"));
        checks.col(boolean_null("plugin_auto_update_enabled"));
        checks.col(json_binary("result"));
        checks.col(big_integer("created_at"));
        checks.col(big_integer("updated_at"));
        checks.foreign_key(&mut references(
            name,
            "compute_target_id",
            "compute_targets",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(checks).await?;
        // Only the latest check of a desktop is kept.
        manager.create_index(unique(name, &["compute_target_id"])).await?;
        let mode = string_null("preferred_compute_mode");
        manager.alter_table(Table::alter().table("users").add_column(mode).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
