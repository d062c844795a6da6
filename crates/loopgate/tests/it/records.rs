//! The desktop's records of loops as they lie on disk, read and changed from outside.

use anyhow::{Context as _, Result};
use loopgate_testkit::loopgate::Loopgate;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::Value;

async fn open(loopgate: &Loopgate) -> Result<DatabaseConnection> {
    let file = loopgate.setup().data_dir().join("desktop.db");
    Ok(Database::connect(format!("sqlite://{}", file.display())).await?)
}

fn statement(sql: &str, values: impl IntoIterator<Item = String>) -> Statement {
    let values: Vec<sea_orm::Value> = values.into_iter().map(Into::into).collect();
    Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)
}

/// The record of a loop, when there is one.
pub async fn record(loopgate: &Loopgate, id: &str) -> Result<Option<Value>> {
    let db = open(loopgate).await?;
    let wanted = statement("SELECT record FROM job WHERE loop_id = $1", [id.to_owned()]);
    let row = db.query_one_raw(wanted).await?;
    let text = row.map(|row| row.try_get::<String>("", "record")).transpose()?;
    db.close().await?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}

/// Changes the record of a loop, in whatever it may leave to clear as well. Loopgate must not run.
pub async fn rewrite(loopgate: &Loopgate, id: &str, change: impl FnOnce(&mut Value)) -> Result<()> {
    let mut record = record(loopgate, id).await?.context("no record")?;
    change(&mut record);
    let db = open(loopgate).await?;
    let changed = [record.to_string(), id.to_owned()];
    db.execute_raw(statement("UPDATE job SET record = $1, to_clear = 1 WHERE loop_id = $2", changed)).await?;
    Ok(db.close().await?)
}
