//! Tables of agents.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::{plain, unique};
use super::schema::{references, table};

/// Creates the tables of agents, their versions and the settings of bootstrapped repositories.
pub struct CreateAgents;

impl MigrationName for CreateAgents {
    fn name(&self) -> &'static str {
        "m0003_agents"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateAgents {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in [agents(), agent_versions(), repository_configs()] {
            manager.create_table(table).await?;
        }
        let indexes = [
            unique("agents", &["organization_id", "slug"]),
            // Bootstrapping a repository again updates the agent of a role instead of adding another one.
            unique("agents", &["organization_id", "source_repo", "role_key"]),
            plain("agents", &["organization_id", "enabled"]),
            unique("agent_versions", &["agent_id", "version"]),
        ];
        for index in indexes {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

fn agents() -> TableCreateStatement {
    let mut table = table("agents", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(string("slug"));
    table.col(string("role"));
    table.col(string("role_key"));
    table.col(string("name"));
    table.col(text_null("description"));
    table.col(text("prompt"));
    table.col(boolean("enabled"));
    table.col(string("source_repo"));
    table.col(string_null("bootstrap_run_id"));
    table.col(big_integer("current_version"));
    table.col(uuid("created_by"));
    table.col(big_integer("created_at"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references(
        "agents",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn agent_versions() -> TableCreateStatement {
    let mut table = table("agent_versions", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("agent_id"));
    table.col(big_integer("version"));
    table.col(string("name"));
    table.col(text("prompt"));
    table.col(text_null("change_note"));
    table.col(uuid("changed_by"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references("agent_versions", "agent_id", "agents", ForeignKeyAction::Cascade));
    table
}

fn repository_configs() -> TableCreateStatement {
    let mut table = table("repository_configs", &["organization_id", "repo_full_name"]);
    table.col(uuid("organization_id"));
    table.col(string("repo_full_name"));
    table.col(json_binary("critic_gates"));
    table.col(string("bootstrap_run_id"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references(
        "repository_configs",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}
