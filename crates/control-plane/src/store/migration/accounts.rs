//! Initial tables of organizations, users and their credentials.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Returns the tables, each after the tables that it references.
pub fn tables() -> Vec<TableCreateStatement> {
    vec![
        organizations(),
        users(),
        sessions(),
        sign_in_links(),
        api_keys(),
        desktop_onboarding_attempts(),
        local_gateway_challenge_jtis(),
        repositories(),
        feature_flags(),
    ]
}

fn organizations() -> TableCreateStatement {
    let mut table = table("organizations", &["id"]);
    table.col(uuid("id"));
    table.col(string("name"));
    table.col(string("slug"));
    table.col(boolean("active"));
    table.col(json_binary("settings"));
    table.col(big_integer("created_at"));
    table
}

fn users() -> TableCreateStatement {
    let mut table = table("users", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(string("email"));
    table.col(string_null("first_name"));
    table.col(string_null("last_name"));
    table.col(string_null("avatar_url"));
    table.col(boolean("active"));
    table.col(string("role"));
    table.col(uuid_null("preferred_compute_target_id"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references(
        "users",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn sessions() -> TableCreateStatement {
    let mut table = table("sessions", &["id_hash"]);
    table.col(string("id_hash"));
    table.col(uuid("user_id"));
    table.col(uuid("organization_id"));
    table.col(big_integer("created_at"));
    table.col(big_integer("expires_at"));
    table.col(big_integer("absolute_expires_at"));
    table.col(big_integer_null("revoked_at"));
    table.foreign_key(&mut references("sessions", "user_id", "users", ForeignKeyAction::Cascade));
    // No foreign key for `organization_id`: deleting an organization deletes its users, and with them the
    // sessions.
    table
}

fn sign_in_links() -> TableCreateStatement {
    let mut table = table("sign_in_links", &["token_hash"]);
    table.col(string("token_hash"));
    table.col(uuid("user_id"));
    table.col(big_integer("expires_at"));
    table.col(big_integer_null("consumed_at"));
    table.foreign_key(&mut references("sign_in_links", "user_id", "users", ForeignKeyAction::Cascade));
    table
}

fn api_keys() -> TableCreateStatement {
    let mut table = table("api_keys", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid("user_id"));
    table.col(string("name"));
    table.col(string("key_hash"));
    table.col(string("source"));
    table.col(json_binary("scopes"));
    table.col(uuid_null("gateway_id"));
    table.col(text_null("bound_public_key"));
    table.col(big_integer_null("expires_at"));
    table.col(big_integer_null("last_used_at"));
    table.col(big_integer("created_at"));
    table.col(big_integer_null("revoked_at"));
    table.foreign_key(&mut references("api_keys", "user_id", "users", ForeignKeyAction::Cascade));
    table
}

fn desktop_onboarding_attempts() -> TableCreateStatement {
    let mut table = table("desktop_onboarding_attempts", &["attempt_hash"]);
    table.col(string("attempt_hash"));
    table.col(uuid("user_id"));
    table.col(uuid("organization_id"));
    table.col(string("web_app_origin"));
    table.col(uuid_null("gateway_id"));
    table.col(big_integer("created_at"));
    table.col(big_integer("expires_at"));
    table.col(big_integer_null("consumed_at"));
    table.foreign_key(&mut references(
        "desktop_onboarding_attempts",
        "user_id",
        "users",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn local_gateway_challenge_jtis() -> TableCreateStatement {
    let mut table = table("local_gateway_challenge_jtis", &["jti"]);
    table.col(uuid("jti"));
    table.col(big_integer("expires_at"));
    table
}

fn repositories() -> TableCreateStatement {
    let mut table = table("repositories", &["organization_id", "full_name"]);
    table.col(uuid("organization_id"));
    table.col(string("full_name"));
    table.col(json_binary_null("branches"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references(
        "repositories",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn feature_flags() -> TableCreateStatement {
    let mut table = table("feature_flags", &["organization_id", "key"]);
    table.col(uuid("organization_id"));
    table.col(string("key"));
    table.col(boolean("enabled"));
    table.col(uuid("updated_by"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references(
        "feature_flags",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}
