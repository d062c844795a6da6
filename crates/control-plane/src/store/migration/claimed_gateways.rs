//! Gateway ids that desktops name without a proof.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Adds the gateway id that a desktop names. Before, desktops without a bound key were identified by their host
/// name, so that two machines with the same name replaced each other.
pub struct ClaimedGatewayIds;

impl MigrationName for ClaimedGatewayIds {
    fn name(&self) -> &'static str {
        "m0017_claimed_gateway_ids"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for ClaimedGatewayIds {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let claimed = uuid_null("claimed_gateway_id");
        manager.alter_table(Table::alter().table("compute_targets").add_column(claimed).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
