//! Initial tables of loops.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Returns the tables, each after the tables that it references.
pub fn tables() -> Vec<TableCreateStatement> {
    vec![loops(), loop_events(), loop_token_refreshes(), pull_requests()]
}

fn loops() -> TableCreateStatement {
    let mut table = table("loops", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid("user_id"));
    table.col(string("status"));
    table.col(string("command"));
    table.col(string("harness"));
    table.col(uuid_null("document_id"));
    table.col(big_integer_null("document_version"));
    table.col(uuid_null("parent_loop_id"));
    table.col(uuid_null("compute_target_id"));
    table.col(string_null("artifact_slug"));
    table.col(text_null("prompt"));
    table.col(json_binary_null("repo"));
    table.col(json_binary_null("additional_repos"));
    table.col(json_binary_null("context_refs"));
    table.col(string_null("container_id"));
    table.col(string_null("s3_state_key"));
    table.col(string_null("pr_url"));
    table.col(big_integer_null("pr_number"));
    table.col(string_null("branch_name"));
    table.col(string_null("session_id"));
    table.col(big_integer("tokens_input"));
    table.col(big_integer("tokens_output"));
    table.col(json_binary_null("tokens_by_model"));
    table.col(double_null("estimated_cost"));
    table.col(json_binary_null("results"));
    table.col(json_binary_null("error"));
    table.col(json_binary("metadata"));
    table.col(json_binary_null("uploaded_artifacts"));
    table.col(uuid_null("active_token_jti"));
    table.col(uuid_null("last_token_jti"));
    table.col(big_integer_null("token_expires_at"));
    table.col(json_binary("runner_capabilities"));
    table.col(big_integer_null("last_runner_heartbeat_at"));
    table.col(big_integer("last_sequence"));
    table.col(big_integer_null("started_at"));
    table.col(big_integer_null("completed_at"));
    table.col(big_integer("created_at"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references("loops", "user_id", "users", ForeignKeyAction::Cascade));
    // Loops outlive the documents, parent loops and desktops that they refer to.
    table.foreign_key(&mut references("loops", "document_id", "documents", ForeignKeyAction::SetNull));
    table.foreign_key(&mut references("loops", "parent_loop_id", "loops", ForeignKeyAction::SetNull));
    table.foreign_key(&mut references(
        "loops",
        "compute_target_id",
        "compute_targets",
        ForeignKeyAction::SetNull,
    ));
    table
}

fn loop_events() -> TableCreateStatement {
    let mut table = table("loop_events", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("loop_id"));
    table.col(big_integer("sequence"));
    table.col(string("kind"));
    table.col(string("source"));
    table.col(string("event_id"));
    table.col(json_binary("data"));
    table.col(uuid_null("runner_token_jti"));
    table.col(uuid_null("runner_nonce"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references("loop_events", "loop_id", "loops", ForeignKeyAction::Cascade));
    table
}

fn loop_token_refreshes() -> TableCreateStatement {
    let mut table = table("loop_token_refreshes", &["jti"]);
    table.col(uuid("jti"));
    table.col(uuid("loop_id"));
    // No foreign key: `new_jti` is a token slot, which has no table.
    table.col(uuid("new_jti"));
    table.col(string_null("idempotency_key"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references("loop_token_refreshes", "loop_id", "loops", ForeignKeyAction::Cascade));
    table
}

fn pull_requests() -> TableCreateStatement {
    let mut table = table("pull_requests", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid_null("document_id"));
    table.col(uuid("loop_id"));
    table.col(string("full_name"));
    table.col(big_integer("number"));
    table.col(text("url"));
    table.col(text("title"));
    table.col(string("branch_name"));
    table.col(string("base_branch"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references("pull_requests", "loop_id", "loops", ForeignKeyAction::Cascade));
    table.foreign_key(&mut references(
        "pull_requests",
        "document_id",
        "documents",
        ForeignKeyAction::SetNull,
    ));
    table
}
