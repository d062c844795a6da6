//! Many requests: a slow one holds up no other, and none makes the gateway read its settings or
//! write its log anew.

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
use crate::local::Local;

/// Every one of them waits for git, which waits for this test.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slow_route_stops_no_other() -> Result<()> {
    const SLOW: usize = 40;
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let home = local.home.path();
    for pipe in ["told", "go"] {
        ensure!(local.home.command("mkfifo").arg(home.join(pipe)).status().await?.success());
    }
    let script = "echo waiting > 'HOME/told'; read word < 'HOME/go'; exit 0";
    instead_of(&local, "pull", &script.replace("HOME", &home.display().to_string()))?;
    // Both ends are held, so that neither side sees an end of the file.
    let mut pipes = pipe::OpenOptions::new();
    let mut waiting = BufReader::new(pipes.read_write(true).open_receiver(home.join("told"))?).lines();
    let mut go = pipes.read_write(true).open_sender(home.join("go"))?;
    let body = json!({"action": "pull", "repoPath": repo});
    let slow: Vec<_> = (0..SLOW)
        .map(|_| tokio::spawn(local.loopgate.gateway(Method::POST, "/api/gateway/git").json(&body).send()))
        .collect();
    for _ in 0..SLOW {
        let line = tokio::time::timeout(wait::LIMIT, waiting.next_line()).await;
        ensure!(line.context("not all are under way")??.as_deref() == Some("waiting"));
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
    tokio::time::timeout(wait::LIMIT, answers).await.context("somebody waits for the slow ones")??;
    ensure!(slow.iter().all(|slow| !slow.is_finished()), "they still wait");
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
async fn request_neither_reads_the_settings_nor_writes_the_log() -> Result<()> {
    const REQUESTS: usize = 300;
    let local = Local::new().await?;
    let data = local.loopgate.setup().data_dir();
    local.get("repos", &[]).await?.ok()?;
    let (tell, told) = mpsc::channel();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let _ = tell.send(event);
    })?;
    watcher.watch(&data, RecursiveMode::NonRecursive)?;
    let began = Instant::now();
    for _ in 0..REQUESTS {
        local.get("repos", &[]).await?.ok()?;
    }
    let pauses = began.elapsed().as_secs();
    drop(watcher);
    let (mut read, mut written) = (0, 0);
    for event in told {
        let event = event?;
        let named = |name: &str| event.paths.last().is_some_and(|path| path.ends_with(name));
        let opened = matches!(event.kind, EventKind::Access(AccessKind::Open(_)));
        let renamed = matches!(event.kind, EventKind::Modify(ModifyKind::Name(_)));
        read += usize::from(opened && named("settings.toml"));
        written += u64::from(renamed && named("desktop-activity-log.json"));
    }
    ensure!(read == 0, "the settings were read {read} times");
    // A rename has up to three events, and at least a second passes between two.
    ensure!(written <= 3 * (pauses + 1), "the log was written {written} times");
    Ok(())
}
