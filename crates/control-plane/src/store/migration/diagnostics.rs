//! Table of crash diagnostics from desktops.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table of loop diagnostics.
pub struct CreateLoopDiagnostics;

impl MigrationName for CreateLoopDiagnostics {
    fn name(&self) -> &'static str {
        "m0009_loop_diagnostics"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateLoopDiagnostics {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        // A separate table: diagnostics are large, and lists of loops do not read them.
        let mut diagnostics = table("loop_diagnostics", &["loop_id"]);
        diagnostics.col(uuid("loop_id"));
        diagnostics.col(json_binary("diagnostics"));
        diagnostics.col(big_integer("created_at"));
        diagnostics.foreign_key(&mut references(
            "loop_diagnostics",
            "loop_id",
            "loops",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(diagnostics).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
