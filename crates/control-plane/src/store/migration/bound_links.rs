//! Sign-in links that only one browser can use.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

/// Adds the browser to which a link is bound.
pub struct BoundSignInLinks;

impl MigrationName for BoundSignInLinks {
    fn name(&self) -> &'static str {
        "m0018_bound_sign_in_links"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for BoundSignInLinks {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let browser = string_null("browser_hash").take();
        manager.alter_table(Table::alter().table("sign_in_links").add_column(browser).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
