//! Loops that really run, ended by the routes of tickets; and what those routes leave alone.

use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::{story, wait};
use loopgate_tools::process::identity;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::{records, test_system};

/// A plan that starts a process of its own and then waits.
fn planner() -> Conversation {
    Conversation::when("plan", "# Coding loop")
        .turn([Step::bash("setsid sleep 600 > /dev/null 2>&1 & echo started")])
        .turn([Step::hold("planning")])
}

struct RunningLoop {
    desktop: TestDesktop,
    id: LoopId,
    pid: u64,
    worktree: PathBuf,
}

impl RunningLoop {
    async fn new() -> Result<Self> {
        let desktop = TestDesktop::playing([planner()]).await?;
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

    /// The loop's last word, its recorded status, and nothing that runs.
    async fn ended(&self, code: &str, status: &str) -> Result<()> {
        let last = self.desktop.ended(self.id).await;
        ensure!(last["type"] == "error" && last["code"] == code, "{last}");
        ensure!(last["abortReason"] == "cancelled" && last["loopId"] == json!(self.id), "{last}");
        self.desktop.free(self.id).await?;
        test_system::gone(&self.id.to_string()).await?;
        let job = self.record().await?;
        ensure!(job["status"] == status && job["completedAt"].is_string(), "{job}");
        ensure!(self.desktop.cloud.accepted(self.id, "upload-artifacts").is_empty(), "nothing is uploaded");
        ensure!(self.desktop.cloud.events(self.id, "error").len() == 1);
        Ok(())
    }

    async fn record(&self) -> Result<Value> {
        records::record(&self.desktop.loopgate, &self.id.to_string()).await?.context("no record")
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_is_ended_by_its_pid_is_stopped() -> Result<()> {
    let running = RunningLoop::new().await?;
    let answer = running.post("kill", json!({"pid": running.pid})).await?;
    let wanted = json!({"success": true, "message": "Process terminated", "pid": running.pid});
    ensure!(answer == (200, wanted), "{answer:?}");
    running.ended("PROCESS_STOPPED", "STOPPED").await?;
    let again = running.post("kill", json!({"pid": running.pid})).await?;
    ensure!(again.1["message"] == "Process already terminated", "{again:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_is_found_by_its_worktree_when_no_file_names_its_pid() -> Result<()> {
    let running = RunningLoop::new().await?;
    let work = running.worktree.join(".loopgate/work");
    std::fs::remove_file(work.join("process.pid"))?;
    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let answer = running.post("kill", body).await?;
    let wanted = json!({"success": true, "message": "Process terminated", "pid": running.pid});
    ensure!(answer == (200, wanted), "{answer:?}");
    running.ended("PROCESS_STOPPED", "STOPPED").await?;
    let state: Value = serde_json::from_slice(&std::fs::read(work.join("state.json"))?)?;
    ensure!(state["status"] == "STOPPED" && state["phase"] == "Process stopped by user", "{state}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_that_runs_is_taken_back_whole() -> Result<()> {
    let running = RunningLoop::new().await?;
    let step = "plan-loop/SHOP-7/cancel";
    let body = json!({"repoPath": running.desktop.clone, "loopId": running.id});
    let answer = running.post(step, body.clone()).await?;
    ensure!(answer == (200, json!({"cancelled": true})), "{answer:?}");
    running.ended("CANCELLED", "CANCELLED").await?;
    let again = running.post(step, body).await?;
    ensure!(again == (200, json!({"cancelled": true})), "{again:?}");
    Ok(())
}

/// Its last process has ended and what it did is being pushed: the button that stops it still does.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_is_delivered_can_be_stopped_by_its_ticket() -> Result<()> {
    let executed = Conversation::when("execute", "# Coding loop")
        .turn([Step::bash("echo x > more.txt")])
        .says("<promise>COMPLETE</promise>");
    let commits = Conversation::when("commit", "git push -u origin HEAD").says("Not I.");
    let desktop = TestDesktop::playing([executed, commits]).await?;
    let (pushed, go) = (desktop.testbed.home.path().join("pushed"), desktop.testbed.home.path().join("go"));
    let hook = desktop.testbed.remotes.bare(story::REPOSITORY).join("hooks/pre-receive");
    let text = format!(
        "#!/bin/sh\nmkfifo '{go}'\n: > '{0}'\nread word < '{go}'\n",
        pushed.display(),
        go = go.display()
    );
    std::fs::create_dir_all(hook.parent().context("a parent")?)?;
    std::fs::write(&hook, text)?;
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755))?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "ticketId": "SHOP-7"});
    let (id, started) = desktop.start(order).await?;
    wait::appears(&pushed).await?;
    let worktree = started["worktreePath"].as_str().context("a worktree")?.into();
    let running = RunningLoop { pid: started["pid"].as_u64().context("a pid")?, desktop, id, worktree };
    ensure!(running.record().await?["status"] == "RUNNING");

    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let (status, answer) = running.post("kill", body).await?;
    ensure!(status == 200 && answer["message"] == "Process terminated", "{status} {answer}");
    tokio::fs::write(&go, "go\n").await?;
    running.ended("PROCESS_STOPPED", "STOPPED").await?;
    ensure!(running.desktop.cloud.events(id, "completed").is_empty());
    let state = std::fs::read_to_string(running.worktree.join(".loopgate/work/state.json"))?;
    ensure!(state.contains("Process stopped by user"), "{state}");
    Ok(())
}

/// What a person wants of a loop is done here, whether or not anybody hears of it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn running_plan_is_cancelled_when_the_control_plane_is_unreachable() -> Result<()> {
    let mut running = RunningLoop::new().await?;
    // The one that the gateway knows ends with this.
    running.desktop.cloud = Cloud::start().await?;
    let body = json!({"repoPath": running.desktop.clone, "loopId": running.id});
    let (status, refused) = running.post("plan-loop/SHOP-7/cancel", body).await?;
    let text = refused["error"].as_str().unwrap_or_default();
    ensure!(status == 502 && text.starts_with("Failed to reach API: "), "{status} {refused}");
    test_system::gone(&running.id.to_string()).await?;
    running.desktop.free(running.id).await?;
    let job = running.record().await?;
    ensure!(job["status"] == "CANCELLED" && job.get("cloudFinalizedAt").is_none(), "{job}");
    Ok(())
}

/// A page notes the plan before the control plane's order arrives: the loop starts all the same, and
/// belongs to the ticket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_that_was_agreed_on_starts_when_it_is_ordered() -> Result<()> {
    let desktop = TestDesktop::playing([planner()]).await?;
    let id = LoopId(uuid::Uuid::new_v4());
    let confirm = json!({"repoPath": desktop.clone, "loopId": id, "artifactId": "a-1", "artifactSlug": "SHOP-7",
        "ticketTitle": "Cache"});
    let path = "/api/gateway/orchestrator/plan-loop/TICKET-1/confirm";
    let confirmed = desktop.loopgate.gateway(Method::POST, path).json(&confirm).send().await?;
    let confirmed: Value = confirmed.json().await?;
    let worktree = desktop.testbed.sandbox().join("garden-notes-loop-shop-7");
    ensure!(confirmed == json!({"ok": true, "worktreeDir": worktree}), "{confirmed}");
    let kill = desktop.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    ensure!(kill.json(&json!({"loopId": id})).send().await?.status() == 404, "nothing runs yet");
    let body = json!({"loopId": id, "command": "PLAN", "loopgateAuthToken": "t", "artifacts": [],
        "prompt": "Add a file", "repo": {"fullName": story::REPOSITORY, "branch": "main"},
        "artifactSlug": "SHOP-7"});
    let order =
        || desktop.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop").json(&body).send();
    let started: Value = order().await?.json().await?;
    ensure!(started["success"] == true && started["worktreePath"] == json!(worktree), "{started}");
    ensure!(worktree.join(".git").exists(), "what was noted is no worktree yet");
    let noted = std::fs::read_to_string(worktree.join(".loopgate/work/launch-metadata.json"))?;
    ensure!(noted.contains("Cache"), "{noted}");
    desktop.testbed.model.held("planning").await?;
    ensure!(order().await?.status() == 409, "it runs");
    let running = RunningLoop { pid: started["pid"].as_u64().context("a pid")?, desktop, id, worktree };
    let record = running.record().await?;
    ensure!(record["ticketId"] == "TICKET-1" && record["artifactId"] == "a-1", "{record}");
    let cancel = json!({"repoPath": running.desktop.clone, "loopId": id});
    let answer = running.post("plan-loop/TICKET-1/cancel", cancel).await?;
    ensure!(answer == (200, json!({"cancelled": true})), "{answer:?}");
    running.ended("CANCELLED", "CANCELLED").await
}

/// Whatever files and records say, only what Loopgate started is ended.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_route_ends_a_foreign_process() -> Result<()> {
    let running = RunningLoop::new().await?;
    let mut stranger = running.desktop.testbed.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = stranger.id().context("it runs")?;
    let started = identity(pid).context("it lives")?.to_string();
    let own = std::process::id();
    let gateway = running.desktop.loopgate.pid().context("it runs")?;
    let work = running.worktree.join(".loopgate/work");
    let body = json!({"ticketId": "SHOP-7", "repoPath": running.desktop.clone});
    let other = json!({"repoPath": running.desktop.clone, "loopId": uuid::Uuid::new_v4()});
    let ticket = running.desktop.testbed.sandbox().join("garden-notes-SHOP-8");
    let of_ticket = ticket.join(".loopgate/work");
    std::fs::create_dir_all(&of_ticket)?;
    for pid in [pid, own, gateway, 1] {
        // The files of the loop's worktree, and those of a ticket without a loop.
        for place in [&work, &of_ticket] {
            std::fs::write(place.join("process.pid"), pid.to_string())?;
            std::fs::write(place.join("process.start"), &started)?;
        }
        for (route, body) in [("kill", body.clone()), ("plan-loop/SHOP-8/cancel", other.clone())] {
            let (status, refused) = running.post(route, body).await?;
            let text = "process not managed by this gateway";
            ensure!(status == 403 && refused["error"] == text, "{route} {pid}: {status} {refused}");
            ensure!(refused["code"] == "process_not_managed", "{refused}");
        }
    }
    for odd in ["0", "-1", "-7"] {
        std::fs::write(of_ticket.join("process.pid"), odd)?;
        let (status, answer) = running.post("plan-loop/SHOP-8/cancel", other.clone()).await?;
        let safe = (status == 200 && answer["warning"] == "process-unknown") || status == 403;
        ensure!(safe, "{odd}: {status} {answer}");
    }
    for pid in [json!(pid), json!(own), json!(gateway), json!(1), json!(-1), json!(-i64::from(gateway))] {
        let (status, refused) = running.post("kill", json!({"pid": pid})).await?;
        ensure!(status == 403, "{pid}: {status} {refused}");
    }
    // A loop's own route knows the loop by its record, not by what the files say.
    std::fs::write(work.join("process.pid"), pid.to_string())?;
    let ended = running.post("loop/kill", json!({"loopId": running.id, "pid": pid})).await?;
    ensure!(ended.0 == 200, "{ended:?}");
    running.ended("CANCELLED", "CANCELLED").await?;
    ensure!(stranger.try_wait()?.is_none(), "it lives on");
    Ok(())
}

/// The record of a loop outlives its process, and its pid may be somebody else's by then.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pid_that_was_given_away_is_not_the_loops() -> Result<()> {
    let mut running = RunningLoop::new().await?;
    let mut stranger = running.desktop.testbed.home.command("sleep").arg("600").process_group(0).spawn()?;
    let pid = stranger.id().context("it runs")?;
    let (status, cancelled) = running.post("loop/kill", json!({"loopId": running.id})).await?;
    ensure!(status == 200, "{cancelled}");
    running.ended("CANCELLED", "CANCELLED").await?;
    running.desktop.loopgate.kill().await?;
    records::rewrite(&running.desktop.loopgate, &running.id.to_string(), |record| {
        record["pid"] = json!(pid);
        // Whoever got the pid began later, by more than two readings of a clock may differ.
        record["pidStartedAt"] = json!(record["pidStartedAt"].as_u64().map(|began| began - 60_000));
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
    ensure!(stranger.try_wait()?.is_none(), "it lives on");
    Ok(())
}
