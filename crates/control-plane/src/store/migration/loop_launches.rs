//! Table of launches whose command is not stored yet.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the table of launches.
pub struct LoopLaunches;

impl MigrationName for LoopLaunches {
    fn name(&self) -> &'static str {
        "m0016_loop_launches"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for LoopLaunches {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut launches = table("loop_launches", &["loop_id"]);
        launches.col(uuid("loop_id"));
        launches.col(uuid("compute_target_id"));
        launches.col(boolean("is_signed"));
        launches.col(uuid_null("owner"));
        launches.col(big_integer("leased_until"));
        launches.col(big_integer("attempts"));
        launches.col(big_integer("created_at"));
        launches.foreign_key(&mut references("loop_launches", "loop_id", "loops", ForeignKeyAction::Cascade));
        manager.create_table(launches).await?;
        // Serves the search for commands that no desktop has received in time.
        manager.create_index(plain("desktop_commands", &["status", "created_at"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
