//! The desktop's records of loops as they lie on disk, read and changed from outside.

use anyhow::{Context as _, Result};
use loopgate_testkit::loopgate::Loopgate;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement};
use serde_json::Value;
use uuid::Uuid;

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

/// How many requests of loops are kept that have no process yet.
pub async fn launch_requests(loopgate: &Loopgate) -> Result<i64> {
    let db = open(loopgate).await?;
    let row = db.query_one_raw(statement("SELECT count(*) AS number FROM launch_request", [])).await?;
    let number = row.context("no count")?.try_get("", "number")?;
    db.close().await?;
    Ok(number)
}

/// Writes records of loops that ended long ago beside one that has ended and is told, each like it.
/// Answers their ids, the oldest first. Loopgate must not run.
pub async fn write_past(loopgate: &Loopgate, id: &str, number: usize) -> Result<Vec<String>> {
    let mut record = record(loopgate, id).await?.context("no record")?;
    let db = open(loopgate).await?;
    let mut ids = Vec::new();
    for n in 0..number {
        let copy = Uuid::new_v4().to_string();
        record["id"] = copy.clone().into();
        record["loopId"] = copy.clone().into();
        let sql = "INSERT INTO job (loop_id, status, terminal, reported, to_clear, record, updated_at) \
                   VALUES ($1, 'Completed', 1, 1, 0, $2, CAST($3 AS INTEGER))";
        db.execute_raw(statement(sql, [copy.clone(), record.to_string(), n.to_string()])).await?;
        ids.push(copy);
    }
    db.close().await?;
    Ok(ids)
}

/// The ids of all loops that have ended, the newest first.
pub async fn ended(loopgate: &Loopgate) -> Result<Vec<String>> {
    let db = open(loopgate).await?;
    let wanted = statement("SELECT loop_id FROM job WHERE terminal = 1 ORDER BY updated_at DESC", []);
    let rows = db.query_all_raw(wanted).await?;
    db.close().await?;
    Ok(rows.iter().map(|row| row.try_get("", "loop_id")).collect::<Result<_, _>>()?)
}

/// How many tokens of a loop are kept.
pub async fn tokens(loopgate: &Loopgate, id: &str) -> Result<i64> {
    let db = open(loopgate).await?;
    let wanted = statement("SELECT count(*) AS tokens FROM loop_token WHERE loop_id = $1", [id.to_owned()]);
    let row = db.query_one_raw(wanted).await?.context("a number")?;
    db.close().await?;
    Ok(row.try_get("", "tokens")?)
}

/// Deletes the token of a loop. Loopgate must not run.
pub async fn forget_token(loopgate: &Loopgate, id: &str) -> Result<()> {
    let db = open(loopgate).await?;
    db.execute_raw(statement("DELETE FROM loop_token WHERE loop_id = $1", [id.to_owned()])).await?;
    Ok(db.close().await?)
}

/// Changes the record of a loop, in whatever it may leave to clear as well. Loopgate must not work on
/// that loop.
pub async fn rewrite(loopgate: &Loopgate, id: &str, change: impl FnOnce(&mut Value)) -> Result<()> {
    let mut record = record(loopgate, id).await?.context("no record")?;
    change(&mut record);
    let db = open(loopgate).await?;
    let changed = [record.to_string(), id.to_owned()];
    db.execute_raw(statement("UPDATE job SET record = $1, to_clear = 1 WHERE loop_id = $2", changed)).await?;
    Ok(db.close().await?)
}
