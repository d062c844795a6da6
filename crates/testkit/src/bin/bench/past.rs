//! Measures a start with thousands of finished loops in the database and some running ones.
//!
//! The running loops are real: their shims outlive the gateway, which is killed. The finished ones are copies
//! of their database rows.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use axum::routing::any;
use axum::{Json, Router};
use sea_orm::{
    ConnectionTrait as _, Database, DatabaseConnection, DbBackend, Statement, TransactionTrait as _,
};
use serde_json::{Value, json};
use uuid::Uuid;

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

const FINISHED_LOOPS: usize = 10_000;
const RUNNING_LOOPS: usize = 20;
const READY_LIMIT: Duration = Duration::from_millis(300);
const REATTACH_LIMIT: Duration = Duration::from_secs(2);
/// Pattern of the record of a loop that was reattached.
const REATTACHED: &str = "%Boot recovery reattached%";
/// Polling interval of the records.
const POLL_INTERVAL: Duration = Duration::from_millis(5);
/// Upper bound for reattaching all loops.
const LIMIT: Duration = Duration::from_secs(60);

/// Measures one start of the gateway.
pub async fn measure(binary: &Path, table: &mut Table) -> anyhow::Result<()> {
    let mut directories = TestDirectories::new()?;
    directories.api_origin = control_plane().await?;
    let assistant = directories.path("home/claude");
    std::fs::write(&assistant, "#!/bin/sh\nexec sleep 600\n")?;
    std::fs::set_permissions(&assistant, std::fs::Permissions::from_mode(0o755))?;
    let settings =
        format!("onboarding_completed = true\n\n[binary_paths]\nassistant = \"{}\"\n", assistant.display());
    std::fs::write(directories.path("data/settings.toml"), settings)?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    let mut loops = Vec::with_capacity(RUNNING_LOOPS);
    for _ in 0..RUNNING_LOOPS {
        loops.push(start_loop(&gateway).await?);
    }
    // Killed, not shut down: the shims and their programs keep running.
    gateway.stop().await?;
    insert_finished_loops(&directories.path("data/desktop.db")).await?;

    let (gateway, ready) = GatewayProcess::start_timed(binary, &directories).await?;
    let since_ready = Instant::now();
    let db = open(&directories.path("data/desktop.db")).await?;
    let reattached = tokio::time::timeout(LIMIT, async {
        while count_reattached(&db).await? < RUNNING_LOOPS {
            tokio::time::sleep(POLL_INTERVAL).await;
        }
        anyhow::Ok(ready + since_ready.elapsed())
    });
    let reattached = reattached.await.context("not all running loops were reattached")??;
    db.close().await?;
    // The loops' programs would otherwise outlive the benchmark.
    for id in loops {
        gateway.post("/api/gateway/orchestrator/loop/kill", &json!({"loopId": id})).await?;
    }
    gateway.stop().await?;
    table.time("start with 10,000 finished and 20 running loops", ready, READY_LIMIT);
    table.time("until all 20 running ones are reattached", reattached, REATTACH_LIMIT);
    Ok(())
}

/// Starts a fake control plane that accepts every request.
async fn control_plane() -> anyhow::Result<String> {
    let accept = || async { Json(json!({"success": true, "data": {"received": true}})) };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let router = Router::new().fallback(any(accept));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

async fn start_loop(gateway: &GatewayProcess) -> anyhow::Result<Uuid> {
    let id = Uuid::new_v4();
    let requirements = json!({"id": "1", "type": "PRD", "title": "", "content": "Everything"});
    let body = json!({"loopId": id, "command": "DECOMPOSE", "loopgateAuthToken": "opaque",
        "artifacts": [requirements]});
    gateway.post("/api/gateway/orchestrator/loop", &body).await?;
    Ok(id)
}

async fn open(file: &Path) -> anyhow::Result<DatabaseConnection> {
    Ok(Database::connect(format!("sqlite://{}", file.display())).await?)
}

async fn count_reattached(db: &DatabaseConnection) -> anyhow::Result<usize> {
    let sql = "SELECT count(*) AS reattached FROM job WHERE terminal = 0 AND record LIKE $1";
    let query = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [REATTACHED.into()]);
    let row = db.query_one_raw(query).await?.context("the query returned no row")?;
    Ok(usize::try_from(row.try_get::<i64>("", "reattached")?)?)
}

/// Inserts finished and fully reported loops, which are copies of a running one's record.
async fn insert_finished_loops(file: &Path) -> anyhow::Result<()> {
    let db = open(file).await?;
    let query = Statement::from_string(DbBackend::Sqlite, "SELECT record FROM job LIMIT 1");
    let row = db.query_one_raw(query).await?.context("the table job is empty")?;
    let mut record: Value = serde_json::from_str(&row.try_get::<String>("", "record")?)?;
    let timestamp = "2030-01-01T00:00:00.000Z";
    for member in ["completedAt", "finalStatusPersistedAt", "completedEventPostedAt", "cloudFinalizedAt"] {
        record[member] = json!(timestamp);
    }
    record["status"] = json!("COMPLETED");
    record["exitCode"] = json!(0);
    // One transaction: a commit per row would take minutes.
    let tx = db.begin().await?;
    for n in 0..FINISHED_LOOPS {
        let id = Uuid::new_v4().to_string();
        record["id"] = json!(id);
        record["loopId"] = json!(id);
        if let Some(members) = record.as_object_mut() {
            members.remove("tempDir");
        }
        let sql = "INSERT INTO job (loop_id, status, terminal, reported, to_clear, record, updated_at) \
                   VALUES ($1, 'Completed', 1, 1, 0, $2, $3)";
        let values = [id.into(), record.to_string().into(), i64::try_from(n)?.into()];
        tx.execute_raw(Statement::from_sql_and_values(DbBackend::Sqlite, sql, values)).await?;
    }
    tx.commit().await?;
    db.close().await?;
    Ok(())
}
