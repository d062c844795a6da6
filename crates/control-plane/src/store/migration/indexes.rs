//! Initial indexes. Unique indexes decide races between concurrent writers; the others serve queries.

use sea_orm_migration::prelude::*;

// Statuses in which a loop occupies its (document, command) pair.
const ACTIVE: [&str; 3] = ["PENDING", "CLAIMED", "RUNNING"];

/// Returns the indexes of the first migration.
pub fn first() -> Vec<IndexCreateStatement> {
    vec![
        unique("organizations", &["slug"]),
        unique("users", &["organization_id", "email"]),
        unique("api_keys", &["key_hash"]),
        managed_key(),
        unique("compute_targets", &["user_id", "machine_name"]),
        unique("compute_targets", &["gateway_id"]),
        unique("documents", &["organization_id", "slug"]),
        unique("documents", &["organization_id", "kind", "number"]),
        plain("documents", &["source_document_id"]),
        unique("document_versions", &["document_id", "version"]),
        active_loop(),
        plain("loops", &["organization_id", "status"]),
        plain("loops", &["organization_id", "user_id", "created_at"]),
        plain("loops", &["document_id"]),
        plain("loops", &["parent_loop_id"]),
        plain("loops", &["compute_target_id"]),
        plain("loops", &["status", "completed_at"]),
        unique("loop_events", &["loop_id", "sequence"]),
        // Idempotency: a repeated event or runner nonce conflicts instead of adding a row.
        unique("loop_events", &["loop_id", "source", "event_id"]),
        unique("loop_events", &["loop_id", "runner_nonce"]),
        plain("loop_token_refreshes", &["loop_id", "created_at"]),
        unique("pull_requests", &["organization_id", "url"]),
        plain("pull_requests", &["document_id"]),
        unique("desktop_commands", &["compute_target_id", "idempotency_key"]),
        plain("desktop_commands", &["compute_target_id", "status"]),
        plain("desktop_commands", &["loop_id"]),
        unique("desktop_command_events", &["command_id", "sequence"]),
    ]
}

pub(super) fn plain(table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = Index::create();
    index.name(format!("ix_{table}_{}", columns.join("_"))).table(table);
    for column in columns {
        index.col(*column);
    }
    index
}

pub(super) fn unique(table: &'static str, columns: &[&'static str]) -> IndexCreateStatement {
    let mut index = plain(table, columns);
    index.unique();
    index
}

// Unique partial index: one valid managed key per user, organization and gateway.
fn managed_key() -> IndexCreateStatement {
    let mut index = unique("api_keys", &["organization_id", "user_id", "gateway_id"]);
    index.and_where(Expr::col("source").eq("DESKTOP_MANAGED"));
    index.and_where(Expr::col("revoked_at").is_null());
    index
}

// Unique partial index: one active loop per document and command. CHAT loops are exempt.
fn active_loop() -> IndexCreateStatement {
    let mut index = unique("loops", &["document_id", "command"]);
    index.and_where(Expr::col("status").is_in(ACTIVE));
    index.and_where(Expr::col("command").ne("CHAT"));
    index
}
