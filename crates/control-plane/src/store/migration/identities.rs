//! Identities of people across organizations, and sign-in with a password.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::{plain, unique};
use super::schema::table;

/// Adds identities, shared by all users of one person, and the columns and tables of password sign-in.
pub struct Identities;

impl MigrationName for Identities {
    fn name(&self) -> &'static str {
        "m0004_identities"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Identities {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(identities()).await?;
        manager.create_table(sign_in_attempts()).await?;
        let added = [
            // Nullable, because SQLite cannot add a NOT NULL column without a default. Every row gets a value
            // below.
            ("users", uuid_null("identity_id")),
            ("sessions", string_null("address")),
            ("sessions", text_null("user_agent")),
        ];
        for (table, column) in added {
            manager.alter_table(Table::alter().table(table).add_column(column).take()).await?;
        }
        create_identity_for_each_user(manager).await?;
        // Two people of one organization may have the same e-mail address at different identity providers.
        let by_email = Index::drop().name("ix_users_organization_id_email").table("users").to_owned();
        manager.drop_index(by_email).await?;
        let indexes = [
            unique("identities", &["sign_in_email"]),
            unique("users", &["organization_id", "identity_id"]),
            plain("users", &["identity_id"]),
            plain("sessions", &["user_id"]),
            plain("sign_in_attempts", &["account_hash", "at"]),
            plain("sign_in_attempts", &["address", "at"]),
            plain("sign_in_attempts", &["at"]),
        ];
        for index in indexes {
            manager.create_index(index).await?;
        }
        Ok(())
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

async fn create_identity_for_each_user(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let users = Query::select().columns(["id", "created_at"]).from("users").take();
    // A user's id becomes the id of its identity, which links both without a lookup table.
    let mut identities = Query::insert();
    identities.into_table("identities").columns(["id", "created_at"]);
    identities.select_from(users).map_err(|error| DbErr::Migration(error.to_string()))?;
    manager.execute(identities).await?;
    let link = Query::update().table("users").value("identity_id", Expr::col("id")).take();
    manager.execute(link).await
}

fn identities() -> TableCreateStatement {
    let mut table = table("identities", &["id"]);
    table.col(uuid("id"));
    table.col(string_null("sign_in_email"));
    table.col(string_null("password_hash"));
    table.col(big_integer("created_at"));
    table
}

fn sign_in_attempts() -> TableCreateStatement {
    let mut table = table("sign_in_attempts", &["id"]);
    table.col(uuid("id"));
    table.col(string("account_hash"));
    table.col(string("address"));
    table.col(big_integer("at"));
    table
}
