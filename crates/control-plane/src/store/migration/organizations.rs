//! Audit log and invitations.

use sea_orm_migration::prelude::*;
use sea_orm_migration::schema::*;
use sea_orm_migration::sea_orm::{ConnectionTrait, DbBackend};

use super::indexes::{plain, unique};
use super::schema::{references, table};

/// Creates the audit log and the table of invitations.
pub struct Organizations;

impl MigrationName for Organizations {
    fn name(&self) -> &'static str {
        "m0007_organizations"
    }
}

#[async_trait::async_trait]
impl MigrationTrait for Organizations {
    async fn up(&self, manager: &SchemaManager) -> Result<(), DbErr> {
        manager.create_table(audit_log()).await?;
        manager.create_table(invitations()).await?;
        let indexes = [
            plain("audit_log", &["organization_id", "id"]),
            unique("invitations", &["token_hash"]),
            plain("invitations", &["organization_id", "created_at"]),
        ];
        for index in indexes {
            manager.create_index(index).await?;
        }
        append_only(manager).await
    }

    fn use_transaction(&self) -> Option<bool> {
        Some(true)
    }
}

// Creates triggers that reject updates and deletes in the audit log. The query builder does not support
// triggers, so each database has its own SQL.
async fn append_only(manager: &SchemaManager<'_>) -> Result<(), DbErr> {
    let sql = match manager.get_database_backend() {
        DbBackend::Sqlite => {
            "CREATE TRIGGER audit_log_no_update BEFORE UPDATE ON audit_log \
             BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END; \
             CREATE TRIGGER audit_log_no_delete BEFORE DELETE ON audit_log \
             BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;"
        }
        _ => {
            "CREATE FUNCTION audit_log_append_only() RETURNS trigger AS $$ \
             BEGIN RAISE EXCEPTION 'the audit log is append-only'; END; $$ LANGUAGE plpgsql; \
             CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log \
             FOR EACH STATEMENT EXECUTE FUNCTION audit_log_append_only();"
        }
    };
    manager.get_connection().execute_unprepared(sql).await?;
    Ok(())
}

fn audit_log() -> TableCreateStatement {
    // No foreign keys: entries outlive the rows that they refer to.
    let mut table = table("audit_log", &["id"]);
    table.col(uuid("id"));
    table.col(uuid_null("organization_id"));
    table.col(big_integer("at"));
    table.col(string("action"));
    table.col(uuid_null("user_id"));
    table.col(uuid_null("key_id"));
    table.col(string_null("address"));
    table.col(text("subject"));
    table.col(json_binary("details"));
    table
}

fn invitations() -> TableCreateStatement {
    let mut table = table("invitations", &["id"]);
    table.col(uuid("id"));
    table.col(uuid("organization_id"));
    table.col(string("email"));
    table.col(string("role"));
    table.col(string("token_hash"));
    table.col(uuid("created_by"));
    table.col(big_integer("created_at"));
    table.col(big_integer("expires_at"));
    table.col(big_integer_null("accepted_at"));
    table.col(big_integer_null("revoked_at"));
    table.foreign_key(&mut references(
        "invitations",
        "organization_id",
        "organizations",
        ForeignKeyAction::Cascade,
    ));
    table
}
