//! Direct access to the desktop's database `desktop.db`: job records, launch requests, commands and tokens.

use anyhow::{Context as _, Result};
use jiff::Timestamp;
use loopgate_testkit::loopgate::Loopgate;
use sea_orm::{ConnectionTrait as _, Database, DatabaseConnection, DbBackend, QueryResult, Statement};
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

/// Returns the job record of a loop, or `None` without a row.
pub async fn record(loopgate: &Loopgate, id: &str) -> Result<Option<Value>> {
    let db = open(loopgate).await?;
    let query = statement("SELECT record FROM job WHERE loop_id = $1", [id.to_owned()]);
    let row = db.query_one_raw(query).await?;
    let text = row.map(|row| row.try_get::<String>("", "record")).transpose()?;
    db.close().await?;
    Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
}

/// Returns the number of stored launch requests, i.e. of loops without a process.
pub async fn launch_requests(loopgate: &Loopgate) -> Result<i64> {
    let db = open(loopgate).await?;
    let row = db.query_one_raw(statement("SELECT count(*) AS number FROM launch_request", [])).await?;
    let number = row.context("no count")?.try_get("", "number")?;
    db.close().await?;
    Ok(number)
}

/// Returns the stored commands of the control plane: id and progress.
pub async fn commands(loopgate: &Loopgate) -> Result<Vec<(String, Value)>> {
    let db = open(loopgate).await?;
    let rows = db.query_all_raw(statement("SELECT command_id, progress FROM command ORDER BY 1", [])).await?;
    db.close().await?;
    let read = |row: &QueryResult| {
        let progress: String = row.try_get("", "progress")?;
        Ok((row.try_get("", "command_id")?, serde_json::from_str(&progress)?))
    };
    rows.iter().map(read).collect()
}

/// Converts the data directory to the format of version 0.13.18, which stored launch requests and the command
/// log in files. Loopgate must not run.
pub async fn turn_into_0_13_18(loopgate: &Loopgate) -> Result<()> {
    let data = loopgate.setup().data_dir();
    let log: Vec<String> = commands(loopgate)
        .await?
        .into_iter()
        .map(|(id, mut line)| {
            line["commandId"] = id.into();
            line["at"] = Timestamp::now().to_string().into();
            line.to_string() + "\n"
        })
        .collect();
    std::fs::write(data.join("commands.jsonl"), log.concat())?;
    let (db, queue) = (open(loopgate).await?, data.join("queue"));
    std::fs::create_dir_all(&queue)?;
    for row in db.query_all_raw(statement("SELECT loop_id, sealed FROM launch_request", [])).await? {
        let (id, sealed): (String, Vec<u8>) = (row.try_get("", "loop_id")?, row.try_get("", "sealed")?);
        std::fs::write(queue.join(id), sealed)?;
    }
    for sql in [
        "DROP TABLE launch_request",
        "DROP TABLE command",
        "ALTER TABLE job RENAME COLUMN pending_notifications TO untold",
        "DROP INDEX job_by_cleanup",
        "CREATE INDEX job_by_ground ON job (terminal, to_clear)",
        // Without these rows, the next start runs the migrations again.
        "DELETE FROM seaql_migrations WHERE version IN ('m0005_launch_requests', 'm0006_commands', 'm0007_job_names')",
    ] {
        db.execute_unprepared(sql).await?;
    }
    Ok(db.close().await?)
}

/// Inserts `number` job records of loops that ended long ago, copied from a finished and reported loop.
/// Returns their ids, oldest first. Loopgate must not run.
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

/// Returns the ids of all loops in a terminal status, newest first.
pub async fn terminal_loop_ids(loopgate: &Loopgate) -> Result<Vec<String>> {
    let db = open(loopgate).await?;
    let query = statement("SELECT loop_id FROM job WHERE terminal = 1 ORDER BY updated_at DESC", []);
    let rows = db.query_all_raw(query).await?;
    db.close().await?;
    Ok(rows.iter().map(|row| row.try_get("", "loop_id")).collect::<Result<_, _>>()?)
}

/// Returns the number of stored runner tokens of a loop.
pub async fn tokens(loopgate: &Loopgate, id: &str) -> Result<i64> {
    let db = open(loopgate).await?;
    let query = statement("SELECT count(*) AS tokens FROM loop_token WHERE loop_id = $1", [id.to_owned()]);
    let row = db.query_one_raw(query).await?.context("a number")?;
    db.close().await?;
    Ok(row.try_get("", "tokens")?)
}

/// Deletes the runner tokens of a loop. Loopgate must not run.
pub async fn forget_token(loopgate: &Loopgate, id: &str) -> Result<()> {
    let db = open(loopgate).await?;
    db.execute_raw(statement("DELETE FROM loop_token WHERE loop_id = $1", [id.to_owned()])).await?;
    Ok(db.close().await?)
}

/// Changes the job record of a loop and marks the loop for clean-up. Loopgate must not work on that loop.
pub async fn rewrite(loopgate: &Loopgate, id: &str, change: impl FnOnce(&mut Value)) -> Result<()> {
    let mut record = record(loopgate, id).await?.context("no record")?;
    change(&mut record);
    let db = open(loopgate).await?;
    let values = [record.to_string(), id.to_owned()];
    // Without `to_clear`, the clean-up at start-up skips loops in a terminal status.
    db.execute_raw(statement("UPDATE job SET record = $1, to_clear = 1 WHERE loop_id = $2", values)).await?;
    Ok(db.close().await?)
}
