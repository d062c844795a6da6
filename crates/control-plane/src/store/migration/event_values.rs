//! Table of the large values of events.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table of large values of events.
pub struct EventValues;

impl MigrationName for EventValues {
    fn name(&self) -> &'static str {
        "m0022_event_values"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for EventValues {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "loop_event_values";
        let mut values = table(name, &["event_id"]);
        values.col(uuid("event_id"));
        values.col(json_binary("data"));
        values.foreign_key(&mut references(name, "event_id", "loop_events", ForeignKeyAction::Cascade));
        manager.create_table(values).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
