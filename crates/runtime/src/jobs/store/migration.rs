//! Migrations of the job database. A released migration must not change.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::{big_integer, blob, boolean, integer, pk_auto, string, text, text_null};

/// All migrations, oldest first.
pub(super) struct JobMigrator;

#[async_trait::async_trait]
impl MigratorTrait for JobMigrator {
    fn migrations() -> Vec<Box<dyn MigrationTrait>> {
        vec![
            Box::new(JobsOutboxTokens),
            Box::new(JobsByState),
            Box::new(JobsByNotice),
            Box::new(OutboxRefusals),
            Box::new(LaunchRequests),
            Box::new(super::command_log::Commands),
            Box::new(JobNames),
        ]
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
}

/// Indexes for the queries of a start, which must not read all ended jobs.
struct JobsByState;

impl MigrationName for JobsByState {
    fn name(&self) -> &'static str {
        "m0002_jobs_by_state"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for JobsByState {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // Existing rows may need a cleanup; the next start checks.
        let to_clear = Table::alter().table("job").add_column(boolean("to_clear").default(true)).take();
        manager.alter_table(to_clear).await?;
        let index =
            Index::create().name("job_by_state").table("job").col("terminal").col("updated_at").take();
        manager.create_index(index).await?;
        let reported =
            Index::create().name("job_by_report").table("job").col("terminal").col("reported").take();
        manager.create_index(reported).await?;
        let cleared =
            Index::create().name("job_by_ground").table("job").col("terminal").col("to_clear").take();
        manager.create_index(cleared).await
    }
}

/// Index for pending notifications.
struct JobsByNotice;

impl MigrationName for JobsByNotice {
    fn name(&self) -> &'static str {
        "m0003_jobs_by_notice"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for JobsByNotice {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let pending_notifications =
            Table::alter().table("job").add_column(boolean("untold").default(false)).take();
        manager.alter_table(pending_notifications).await?;
        // The record omits the member when there are no pending notifications.
        let has_notices = Expr::col("record").like("%\"notices\":[%");
        manager
            .execute(Query::update().table("job").value("untold", true).and_where(has_notices).take())
            .await?;
        manager.create_index(Index::create().name("job_by_notice").table("job").col("untold").take()).await
    }
}

/// Column for the reason of a permanent rejection.
struct OutboxRefusals;

impl MigrationName for OutboxRefusals {
    fn name(&self) -> &'static str {
        "m0004_outbox_refusals"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for OutboxRefusals {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.alter_table(Table::alter().table("outbox").add_column(text_null("refusal")).take()).await
    }
}

/// Table for launch requests of loops without a process.
struct LaunchRequests;

impl MigrationName for LaunchRequests {
    fn name(&self) -> &'static str {
        "m0005_launch_requests"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LaunchRequests {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let requests = Table::create()
            .table("launch_request")
            .col(string("loop_id").primary_key())
            .col(blob("sealed"))
            .take();
        manager.create_table(requests).await
    }
}

/// Renames a column and an index.
struct JobNames;

impl MigrationName for JobNames {
    fn name(&self) -> &'static str {
        "m0007_job_names"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for JobNames {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let column = Table::alter().table("job").rename_column("untold", "pending_notifications").take();
        manager.alter_table(column).await?;
        manager.drop_index(Index::drop().name("job_by_ground").table("job").to_owned()).await?;
        let by_cleanup =
            Index::create().name("job_by_cleanup").table("job").col("terminal").col("to_clear").take();
        manager.create_index(by_cleanup).await
    }
}
