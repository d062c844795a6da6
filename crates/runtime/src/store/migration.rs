//! The steps from an empty file to the tables of today. A step that was released never changes.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, boolean, integer, pk_auto, string, text};

/// Every step, oldest first.
pub(super) struct Migrator;

#[async_trait::async_trait]
impl MigratorTrait for Migrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![Box::new(JobsOutboxTokens)]
    }
}

struct JobsOutboxTokens;

impl MigrationName for JobsOutboxTokens {
    fn name(&self) -> &'static str {
        "m0001_jobs_outbox_tokens"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for JobsOutboxTokens {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let jobs = Table::create()
            .table("job")
            .col(string("loop_id").primary_key())
            .col(string("status"))
            .col(boolean("terminal"))
            .col(boolean("reported"))
            .col(text("record"))
            .col(big_integer("updated_at"))
            .take();
        manager.create_table(jobs).await?;
        let outbox = Table::create()
            .table("outbox")
            .col(pk_auto("id"))
            .col(string("loop_id"))
            .col(string("nonce"))
            .col(string("kind"))
            .col(text("body"))
            .col(integer("attempts"))
            .take();
        manager.create_table(outbox).await?;
        let by_loop = Index::create().name("outbox_by_loop").table("outbox").col("loop_id").col("id").take();
        manager.create_index(by_loop).await?;
        let tokens = Table::create()
            .table("loop_token")
            .col(string("loop_id").primary_key())
            .col(blob("sealed"))
            .take();
        manager.create_table(tokens).await
    }

    async fn down(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for table in ["loop_token", "outbox", "job"] {
            manager.drop_table(Table::drop().table(table).take()).await?;
        }
        Ok(())
    }
}
