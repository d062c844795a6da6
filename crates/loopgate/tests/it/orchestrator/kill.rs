//! Termination of a process by pid or by ticket, and refusal for all other processes.

use anyhow::{Context as _, Result, ensure};
use loopgate_tools::process::identity;
use serde_json::{Value, json};

use super::Shop;
use crate::test_gateway::Answer;

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
    let no_process =
        json!({"success": true, "message": "No process to kill (no PID file), state marked as stopped"});
    shop.kill_ticket().await?.is(200, &no_process)?;
    ensure!(!shop.worktree.exists(), "a worktree was created");

    shop.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p","iteration":3}"#)?;
    shop.write("../loopgate-loop.local.md", "state")?;
    shop.write(".agent-types/a1", "x|y|")?;
    shop.kill_ticket().await?.is(200, &no_process)?;
    let state: Value = serde_json::from_slice(&std::fs::read(shop.work_dir.join("state.json"))?)?;
    ensure!(state["status"] == "STOPPED" && state["phase"] == "Process stopped by user", "{state}");
    ensure!(state["iteration"] == 3 && state["timestamp"].is_string(), "{state}");
    ensure!(!shop.worktree.join(".loopgate/loopgate-loop.local.md").exists());
    ensure!(!shop.work_dir.join(".agent-types/a1").exists());

    shop.write("process.pid", "4194305")?;
    let already_terminated =
        json!({"success": true, "message": "Process already terminated", "pid": 4_194_305});
    shop.kill_ticket().await?.is(200, &already_terminated)?;
    ensure!(!shop.work_dir.join("process.pid").exists());
    for invalid in ["", "x", "-1", "7x"] {
        shop.write("process.pid", invalid)?;
        let answer = shop.kill_ticket().await?;
        answer.refused(500, "Invalid PID in process.pid file", "operation_failed")?;
    }
    Ok(())
}

/// Processes not started by Loopgate are never signalled, whatever pid files and sessions claim.
// GC-48, OR-19
#[tokio::test]
async fn unmanaged_process_is_never_signalled() -> Result<()> {
    let shop = Shop::new().await?;
    let mut unmanaged = shop.local.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = unmanaged.id().context("the process has exited")?;
    let refused = async |body: Value| {
        let answer = shop.kill(body).await?;
        answer.refused(403, "process not managed by this gateway", "process_not_managed")
    };
    let gateway = shop.local.loopgate.pid().context("the process has exited")?;
    for pid in
        [json!(pid), json!(gateway), json!(1), json!(-1), json!(-i64::from(pid)), json!(1.5), json!(1e300)]
    {
        refused(json!({"pid": pid})).await?;
    }
    // Neither a session nor pid files in a worktree prove that Loopgate started the process.
    std::fs::create_dir_all(&shop.worktree)?;
    let session =
        json!({"ticketId": "SHOP-7", "repoPath": shop.repo, "worktreePath": shop.worktree, "pid": pid});
    shop.local.post("orchestrator/sessions", session).await?.ok()?;
    refused(json!({"pid": pid})).await?;
    let started = identity(pid).context("the process has exited")?;
    for (pid, started) in [(pid.to_string(), started.to_string()), ("1".to_owned(), "0".to_owned())] {
        shop.write("process.pid", &pid)?;
        shop.write("process.start", &started)?;
        shop.write("../loopgate-loop.local.md", "state")?;
        refused(json!({"ticketId": "SHOP-7", "repoPath": shop.repo})).await?;
        ensure!(shop.work_dir.join("process.pid").exists(), "a refused request removed the pid file");
        ensure!(shop.worktree.join(".loopgate/loopgate-loop.local.md").exists());
    }
    ensure!(unmanaged.try_wait()?.is_none(), "the process was terminated");
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
