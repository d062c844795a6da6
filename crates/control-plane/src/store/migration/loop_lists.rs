//! Indexes in the order of the list of loops, so that a page costs the same however many loops there are.

use sea_orm_migration::prelude::*;

use super::indexes::plain;

/// Makes them, for the whole list and for that of a status, a command or a document.
pub struct LoopLists;

impl MigrationName for LoopLists {
    fn name(&self) -> &'static str {
        "m0005_loop_lists"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LoopLists {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for first in [&[][..], &["status"], &["command"], &["document_id"]] {
            let columns = [&["organization_id"], first, &["created_at", "id"]].concat();
            manager.create_index(plain("loops", &columns)).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
