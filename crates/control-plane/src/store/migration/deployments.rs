//! Table of the deployments on desktops.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Creates the table.
pub struct CreateDeployments;

impl MigrationName for CreateDeployments {
    fn name(&self) -> &'static str {
        "m0028_deployments"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for CreateDeployments {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "deployments";
        let mut deployments = table(name, &["loop_id"]);
        deployments.col(uuid("loop_id"));
        deployments.col(uuid("compute_target_id"));
        deployments.col(string("state"));
        for (column, target) in [("loop_id", "loops"), ("compute_target_id", "compute_targets")] {
            deployments.foreign_key(&mut references(name, column, target, ForeignKeyAction::Cascade));
        }
        manager.create_table(deployments).await?;
        let index =
            Index::create().name("idx_deployments_target").table(name).col("compute_target_id").to_owned();
        manager.create_index(index).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
