//! Schema migrations, oldest first.
//!
//! A released migration never changes; further changes are new migrations. The previous version runs beside this one during an
//! upgrade: tables and columns are added first, and removed by a later version than the one that stops using them. A
//! migration that an earlier version cannot work with changes the row of `schema_compatibility`. Statements use the query builder,
//! so that one definition serves SQLite and PostgreSQL.

mod accounts;
mod agents;
mod bound_links;
mod change_requests;
mod change_reviews;
mod claimed_gateways;
mod compatibility;
mod deployments;
mod desktop_grants;
mod diagnostics;
mod document_attachments;
mod document_authors;
mod documents;
mod event_values;
mod identities;
mod indexes;
mod instances;
mod keyed_requests;
mod loop_contents;
mod loop_launches;
mod loop_lists;
mod loops;
mod oidc;
mod open_findings;
mod organizations;
mod password_resets;
mod proposals;
mod pull_requests;
mod schema;
mod signing;
mod spending;
mod target_settings;
mod targets;
mod tickets;
mod work_list;

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema as columns;

pub struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            // The name of a migration, not its position, identifies it in the database. New ones go to the
            // end.
            Box::new(FirstTables),
            Box::new(CommandCancellation),
            Box::new(agents::CreateAgents),
            Box::new(identities::Identities),
            Box::new(loop_lists::LoopLists),
            Box::new(spending::Spending),
            Box::new(organizations::Organizations),
            Box::new(tickets::Tickets),
            Box::new(diagnostics::CreateLoopDiagnostics),
            Box::new(signing::CreateSigning),
            Box::new(oidc::Oidc),
            Box::new(target_settings::TargetSettings),
            Box::new(proposals::CreateAgentProposals),
            Box::new(desktop_grants::CommandGrant),
            Box::new(desktop_grants::GatewayIdsPerOwner),
            Box::new(loop_launches::LoopLaunches),
            Box::new(document_authors::DocumentAuthors),
            Box::new(bound_links::BoundSignInLinks),
            Box::new(claimed_gateways::ClaimedGatewayIds),
            Box::new(loop_contents::LoopContents),
            Box::new(loop_contents::UsageDays),
            Box::new(password_resets::PasswordResets),
            Box::new(keyed_requests::KeyedRequests),
            Box::new(change_requests::ChangeRequests),
            Box::new(event_values::EventValues),
            Box::new(pull_requests::PullRequestStandings),
            Box::new(work_list::WorkList),
            Box::new(document_attachments::DocumentAttachments),
            Box::new(change_reviews::CommentsOnChanges),
            Box::new(open_findings::CreateOpenFindings),
            Box::new(deployments::CreateDeployments),
            Box::new(instances::Instances),
            Box::new(compatibility::SchemaCompatibility),
        ]
    }
}

struct FirstTables;

impl MigrationName for FirstTables {
    fn name(&self) -> &'static str {
        "m0001_first_tables"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for FirstTables {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let tables = [accounts::tables(), targets::tables(), documents::tables(), loops::tables()];
        for table in tables.into_iter().flatten() {
            manager.create_table(table).await?;
        }
        for index in indexes::first() {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        // sea-orm uses a transaction by default only on PostgreSQL. SQLite supports transactional DDL, too;
        // without one, a killed process would leave half a schema.
        Some(true)
    }
}

// Persists cancellation requests of commands beyond the connection on which they were sent.
struct CommandCancellation;

impl MigrationName for CommandCancellation {
    fn name(&self) -> &'static str {
        "m0002_command_cancellation"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CommandCancellation {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = columns::big_integer_null("cancel_requested_at");
        manager.alter_table(Table::alter().table("desktop_commands").add_column(column).take()).await
    }
}
