//! Tables of the instances that share a database, and of the connections that they hold.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the tables.
pub struct Instances;

impl MigrationName for Instances {
    fn name(&self) -> &'static str {
        "m0029_instances"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Instances {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut instances = table("instances", &["id"]);
        instances.col(uuid("id"));
        instances.col(string("version"));
        instances.col(big_integer("seen_at"));
        manager.create_table(instances).await?;
        let name = "desktop_connections";
        let mut connections = table(name, &["compute_target_id"]);
        connections.col(uuid("compute_target_id"));
        connections.col(uuid("session_id"));
        connections.col(uuid("instance_id"));
        connections.foreign_key(&mut references(
            name,
            "compute_target_id",
            "compute_targets",
            ForeignKeyAction::Cascade,
        ));
        manager.create_table(connections).await?;
        manager.create_index(plain(name, &["instance_id"])).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
