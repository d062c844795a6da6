//! Initial tables of compute targets.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Returns the tables, each after the tables that it references.
pub fn tables() -> Vec<TableCreateStatement> {
    vec![compute_targets(), desktop_commands(), desktop_command_events()]
}

fn compute_targets() -> TableCreateStatement {
    let mut table = table("compute_targets", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid("user_id"));
    table.col(string("machine_name"));
    table.col(string("platform"));
    table.col(uuid_null("gateway_id"));
    table.col(json_binary("capabilities"));
    table.col(json_binary("supported_operations"));
    table.col(string("selected_harness"));
    table.col(boolean("is_online"));
    table.col(boolean("is_shared_with_org"));
    table.col(string_null("state"));
    table.col(big_integer_null("active_commands"));
    table.col(big_integer_null("queue_depth"));
    table.col(big_integer("last_seen_at"));
    table.col(big_integer("created_at"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references("compute_targets", "user_id", "users", ForeignKeyAction::Cascade));
    table
}

fn desktop_commands() -> TableCreateStatement {
    let mut table = table("desktop_commands", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid("compute_target_id"));
    table.col(uuid("user_id"));
    table.col(string("operation_id"));
    table.col(string("status"));
    table.col(json_binary("request_payload"));
    table.col(string("request_fingerprint"));
    table.col(string_null("idempotency_key"));
    table.col(uuid_null("loop_id"));
    table.col(big_integer("last_sequence_acked"));
    table.col(text_null("error"));
    table.col(big_integer("created_at"));
    table.col(big_integer_null("started_at"));
    table.col(big_integer_null("finished_at"));
    table.foreign_key(&mut references(
        "desktop_commands",
        "compute_target_id",
        "compute_targets",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn desktop_command_events() -> TableCreateStatement {
    let mut table = table("desktop_command_events", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("command_id"));
    table.col(big_integer("sequence"));
    table.col(string("event_type"));
    table.col(json_binary("data"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references(
        "desktop_command_events",
        "command_id",
        "desktop_commands",
        ForeignKeyAction::Cascade,
    ));
    table
}
