//! Running loops that are stopped through the routes of tickets, and processes that these routes must not
//! signal.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use loopgate_tools::process::identity;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::{records, test_system};

/// Returns a plan that starts a child in another session and is then held.
fn held_plan() -> Conversation {
    Conversation::when("plan", "# Coding loop")
        .turn([ModelStep::bash("setsid sleep 600 > /dev/null 2>&1 & echo started")])
        .turn([ModelStep::hold("planning")])
}

struct RunningLoop {
    desktop: TestDesktop,
    id: LoopId,
    pid: u64,
    worktree: PathBuf,
}

impl RunningLoop {
    async fn new() -> Result<Self> {
        let desktop = TestDesktop::playing([held_plan()]).await?;
        Self::of(desktop).await
    }

    async fn of(desktop: TestDesktop) -> Result<Self> {
        let order = json!({"command": "PLAN", "prompt": "Add a file", "ticketId": "SHOP-7"});
        let (id, started) = desktop.start(order).await?;
        desktop.testbed.model.held("planning").await?;
        let pid = started["pid"].as_u64().context("a pid")?;
        let worktree = started["worktreePath"].as_str().context("a worktree")?.into();
        Ok(Self { desktop, id, pid, worktree })
    }

    async fn post(&self, route: &str, body: Value) -> Result<(u16, Value)> {
        let path = format!("/api/gateway/orchestrator/{route}");
        let answer = self.desktop.loopgate.gateway(Method::POST, &path).json(&body).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    /// Checks the final event and the job record, and waits until all processes of the loop have exited.
    async fn expect_end(&self, code: &str, status: &str) -> Result<()> {
        let last = self.desktop.wait_finished(self.id).await;
        ensure!(last["type"] == "error" && last["code"] == code, "{last}");
        ensure!(last["abortReason"] == "cancelled" && last["loopId"] == json!(self.id), "{last}");
        self.desktop.wait_released(self.id).await?;
        test_system::wait_for_loop_processes(&self.id.to_string()).await?;
        let job = self.record().await?;
        ensure!(job["status"] == status && job["completedAt"].is_string(), "{job}");
        ensure!(
            self.desktop.cloud.accepted(self.id, "upload-artifacts").is_empty(),
            "artifacts were uploaded"
        );
        ensure!(self.desktop.cloud.events(self.id, "error").len() == 1);
        Ok(())
    }

    async fn record(&self) -> Result<Value> {
        records::record(&self.desktop.loopgate, &self.id.to_string()).await?.context("no record")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_killed_by_pid_is_stopped() -> Result<()> {
    let running = RunningLoop::new().await?;
    let answer = running.post("kill", json!({"pid": running.pid})).await?;
    let expected = json!({"success": true, "message": "Process terminated", "pid": running.pid});
    ensure!(answer == (200, expected), "{answer:?}");
    running.expect_end("PROCESS_STOPPED", "STOPPED").await?;
    let again = running.post("kill", json!({"pid": running.pid})).await?;
    ensure!(again.1["message"] == "Process already terminated", "{again:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_found_by_worktree_without_pid_file() -> Result<()> {
    let running = RunningLoop::new().await?;
    let work = running.worktree.join(".loopgate/work");
    std::fs::remove_file(work.join("process.pid"))?;
    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let answer = running.post("kill", body).await?;
    let expected = json!({"success": true, "message": "Process terminated", "pid": running.pid});
    ensure!(answer == (200, expected), "{answer:?}");
    running.expect_end("PROCESS_STOPPED", "STOPPED").await?;
    let state: Value = serde_json::from_slice(&std::fs::read(work.join("state.json"))?)?;
    ensure!(state["status"] == "STOPPED" && state["phase"] == "Process stopped by user", "{state}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_plan_is_cancelled() -> Result<()> {
    let running = RunningLoop::new().await?;
    let step = "plan-loop/SHOP-7/cancel";
    let body = json!({"repoPath": running.desktop.clone, "loopId": running.id});
    let answer = running.post(step, body.clone()).await?;
    ensure!(answer == (200, json!({"cancelled": true})), "{answer:?}");
    running.expect_end("CANCELLED", "CANCELLED").await?;
    let again = running.post(step, body).await?;
    ensure!(again == (200, json!({"cancelled": true})), "{again:?}");
    Ok(())
}

/// The process has exited and the result is being pushed: stopping the ticket aborts the delivery.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_stopped_by_ticket_during_delivery() -> Result<()> {
    let execution = Conversation::when("execute", "# Coding loop")
        .turn([ModelStep::bash("echo x > more.txt")])
        .says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([execution]).await?;
    let push = desktop.testbed.remotes.hold_push(story::REPOSITORY)?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "ticketId": "SHOP-7"});
    let (id, started) = desktop.start(order).await?;
    push.started().await?;
    let worktree = started["worktreePath"].as_str().context("a worktree")?.into();
    let running = RunningLoop { pid: started["pid"].as_u64().context("a pid")?, desktop, id, worktree };
    ensure!(running.record().await?["status"] == "RUNNING");

    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let (status, answer) = running.post("kill", body).await?;
    ensure!(status == 200 && answer["message"] == "Process terminated", "{status} {answer}");
    running.expect_end("PROCESS_STOPPED", "STOPPED").await?;
    ensure!(running.desktop.cloud.events(id, "completed").is_empty());
    let state = std::fs::read_to_string(running.worktree.join(".loopgate/work/state.json"))?;
    ensure!(state.contains("Process stopped by user"), "{state}");
    Ok(())
}

/// A cancellation by the user takes effect locally, even when the control plane cannot be reached.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_plan_is_cancelled_when_the_control_plane_is_unreachable() -> Result<()> {
    let mut running = RunningLoop::new().await?;
    // Drops the control plane that the gateway is configured with.
    running.desktop.cloud = Cloud::start().await?;
    let body = json!({"repoPath": running.desktop.clone, "loopId": running.id});
    let (status, refused) = running.post("plan-loop/SHOP-7/cancel", body).await?;
    let text = refused["error"].as_str().unwrap_or_default();
    ensure!(status == 502 && text.starts_with("Failed to reach API: "), "{status} {refused}");
    test_system::wait_for_loop_processes(&running.id.to_string()).await?;
    running.desktop.wait_released(running.id).await?;
    let job = running.record().await?;
    ensure!(job["status"] == "CANCELLED" && job.get("cloudFinalizedAt").is_none(), "{job}");
    Ok(())
}

/// A page confirms the plan before the command of the control plane arrives: the loop still starts, and
/// belongs to the ticket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn confirmed_plan_starts_with_command() -> Result<()> {
    let desktop = TestDesktop::playing([held_plan()]).await?;
    let id = LoopId(uuid::Uuid::new_v4());
    let confirm = json!({"repoPath": desktop.clone, "loopId": id, "artifactId": "a-1", "artifactSlug": "SHOP-7",
        "ticketTitle": "Cache"});
    let path = "/api/gateway/orchestrator/plan-loop/TICKET-1/confirm";
    let confirmed = desktop.loopgate.gateway(Method::POST, path).json(&confirm).send().await?;
    let confirmed: Value = confirmed.json().await?;
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-shop-7");
    ensure!(confirmed == json!({"ok": true, "worktreeDir": worktree}), "{confirmed}");
    let kill = desktop.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    ensure!(kill.json(&json!({"loopId": id})).send().await?.status() == 404, "the loop already runs");
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": "Add a file", "repo": {"fullName": story::REPOSITORY, "branch": "main"},
        "artifactSlug": "SHOP-7"});
    let order =
        || desktop.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&body).send();
    let started: Value = order().await?.json().await?;
    ensure!(started["success"] == true && started["worktreePath"] == json!(worktree), "{started}");
    ensure!(worktree.join(".git").exists(), "the worktree was not created");
    let metadata = std::fs::read_to_string(worktree.join(".loopgate/work/launch-metadata.json"))?;
    ensure!(metadata.contains("Cache"), "{metadata}");
    desktop.testbed.model.held("planning").await?;
    ensure!(order().await?.status() == 409, "the process has exited");
    let running = RunningLoop { pid: started["pid"].as_u64().context("a pid")?, desktop, id, worktree };
    let record = running.record().await?;
    ensure!(record["ticketId"] == "TICKET-1" && record["artifactId"] == "a-1", "{record}");
    let cancel = json!({"repoPath": running.desktop.clone, "loopId": id});
    let answer = running.post("plan-loop/TICKET-1/cancel", cancel).await?;
    ensure!(answer == (200, json!({"cancelled": true})), "{answer:?}");
    running.expect_end("CANCELLED", "CANCELLED").await
}

/// Only processes started by Loopgate are signalled, whatever pid files and records contain.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_route_signals_unmanaged_processes() -> Result<()> {
    let running = RunningLoop::new().await?;
    let mut unmanaged = running.desktop.testbed.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = unmanaged.id().context("the process has exited")?;
    let started = identity(pid).context("the process has exited")?.to_string();
    let test_pid = std::process::id();
    let gateway = running.desktop.loopgate.pid().context("the process has exited")?;
    let work = running.worktree.join(".loopgate/work");
    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let other = json!({"repoPath": running.desktop.clone, "loopId": uuid::Uuid::new_v4()});
    let ticket = running.desktop.testbed.sandbox().join("garden-notes-SHOP-8");
    let ticket_work_dir = ticket.join(".loopgate/work");
    std::fs::create_dir_all(&ticket_work_dir)?;
    for pid in [pid, test_pid, gateway, 1] {
        // Pid files of the loop's worktree, and of a ticket without a loop.
        for work_dir in [&work, &ticket_work_dir] {
            std::fs::write(work_dir.join("process.pid"), pid.to_string())?;
            std::fs::write(work_dir.join("process.start"), &started)?;
        }
        for (route, body) in [("kill", body.clone()), ("plan-loop/SHOP-8/cancel", other.clone())] {
            let (status, refused) = running.post(route, body).await?;
            let text = "process not managed by this gateway";
            ensure!(status == 403 && refused["error"] == text, "{route} {pid}: {status} {refused}");
            ensure!(refused["code"] == "process_not_managed", "{refused}");
        }
    }
    for invalid in ["0", "-1", "-7"] {
        std::fs::write(ticket_work_dir.join("process.pid"), invalid)?;
        let (status, answer) = running.post("plan-loop/SHOP-8/cancel", other.clone()).await?;
        let safe = (status == 200 && answer["warning"] == "process-unknown") || status == 403;
        ensure!(safe, "{invalid}: {status} {answer}");
    }
    for pid in [json!(pid), json!(test_pid), json!(gateway), json!(1), json!(-1), json!(-i64::from(gateway))]
    {
        let (status, refused) = running.post("kill", json!({"pid": pid})).await?;
        ensure!(status == 403, "{pid}: {status} {refused}");
    }
    // This route uses the loop's record, not the pid file.
    std::fs::write(work.join("process.pid"), pid.to_string())?;
    let expect_end = running.post("loop/kill", json!({"loopId": running.id, "pid": pid})).await?;
    ensure!(expect_end.0 == 200, "{expect_end:?}");
    running.expect_end("CANCELLED", "CANCELLED").await?;
    ensure!(unmanaged.try_wait()?.is_none(), "the process was terminated");
    Ok(())
}

/// A job record outlives its process, and the pid may have been reused by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reused_pid_is_not_signalled() -> Result<()> {
    let mut running = RunningLoop::new().await?;
    let mut unmanaged = running.desktop.testbed.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = unmanaged.id().context("the process has exited")?;
    let (status, cancelled) = running.post("loop/kill", json!({"loopId": running.id})).await?;
    ensure!(status == 200, "{cancelled}");
    running.expect_end("CANCELLED", "CANCELLED").await?;
    running.desktop.loopgate.kill().await?;
    records::rewrite(&running.desktop.loopgate, &running.id.to_string(), |record| {
        record["pid"] = json!(pid);
        // The start times differ by more than the tolerance for clock readings, so the pid counts as reused.
        record["pidStartedAt"] = json!(record["pidStartedAt"].as_u64().map(|start| start - 60_000));
        record["process"]["socket"] = json!("/nonexistent/loop.sock");
        record["process"]["exitFile"] = json!("/nonexistent/exit.json");
    })
    .await?;
    running.desktop.loopgate = running.desktop.loopgate.start_again().await?;
    for (route, body, status) in [
        ("kill", json!({"pid": pid}), 403),
        ("loop/kill", json!({"loopId": running.id}), 404),
        ("plan-loop/SHOP-7/cancel", json!({"repoPath": running.desktop.clone, "loopId": running.id}), 200),
    ] {
        let answer = running.post(route, body).await?;
        ensure!(answer.0 == status, "{route}: {answer:?}");
    }
    ensure!(unmanaged.try_wait()?.is_none(), "the process was terminated");
    Ok(())
}
