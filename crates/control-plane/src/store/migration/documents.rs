//! Initial tables of documents.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;

use super::schema::{references, table};

/// Returns the tables, each after the tables that it references.
pub fn tables() -> Vec<TableCreateStatement> {
    vec![documents(), document_versions(), document_counters()]
}

fn documents() -> TableCreateStatement {
    let mut table = table("documents", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(uuid("user_id"));
    table.col(string("kind"));
    table.col(big_integer("number"));
    table.col(string("slug"));
    table.col(text("title"));
    table.col(string("status"));
    table.col(json_binary_null("repo"));
    table.col(uuid_null("source_document_id"));
    table.col(big_integer("current_version"));
    table.col(big_integer("created_at"));
    table.col(big_integer("updated_at"));
    table.foreign_key(&mut references(
        "documents",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    // A plan outlives the document that it was produced from.
    table.foreign_key(&mut references(
        "documents",
        "source_document_id",
        "documents",
        ForeignKeyAction::SetNull,
    ));
    table
}

fn document_versions() -> TableCreateStatement {
    let mut table = table("document_versions", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("document_id"));
    table.col(big_integer("version"));
    table.col(text("content"));
    table.col(json_binary_null("raw"));
    table.col(uuid_null("loop_id"));
    table.col(big_integer("created_at"));
    table.foreign_key(&mut references(
        "document_versions",
        "document_id",
        "documents",
        ForeignKeyAction::Cascade,
    ));
    table
}

fn document_counters() -> TableCreateStatement {
    let mut table = table("document_counters", &["organization_id", "kind"]);
    table.col(uuid("organization_id"));
    table.col(string("kind"));
    table.col(big_integer("next"));
    table.foreign_key(&mut references(
        "document_counters",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}
