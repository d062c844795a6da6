//! A start with a long past: thousands of loops that ended, and some that still run.
//!
//! The living ones are real: their shims outlive a gateway that is killed. Those that ended are
//! records like theirs, written beside them.

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

const ENDED: usize = 10_000;
const LIVING: usize = 20;
const READY_LIMIT: Duration = Duration::from_millis(300);
const FOLLOWED_LIMIT: Duration = Duration::from_secs(2);
/// What a record says once its loop is followed again.
const FOLLOWED: &str = "%Boot recovery reattached%";
/// Between two looks at the records.
const LOOK: Duration = Duration::from_millis(5);
/// Loops that are not followed by then will not be.
const LIMIT: Duration = Duration::from_secs(60);

/// Measures one start.
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
    let mut loops = Vec::with_capacity(LIVING);
    for _ in 0..LIVING {
        loops.push(start_loop(&gateway).await?);
    }
    gateway.stop().await?;
    write_the_past(&directories.path("data/desktop.db")).await?;

    let (gateway, ready) = GatewayProcess::start_timed(binary, &directories).await?;
    let since_ready = Instant::now();
    let db = open(&directories.path("data/desktop.db")).await?;
    let followed = tokio::time::timeout(LIMIT, async {
        while count_followed(&db).await? < LIVING {
            tokio::time::sleep(LOOK).await;
        }
        anyhow::Ok(ready + since_ready.elapsed())
    });
    let followed = followed.await.context("not all living loops were followed again")??;
    db.close().await?;
    for id in loops {
        gateway.post("/api/gateway/orchestrator/loop/kill", &json!({"loopId": id})).await?;
    }
    gateway.stop().await?;
    table.time("start beside 10,000 ended and 20 living loops", ready, READY_LIMIT);
    table.time("until all 20 living ones are followed again", followed, FOLLOWED_LIMIT);
    Ok(())
}

/// A control plane that believes everything.
async fn control_plane() -> anyhow::Result<String> {
    let believes = || async { Json(json!({"success": true, "data": {"received": true}})) };
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    let router = Router::new().fallback(any(believes));
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

async fn count_followed(db: &DatabaseConnection) -> anyhow::Result<usize> {
    let sql = "SELECT count(*) AS followed FROM job WHERE terminal = 0 AND record LIKE $1";
    let query = Statement::from_sql_and_values(DbBackend::Sqlite, sql, [FOLLOWED.into()]);
    let row = db.query_one_raw(query).await?.context("a count")?;
    Ok(usize::try_from(row.try_get::<i64>("", "followed")?)?)
}

/// Records of loops that ended and are told, each like one that lives.
async fn write_the_past(file: &Path) -> anyhow::Result<()> {
    let db = open(file).await?;
    let any = Statement::from_string(DbBackend::Sqlite, "SELECT record FROM job LIMIT 1");
    let row = db.query_one_raw(any).await?.context("a record")?;
    let mut record: Value = serde_json::from_str(&row.try_get::<String>("", "record")?)?;
    let then = "2030-01-01T00:00:00.000Z";
    for mark in ["completedAt", "finalStatusPersistedAt", "completedEventPostedAt", "cloudFinalizedAt"] {
        record[mark] = json!(then);
    }
    record["status"] = json!("COMPLETED");
    record["exitCode"] = json!(0);
    let tx = db.begin().await?;
    for n in 0..ENDED {
        let id = Uuid::new_v4().to_string();
        record["id"] = json!(id);
        record["loopId"] = json!(id);
        if let Some(members) = record.as_object_mut() {
            members.remove("passingDir");
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
