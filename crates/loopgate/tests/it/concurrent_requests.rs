//! Concurrent requests: a slow request does not block others, and a request neither reloads the settings nor
//! rewrites the activity log.

use std::sync::mpsc;
use std::time::Instant;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::wait;
use notify::event::{AccessKind, EventKind, ModifyKind};
use notify::{RecursiveMode, Watcher as _};
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::unix::pipe;

use crate::git::instead_of;
use crate::test_gateway::TestGateway;

/// Forty git operations block until the test releases them; all other routes still respond.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_requests_do_not_block_others() -> Result<()> {
    const SLOW: usize = 40;
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let home = local.home.path();
    for pipe in ["started", "go"] {
        ensure!(local.home.command("mkfifo").arg(home.join(pipe)).status().await?.success());
    }
    let script = "echo waiting > 'HOME/started'; read word < 'HOME/go'; exit 0";
    instead_of(&local, "pull", &script.replace("HOME", &home.display().to_string()))?;
    // Both pipes are opened for reading and writing, so that neither side receives EOF when the other side
    // closes its end.
    let mut pipes = pipe::OpenOptions::new();
    let mut waiting = BufReader::new(pipes.read_write(true).open_receiver(home.join("started"))?).lines();
    let mut go = pipes.read_write(true).open_sender(home.join("go"))?;
    let body = json!({"action": "pull", "repoPath": repo});
    let slow: Vec<_> = (0..SLOW)
        .map(|_| tokio::spawn(local.loopgate.gateway(Method::POST, "/api/gateway/git").json(&body).send()))
        .collect();
    for _ in 0..SLOW {
        let line = tokio::time::timeout(wait::LIMIT, waiting.next_line()).await;
        ensure!(line.context("not all requests reached git")??.as_deref() == Some("waiting"));
    }

    let path = repo.display().to_string();
    let answers = async {
        local.get("repos", &[]).await?.ok()?;
        local.get("directories", &[("path", path.as_str())]).await?.ok()?;
        local.get("git/branches", &[("repo", path.as_str())]).await?.ok()?;
        local.get("files/search", &[("repo", path.as_str()), ("base", "true")]).await?.ok()?;
        local.get("work-directory/AB-1", &[]).await?.ok()?;
        super::git::status(&local, &repo).await?;
        let health = local.loopgate.gateway_bare(Method::GET, "/health").send().await?;
        ensure!(health.status() == 200);
        anyhow::Ok(())
    };
    tokio::time::timeout(wait::LIMIT, answers).await.context("a request is blocked by the slow ones")??;
    ensure!(slow.iter().all(|slow| !slow.is_finished()), "a slow request finished early");
    for _ in 0..SLOW {
        go.write_all(b"go\n").await?;
    }
    for slow in slow {
        let answer = slow.await??;
        ensure!(answer.status() == 200, "{}", answer.status());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_neither_read_settings_nor_write_log_each() -> Result<()> {
    const REQUESTS: usize = 300;
    let local = TestGateway::new().await?;
    let data = local.loopgate.setup().data_dir();
    local.get("repos", &[]).await?.ok()?;
    // The log is replaced by rename, so the directory is watched, not the files.
    let (sender, events) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let _ = sender.send(event);
    })?;
    watcher.watch(&data, RecursiveMode::NonRecursive)?;
    let start = Instant::now();
    for _ in 0..REQUESTS {
        local.get("repos", &[]).await?.ok()?;
    }
    let seconds = start.elapsed().as_secs();
    drop(watcher);
    let (mut read, mut written) = (0, 0);
    for event in events {
        let event = event?;
        let is_file = |name: &str| event.paths.last().is_some_and(|path| path.ends_with(name));
        let opened = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
        let renamed = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)));
        read += usize::from(opened && is_file("settings.toml"));
        written += u64::from(renamed && is_file("desktop-activity-log.json"));
    }
    ensure!(read == 0, "the settings were read {read} times");
    // A rename causes up to three events, and the gateway writes the log at most once a second.
    ensure!(written <= 3 * (seconds + 1), "the log was written {written} times");
    Ok(())
}
