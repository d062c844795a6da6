//! Disconnected clients: read-only git commands are terminated, and changing ones run to their end.

use std::path::Path;

use anyhow::{Context as _, Result};
use loopgate_testkit::git::git;
use loopgate_testkit::{home_processes, wait};
use reqwest::Method;
use serde_json::{Value, json};

use super::instead_of;
use crate::test_gateway::{TestGateway, write};

/// Sends a request, and drops the connection once git has created `signal_file`.
async fn disconnect_at(local: &TestGateway, body: Value, signal_file: &Path) -> Result<()> {
    let request = local.loopgate.gateway(Method::POST, "/api/gateway/git").json(&body).send();
    tokio::select! {
        answer = request => anyhow::bail!("the request completed: {:?}", answer?.status()),
        created = wait::until_exists(signal_file) => created?,
    }
    Ok(())
}

#[tokio::test]
async fn status_is_terminated_on_disconnect() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let signal_file = local.home.path().join("looking");
    instead_of(&local, "status", &format!("sleep 600 & : > '{}'; wait", signal_file.display()))?;
    disconnect_at(&local, json!({"action": "status", "repoPath": repo}), &signal_file).await?;
    let gateway_pid = local.loopgate.pid();
    let others = || home_processes::processes(local.home.path()).into_iter().map(|process| process.pid);
    wait::all_end(|| others().filter(|pid| Some(*pid) != gateway_pid).collect()).await
}

#[tokio::test]
async fn commit_completes_after_disconnect() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let (signal_file, go) = (local.home.path().join("committing"), local.home.path().join("go"));
    let hook = repo.join(".git/hooks/pre-commit");
    let script = format!(
        // The hook blocks until the client is disconnected, then lets the commit continue.
        "#!/bin/sh\nmkfifo '{go}'\n: > '{signal_file}'\nread word < '{go}'\n",
        go = go.display(),
        signal_file = signal_file.display()
    );
    write(&hook, script)?;
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    local.trust(&repo).await?;
    write(&repo.join("a"), "2\n")?;
    let body = json!({"action": "commit", "repoPath": repo, "message": "Finished"});
    disconnect_at(&local, body, &signal_file).await?;
    tokio::fs::write(&go, "go\n").await?;
    let last = || git(&repo, &["log", "-1", "--format=%s"]).unwrap_or_default();
    let finished = async || (last().trim() == "Finished").then_some(());
    let committed = wait::until(&repo.join(".git/refs/heads"), finished).await;
    committed.with_context(|| format!("the last commit is {}", last()))
}
