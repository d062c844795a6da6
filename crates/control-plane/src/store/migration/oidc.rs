//! Sign-in through an OpenID provider.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::indexes::plain;
use super::schema::{references, table};

/// Creates the tables of external identities and pending sign-ins, and adds the method of sign-in links.
pub struct Oidc;

impl MigrationName for Oidc {
    fn name(&self) -> &'static str {
        "m0011_oidc"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Oidc {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        let name = "external_identities";
        let mut identities = table(name, &["issuer", "subject"]);
        identities.col(string("issuer"));
        identities.col(string("subject"));
        identities.col(uuid("identity_id"));
        identities.col(big_integer("created_at"));
        identities.foreign_key(&mut references(name, "identity_id", "identities", ForeignKeyAction::Cascade));
        manager.create_table(identities).await?;
        manager.create_index(plain(name, &["identity_id"])).await?;

        let mut sign_ins = table("oidc_sign_ins", &["state_hash"]);
        sign_ins.col(string("state_hash"));
        sign_ins.col(string("browser_hash"));
        sign_ins.col(string("nonce"));
        sign_ins.col(string("pkce_verifier"));
        sign_ins.col(text_null("return_to"));
        // Pending sign-ins are not kept in memory: the callback may reach another instance.
        sign_ins.col(string_null("invitation_hash"));
        sign_ins.col(big_integer("expires_at"));
        manager.create_table(sign_ins).await?;
        manager.create_index(plain("oidc_sign_ins", &["expires_at"])).await?;

        let method = string_null("method");
        manager.alter_table(Table::alter().table("sign_in_links").add_column(method).take()).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}
