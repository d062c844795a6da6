//! Ending a process by its pid or its ticket, and what is never ended.

use anyhow::{Context as _, Result, ensure};
use loopgate_tools::process::identity;
use serde_json::{Value, json};

use super::Shop;
use crate::local::Answer;

impl Shop {
    async fn kill(&self, body: Value) -> Result<Answer> {
        self.local.post("orchestrator/kill", body).await
    }

    async fn kill_ticket(&self) -> Result<Answer> {
        self.kill(json!({"ticketId": "SHOP-7", "repoPath": self.repo})).await
    }
}

// OR-17
#[tokio::test]
async fn ticket_without_a_process_is_marked_stopped() -> Result<()> {
    let shop = Shop::new().await?;
    let nothing =
        json!({"success": true, "message": "No process to kill (no PID file), state marked as stopped"});
    shop.kill_ticket().await?.is(200, &nothing)?;
    ensure!(!shop.worktree.exists(), "nothing is made for a ticket without a worktree");

    shop.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p","iteration":3}"#)?;
    shop.write("../loopgate-loop.local.md", "go on")?;
    shop.write(".agent-types/a1", "x|y|")?;
    shop.kill_ticket().await?.is(200, &nothing)?;
    let state: Value = serde_json::from_slice(&std::fs::read(shop.work.join("state.json"))?)?;
    ensure!(state["status"] == "STOPPED" && state["phase"] == "Process stopped by user", "{state}");
    ensure!(state["iteration"] == 3 && state["timestamp"].is_string(), "{state}");
    ensure!(!shop.worktree.join(".loopgate/loopgate-loop.local.md").exists());
    ensure!(!shop.work.join(".agent-types/a1").exists());

    shop.write("process.pid", "4194305")?;
    let gone = json!({"success": true, "message": "Process already terminated", "pid": 4_194_305});
    shop.kill_ticket().await?.is(200, &gone)?;
    ensure!(!shop.work.join("process.pid").exists());
    for odd in ["", "x", "-1", "7x"] {
        shop.write("process.pid", odd)?;
        let answer = shop.kill_ticket().await?;
        answer.refused(500, "Invalid PID in process.pid file", "operation_failed")?;
    }
    Ok(())
}

/// Processes that Loopgate did not start live on, whatever says that they are its own.
// GC-48, OR-19
#[tokio::test]
async fn process_of_others_is_never_signalled() -> Result<()> {
    let shop = Shop::new().await?;
    let mut stranger = shop.local.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = stranger.id().context("it runs")?;
    let refused = async |body: Value| {
        let answer = shop.kill(body).await?;
        answer.refused(403, "process not managed by this gateway", "process_not_managed")
    };
    let gateway = shop.local.loopgate.pid().context("it runs")?;
    for pid in
        [json!(pid), json!(gateway), json!(1), json!(-1), json!(-i64::from(pid)), json!(1.5), json!(1e300)]
    {
        refused(json!({"pid": pid})).await?;
    }
    // Neither a session nor the files of a worktree make it ours.
    std::fs::create_dir_all(&shop.worktree)?;
    let session =
        json!({"ticketId": "SHOP-7", "repoPath": shop.repo, "worktreePath": shop.worktree, "pid": pid});
    shop.local.post("orchestrator/sessions", session).await?.ok()?;
    refused(json!({"pid": pid})).await?;
    let started = identity(pid).context("it lives")?;
    for (pid, started) in [(pid.to_string(), started.to_string()), ("1".to_owned(), "0".to_owned())] {
        shop.write("process.pid", &pid)?;
        shop.write("process.start", &started)?;
        shop.write("../loopgate-loop.local.md", "go on")?;
        refused(json!({"ticketId": "SHOP-7", "repoPath": shop.repo})).await?;
        ensure!(shop.work.join("process.pid").exists(), "what is refused changes nothing");
        ensure!(shop.worktree.join(".loopgate/loopgate-loop.local.md").exists());
    }
    ensure!(stranger.try_wait()?.is_none(), "it lives on");
    Ok(())
}

// OR-19
#[tokio::test]
async fn request_without_a_target_is_refused() -> Result<()> {
    let shop = Shop::new().await?;
    let needed = "Either pid or (ticketId + repoPath) is required";
    for body in [json!({}), json!({"pid": 0}), json!({"pid": "7"}), json!({"ticketId": "SHOP-7"})] {
        shop.kill(body).await?.refused(400, needed, "missing_field")?;
    }
    let outside = shop.kill(json!({"ticketId": "SHOP-7", "repoPath": "/etc"})).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")
}
