//! Measures throughput from a line of the assistant's output to the event at the control plane.
//!
//! The assistant is replaced by a script that prints as fast as it can; a fake control plane counts the lines
//! in `output` events.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use axum::extract::State;
use axum::routing::any;
use axum::{Json, Router};
use serde_json::{Value, json};
use tokio::sync::Notify;
use uuid::Uuid;

use crate::gateway::{GatewayProcess, TestDirectories};
use crate::table::Table;

const LIMIT: Duration = Duration::from_secs(120);

#[derive(Default)]
struct StreamCount {
    lines: AtomicUsize,
    changed: Notify,
    finished: AtomicUsize,
}

/// Runs one loop whose assistant prints this many lines, and reports the measurements.
pub async fn measure(binary: &Path, lines: usize, table: &mut Table) -> anyhow::Result<()> {
    let counts = Arc::new(StreamCount::default());
    let mut directories = TestDirectories::new()?;
    directories.api_origin = control_plane(counts.clone()).await?;
    prepare(&directories, lines)?;
    let gateway = GatewayProcess::start(binary, &directories).await?;
    let before = gateway.resident_memory()?;

    let begin = Instant::now();
    start_loop(&gateway, &directories).await?;
    let mut peak = before;
    tokio::time::timeout(LIMIT, async {
        while counts.lines.load(Ordering::Acquire) < lines {
            counts.changed.notified().await;
            peak = peak.max(gateway.resident_memory()?);
        }
        anyhow::Ok(())
    })
    .await
    .with_context(|| format!("only {} of {lines} lines arrived", counts.lines.load(Ordering::Acquire)))??;
    let time = begin.elapsed();
    let arrived = counts.lines.load(Ordering::Acquire);
    ensure!(arrived == lines, "{arrived} of {lines} lines arrived");

    table.plain("20,000 lines, loop request to the last event", format!("{time:.2?}"));
    table.plain("lines/s through the tailer and out", format!("{:.0}", lines as f64 / time.as_secs_f64()));
    table.memory("gateway resident, peak while streaming", peak, None);
    table.memory("gateway resident before streaming", before, None);
    Ok(())
}

/// Starts a fake control plane that accepts every event.
async fn control_plane(counts: Arc<StreamCount>) -> anyhow::Result<String> {
    let router = Router::new().fallback(any(receive_event)).with_state(counts);
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await?;
    let origin = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(origin)
}

async fn receive_event(State(counts): State<Arc<StreamCount>>, body: bytes::Bytes) -> Json<Value> {
    let event: Value = serde_json::from_slice(&body).unwrap_or_default();
    match event.get("type").and_then(Value::as_str) {
        Some("output") => {
            let chunk = event.pointer("/data/chunk").and_then(Value::as_str).unwrap_or_default();
            let lines = chunk.lines().filter(|line| line.starts_with("measured line ")).count();
            counts.lines.fetch_add(lines, Ordering::AcqRel);
        }
        Some("completed" | "error") => {
            counts.finished.fetch_add(1, Ordering::AcqRel);
        }
        _ => {}
    }
    counts.changed.notify_one();
    Json(json!({"success": true, "data": {"received": true}}))
}

/// Creates a repository, and an assistant that prints the lines.
fn prepare(directories: &TestDirectories, lines: usize) -> anyhow::Result<()> {
    let assistant = directories.path("home/claude");
    let script = format!(
        "#!/bin/sh\nawk 'BEGIN {{ for (n = 1; n <= {lines}; n++) \
         printf \"{{\\\"type\\\":\\\"assistant\\\",\\\"message\\\":{{\\\"model\\\":\\\"m\\\",\\\"usage\\\":{{\\\"input_tokens\\\":1,\\\"output_tokens\\\":1}},\
         \\\"content\\\":[{{\\\"type\\\":\\\"text\\\",\\\"text\\\":\\\"measured line %d\\\"}}]}}}}\\n\", n }}'\n\
         printf '%s\\n' '{{\"type\":\"assistant\",\"message\":{{\"content\":[{{\"type\":\"text\",\"text\":\"<promise>COMPLETE</promise>\"}}]}}}}'\n\
         printf '%s\\n' '{{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"done\"}}'\n"
    );
    std::fs::write(&assistant, script)?;
    std::fs::set_permissions(&assistant, std::fs::Permissions::from_mode(0o755))?;
    let settings =
        format!("onboarding_completed = true\n\n[binary_paths]\nassistant = \"{}\"\n", assistant.display());
    std::fs::write(directories.path("data/settings.toml"), settings)?;
    let repository = directories.path("sandbox/shop");
    std::fs::create_dir(&repository)?;
    git(&repository, &["init", "-q", "-b", "main"])?;
    git(
        &repository,
        &[
            "-c",
            "user.name=b",
            "-c",
            "user.email=b@example.test",
            "commit",
            "-q",
            "--allow-empty",
            "-m",
            "first",
        ],
    )
}

#[expect(clippy::disallowed_methods, reason = "part of the benchmark, not of the product")]
fn git(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let status = std::process::Command::new("git").current_dir(directory).args(arguments).status()?;
    ensure!(status.success(), "git {arguments:?} failed");
    Ok(())
}

async fn start_loop(gateway: &GatewayProcess, directories: &TestDirectories) -> anyhow::Result<()> {
    let body = json!({
        "loopId": Uuid::now_v7(),
        "command": "PLAN",
        "loopgateAuthToken": "opaque",
        "artifacts": [],
        "prompt": "print",
        "localRepoPath": directories.path("sandbox/shop"),
        "repo": {"fullName": "acme/shop", "branch": "main"},
    });
    let response = loopgate_http_client::builder()
        .build()?
        .post(gateway.url("/api/gateway/orchestrator/loop"))
        .header("X-Desktop-Gateway-Token", &gateway.token)
        .json(&body)
        .send()
        .await?;
    let status = response.status();
    ensure!(status.is_success(), "the loop did not start: {status} {}", response.text().await?);
    Ok(())
}
