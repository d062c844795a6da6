//! What desktops report about pull requests.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Adds the reported standing of a pull request and the time of the report. Both are absent until its desktop reports it.
pub struct PullRequestStandings;

impl MigrationName for PullRequestStandings {
    fn name(&self) -> &'static str {
        "m0023_pull_request_standings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for PullRequestStandings {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        for column in [json_binary_null("standing"), big_integer_null("reported_at")] {
            manager.alter_table(Table::alter().table("pull_requests").add_column(column).take()).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
