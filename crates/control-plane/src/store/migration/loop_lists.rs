//! Indexes for the list of loops. They match its sort order, so that the cost of a page does not depend on
//! the number of loops.

use sea_orm_migration::prelude::*;

use super::indexes::plain;

/// Creates the indexes for the unfiltered list, and for the lists by status, command and document.
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
