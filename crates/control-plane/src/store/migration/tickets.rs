//! Table of tickets.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::unique;
use super::schema::{references, table};

/// Creates the table of tickets.
pub struct Tickets;

impl MigrationName for Tickets {
    fn name(&self) -> &'static str {
        "m0008_tickets"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Tickets {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // The document's id is also the ticket's, which makes the relation one-to-one.
        let mut tickets = table("tickets", &["document_id"]);
        tickets.col(uuid("document_id"));
        tickets.col(uuid("organization_id"));
        tickets.col(string("slug"));
        tickets.col(json_binary("additional_repos"));
        tickets.col(string("state"));
        tickets.foreign_key(&mut references(
            "tickets",
            "document_id",
            "documents",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(tickets).await?;
        manager.create_index(unique("tickets", &["organization_id", "slug"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
