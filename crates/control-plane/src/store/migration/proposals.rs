//! Proposed changes of agents.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the table of rosters that wait for an administrator.
pub struct CreateAgentProposals;

impl MigrationName for CreateAgentProposals {
    fn name(&self) -> &'static str {
        "m0013_agent_proposals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateAgentProposals {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "agent_proposals";
        let mut proposals = table(name, &["id"]);
        proposals.col(uuid("id"));
        proposals.col(uuid("organization_id"));
        proposals.col(uuid("user_id"));
        proposals.col(uuid("loop_id"));
        proposals.col(string("source_repo"));
        proposals.col(json_binary("roster"));
        proposals.col(string("status"));
        proposals.col(uuid_null("decided_by"));
        proposals.col(big_integer_null("decided_at"));
        proposals.col(big_integer("created_at"));
        proposals.foreign_key(&mut references(
            name,
            "organization_id",
            "organizations",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(proposals).await?;
        manager.create_index(plain(name, &["organization_id", "status"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
