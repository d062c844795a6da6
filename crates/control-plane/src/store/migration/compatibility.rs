//! The oldest version that can use the schema.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::table;

/// Creates the table, whose only row is changed by each migration that earlier versions cannot work with.
pub struct SchemaCompatibility;

impl MigrationName for SchemaCompatibility {
    fn name(&self) -> &'static str {
        "m0030_schema_compatibility"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for SchemaCompatibility {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let mut compatibility = table("schema_compatibility", &["minimum_version"]);
        compatibility.col(string("minimum_version"));
        manager.create_table(compatibility).await?;
        let mut row = Query::insert();
        row.into_table("schema_compatibility").columns(["minimum_version"]).values_panic(["0.13.18".into()]);
        manager.execute(row).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
