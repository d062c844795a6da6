//! Table of the findings that wait for a decision.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table.
pub struct CreateOpenFindings;

impl MigrationName for CreateOpenFindings {
    fn name(&self) -> &'static str {
        "m0027_open_findings"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateOpenFindings {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "open_findings";
        let mut findings = table(name, &["loop_id", "repository"]);
        findings.col(uuid("loop_id"));
        findings.col(string("repository"));
        findings.col(integer("count"));
        findings.foreign_key(&mut references(name, "loop_id", "loops", ForeignKeyAction::Cascade));
        manager.create_table(findings).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
