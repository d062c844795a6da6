//! Statements shared by the migrations.

use sea_orm_migration::prelude::*;

/// Returns a table without columns, and with a primary key over `key`.
pub(super) fn table(name: &'static str, key: &[&'static str]) -> TableCreateStatement {
    let mut primary = Index::create();
    for column in key {
        primary.col(*column);
    }
    Table::create().table(name).primary_key(&mut primary).to_owned()
}

/// Returns a foreign key to the `id` column of another table.
pub(super) fn references(
    table: &'static str,
    column: &'static str,
    target: &'static str,
    on_delete: ForeignKeyAction,
) -> ForeignKeyCreateStatement {
    ForeignKey::create()
        .name(format!("fk_{table}_{column}"))
        .from(table, column)
        .to(target, "id")
        .on_delete(on_delete)
        .to_owned()
}
