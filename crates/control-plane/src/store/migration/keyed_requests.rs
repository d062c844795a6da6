//! Table of requests that carried an idempotency key.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table of keyed requests.
pub struct KeyedRequests;

impl MigrationName for KeyedRequests {
    fn name(&self) -> &'static str {
        "m0020_keyed_requests"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for KeyedRequests {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "keyed_requests";
        let mut requests = table(name, &["user_id", "key"]);
        requests.col(uuid("user_id"));
        requests.col(string("key"));
        requests.col(string("fingerprint"));
        requests.col(uuid_null("document_id"));
        requests.col(uuid_null("loop_id"));
        requests.col(big_integer("created_at"));
        requests.foreign_key(&mut references(name, "user_id", "users", ForeignKeyAction::Cascade));
        manager.create_table(requests).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
