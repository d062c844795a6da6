//! Columns and tables of the list of change requests: progress, deletion, and saved views.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Adds them. Rows without `updated_at` are derived again at the next start.
pub struct WorkList;

impl MigrationName for WorkList {
    fn name(&self) -> &'static str {
        "m0025_work_list"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for WorkList {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let columns = [
            ("loops", json_binary_null("tasks")),
            ("documents", big_integer_null("deleted_at")),
            ("change_requests", json_binary_null("progress")),
            ("change_requests", big_integer("updated_at").default(0).take()),
        ];
        for (table, column) in columns {
            manager.alter_table(Table::alter().table(table).add_column(column).take()).await?;
        }
        for table in ["change_requests", "loops"] {
            manager.create_index(plain(table, &["organization_id", "updated_at"])).await?;
        }
        manager.create_index(plain("documents", &["deleted_at"])).await?;
        manager.create_index(plain("audit_log", &["subject"])).await?;

        let name = "saved_views";
        let mut views = table(name, &["user_id"]);
        views.col(uuid("user_id"));
        views.col(json_binary("views"));
        views.foreign_key(&mut references(name, "user_id", "users", ForeignKeyAction::Cascade));
        manager.create_table(views).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
