//! Table of the files of documents, and the options of loops.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table of attachments, and adds what a user selected for a loop.
pub struct DocumentAttachments;

impl MigrationName for DocumentAttachments {
    fn name(&self) -> &'static str {
        "m0024_document_attachments"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for DocumentAttachments {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "document_attachments";
        let mut attachments = table(name, &["document_id", "position"]);
        attachments.col(uuid("document_id"));
        attachments.col(big_integer("position"));
        attachments.col(uuid("id"));
        attachments.col(text("filename"));
        attachments.col(string("mime_type"));
        attachments.col(big_integer("size_bytes"));
        attachments.col(string("sha256"));
        attachments.foreign_key(&mut references(name, "document_id", "documents", ForeignKeyAction::Cascade));
        manager.create_table(attachments).await?;
        let options = json_binary_null("options").take();
        manager.alter_table(Table::alter().table("loop_contents").add_column(options).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
