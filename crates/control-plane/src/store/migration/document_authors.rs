//! Authors of document versions, and the numbers reserved for plans.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Adds who wrote a version, and the number that a document reserves for its plan.
pub struct DocumentAuthors;

impl MigrationName for DocumentAuthors {
    fn name(&self) -> &'static str {
        "m0017_document_authors"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for DocumentAuthors {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let author = uuid_null("user_id").take();
        manager.alter_table(Table::alter().table("document_versions").add_column(author).take()).await?;
        let number = big_integer_null("planned_number").take();
        manager.alter_table(Table::alter().table("documents").add_column(number).take()).await?;
        // PLAN loops reserved the number in their slug before.
        let sql = "UPDATE documents SET planned_number = (SELECT CAST(SUBSTR(artifact_slug, 6) AS BIGINT) \
            FROM loops WHERE loops.document_id = documents.id AND loops.command = 'PLAN' \
            AND loops.artifact_slug LIKE 'plan-%' ORDER BY loops.created_at DESC LIMIT 1) \
            WHERE kind <> 'IMPLEMENTATION_PLAN'";
        manager.get_connection().execute_unprepared(sql).await?;
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
