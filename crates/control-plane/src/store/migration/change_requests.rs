//! Tables of change requests, and the activity of loops.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the tables of change requests. Their rows are derived from documents and loops at the next start.
pub struct ChangeRequests;

impl MigrationName for ChangeRequests {
    fn name(&self) -> &'static str {
        "m0021_change_requests"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for ChangeRequests {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let activity = json_binary_null("activity");
        manager.alter_table(Table::alter().table("loops").add_column(activity).take()).await?;

        let name = "change_requests";
        let mut requests = table(name, &["document_id"]);
        requests.col(uuid("document_id"));
        requests.col(uuid("organization_id"));
        requests.col(uuid("user_id"));
        requests.col(string("state"));
        requests.col(string_null("attention"));
        requests.col(uuid_null("loop_id"));
        requests.col(json_binary("details"));
        requests.col(double_null("cost"));
        requests.col(big_integer_null("archived_at"));
        requests.col(big_integer("changed_at"));
        requests.foreign_key(&mut references(name, "document_id", "documents", ForeignKeyAction::Cascade));
        manager.create_table(requests).await?;
        for first in [&[][..], &["state"], &["attention"], &["user_id"]] {
            let columns = [&["organization_id"], first, &["changed_at", "document_id"]].concat();
            manager.create_index(plain(name, &columns)).await?;
        }

        let name = "change_request_marks";
        let mut marks = table(name, &["user_id", "document_id"]);
        marks.col(uuid("user_id"));
        marks.col(uuid("document_id"));
        marks.col(big_integer_null("seen_at"));
        marks.col(big_integer_null("snoozed_until"));
        marks.foreign_key(&mut references(name, "user_id", "users", ForeignKeyAction::Cascade));
        marks.foreign_key(&mut references(name, "document_id", "documents", ForeignKeyAction::Cascade));
        manager.create_table(marks).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
