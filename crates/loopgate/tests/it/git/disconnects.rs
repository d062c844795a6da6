//! A caller that goes away: what only looks is ended, what changes something is finished.

use std::path::Path;

use anyhow::{Context as _, Result};
use loopgate_testkit::git::git;
use loopgate_testkit::{home_processes, wait};
use reqwest::Method;
use serde_json::{Value, json};

use super::instead_of;
use crate::local::{Local, write};

/// Asks, and hangs up once a file says that git is at work.
async fn hang_up_at(local: &Local, body: Value, sign: &Path) -> Result<()> {
    let asking = local.loopgate.gateway(Method::POST, "/api/gateway/git").json(&body).send();
    tokio::select! {
        answer = asking => anyhow::bail!("it was answered: {:?}", answer?.status()),
        begun = wait::appears(sign) => begun?,
    }
    Ok(())
}

#[tokio::test]
async fn status_request_ends_with_its_caller() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let sign = local.home.path().join("looking");
    instead_of(&local, "status", &format!("sleep 600 & : > '{}'; wait", sign.display()))?;
    hang_up_at(&local, json!({"action": "status", "repoPath": repo}), &sign).await?;
    let own = local.loopgate.pid();
    let others = || home_processes::processes(local.home.path()).into_iter().map(|process| process.pid);
    wait::all_end(|| others().filter(|pid| Some(*pid) != own).collect()).await
}

#[tokio::test]
async fn commit_is_finished_without_its_caller() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("r", &[("a", "1\n")])?;
    let (sign, go) = (local.home.path().join("committing"), local.home.path().join("go"));
    let hook = repo.join(".git/hooks/pre-commit");
    let script = format!(
        "#!/bin/sh\nmkfifo '{go}'\n: > '{sign}'\nread word < '{go}'\n",
        go = go.display(),
        sign = sign.display()
    );
    write(&hook, script)?;
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    local.trust(&repo).await?;
    write(&repo.join("a"), "2\n")?;
    let body = json!({"action": "commit", "repoPath": repo, "message": "Finished"});
    hang_up_at(&local, body, &sign).await?;
    tokio::fs::write(&go, "go\n").await?;
    let last = || git(&repo, &["log", "-1", "--format=%s"]).unwrap_or_default();
    let finished = async || (last().trim() == "Finished").then_some(());
    let seen = wait::seen(&repo.join(".git/refs/heads"), finished).await;
    seen.with_context(|| format!("the last commit is {}", last()))
}
