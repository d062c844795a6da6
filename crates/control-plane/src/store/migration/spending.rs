//! Table of loop spending.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the table of loop spending.
pub struct Spending;

impl MigrationName for Spending {
    fn name(&self) -> &'static str {
        "m0006_spending"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Spending {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut spending = table("loop_spending", &["loop_id", "day"]);
        spending.col(uuid("loop_id"));
        spending.col(big_integer("day"));
        spending.col(uuid("organization_id"));
        spending.col(big_integer("micros"));
        spending.foreign_key(&mut references("loop_spending", "loop_id", "loops", ForeignKeyAction::Cascade));
        manager.create_table(spending).await?;
        // Serves the sums per organization and period, computed at every launch.
        manager.create_index(plain("loop_spending", &["organization_id", "day"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
