//! Status, log and plan of a ticket, read from its worktree.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::origin_checks::percent_encode;
use crate::test_system::TestSystem;

/// Process id above the kernel's maximum of 4194304, which therefore never exists.
const UNUSED_PID: &str = "4194305";

/// Running system, and the paths of ticket `SHOP-7` of the story's repository.
struct TicketStory {
    system: TestSystem,
    worktree: PathBuf,
    work: PathBuf,
}

impl TicketStory {
    async fn new() -> Result<Self> {
        let system = TestSystem::story().await?;
        let worktree = system.testbed.sandbox().join("garden-notes-SHOP-7");
        let work = worktree.join(".loopgate/work");
        Ok(Self { system, worktree, work })
    }

    fn write(&self, name: &str, text: &str) -> Result<()> {
        let file = self.work.join(name);
        std::fs::create_dir_all(file.parent().context("no parent")?)?;
        Ok(std::fs::write(file, text)?)
    }

    fn remove(&self, name: &str) -> Result<()> {
        Ok(std::fs::remove_file(self.work.join(name))?)
    }

    async fn get(&self, route: &str) -> Result<(u16, Value)> {
        let separator = if route.contains('?') { '&' } else { '?' };
        let repo = percent_encode(&self.system.clone.to_string_lossy());
        let path = format!("/api/gateway/orchestrator/{route}{separator}repo={repo}");
        let answer = self.system.loopgate.gateway(Method::GET, &path).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    /// Checks members of the ticket's status.
    async fn expect_status(&self, expected: Value, why: &str) -> Result<()> {
        let (status, body) = self.get("status/SHOP-7").await?;
        for (name, value) in expected.as_object().into_iter().flatten() {
            ensure!(
                status == 200 && body[name] == *value,
                "{why}: {name} should be {value} in {status} {body}"
            );
        }
        Ok(())
    }
}

fn age_file(file: &Path) -> Result<()> {
    let file = std::fs::File::options().write(true).open(file)?;
    Ok(file.set_modified(SystemTime::now() - Duration::from_secs(600))?)
}

// OR-09, OR-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_is_composed_of_existing_files() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let absent = json!({"exists": false, "phase": null, "status": null, "message": "Worktree not found"});
    ensure!(ticket.get("status/SHOP-7").await? == (200, absent));
    std::fs::create_dir_all(&ticket.worktree)?;
    let starting = json!({"exists": true, "stateExists": false, "phase": "Initializing", "status": "STARTING",
        "message": "Orchestrator is starting up..."});
    ensure!(ticket.get("status/SHOP-7").await? == (200, starting));

    let state = json!({"phase": "Paused", "status": "STOPPED", "timestamp": "2026-01-05T10:00:00Z"});
    ticket.write("state.json", &state.to_string())?;
    ticket.write("plan.json", r#"{"pendingTasks":[{"id":"t-2"}],"completedTasks":[{"id":"t-1"}]}"#)?;
    ticket.write(".agent-types/a1", "code:implementer|implementer|2026-01-05T09:59:00Z")?;
    let full = json!({
        "exists": true, "stateExists": true, "phase": "Paused", "status": "STOPPED",
        "timestamp": "2026-01-05T10:00:00Z", "raw": state, "worktreeDir": ticket.worktree,
        "fallbackDetected": false, "planExists": true,
        "taskProgress": {"pending": 1, "completed": 1, "total": 2}, "currentTaskId": "t-2",
        "activeAgents": [{"agentId": "a1", "agentType": "code:implementer", "agentName": "implementer",
            "startedAt": "2026-01-05T09:59:00Z"}],
        "pid": null, "processRunning": false
    });
    let actual = ticket.get("status/SHOP-7").await?;
    ensure!(actual == (200, full.clone()), "{actual:?}\n{full}");

    // An unparsable plan exists, but has no progress.
    ticket.write("plan.json", "{")?;
    let (_, body) = ticket.get("status/SHOP-7").await?;
    ensure!(body["planExists"] == true && body.get("taskProgress").is_none(), "{body}");
    Ok(())
}

// OR-11, OR-12, OR-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_and_output_override_state_file() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let success = "{\"type\":\"x\"}\n{\"type\":\"result\",\"subtype\":\"success\"}\n";
    let stopped = json!({"status": "STOPPED", "phase": "Process stopped unexpectedly",
        "fallbackDetected": false, "pid": 4_194_305, "processRunning": false});
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#)?;
    ticket.write("process.pid", UNUSED_PID)?;
    ticket.expect_status(stopped.clone(), "no output at all").await?;
    ticket.write("assistant-output.jsonl", "{\"type\":\"result\",\"subtype\":\"error\"}\n")?;
    ticket.expect_status(stopped.clone(), "no success in the output").await?;
    ticket
        .write("assistant-output.jsonl", "{\"type\":\"result\",\"subtype\":\"succ\nsuccess result\n{{\n")?;
    ticket.expect_status(stopped.clone(), "malformed lines").await?;
    ticket.remove("assistant-output.jsonl")?;
    std::fs::create_dir(ticket.work.join("assistant-output.jsonl"))?;
    ticket.expect_status(stopped, "an output that is no file").await?;
    std::fs::remove_dir(ticket.work.join("assistant-output.jsonl"))?;
    ticket.write("assistant-output.jsonl", success)?;
    let completed = json!({"status": "COMPLETED", "phase": "Completed", "fallbackDetected": true});
    ticket.expect_status(completed, "a success in the output").await?;

    // A running process takes precedence over a terminal status in the state file.
    let own_pid = std::process::id();
    let started = loopgate_tools::process::identity(own_pid).context("no identity of this process")?;
    ticket.write("process.pid", &own_pid.to_string())?;
    ticket.write("process.start", &started.to_string())?;
    for status in ["COMPLETED", "FAILED", "STOPPED", "CANCELLED"] {
        ticket.write("state.json", &json!({"status": status, "phase": "p"}).to_string())?;
        let running =
            json!({"status": "IN_PROGRESS", "phase": "Running", "pid": own_pid, "processRunning": true});
        ticket.expect_status(running, status).await?;
    }
    // The pid is in use, but by a process with another start time.
    ticket.write("process.start", "1000")?;
    ticket.expect_status(json!({"status": "CANCELLED", "processRunning": false}), "another process").await?;
    ticket.write("process.pid", "-1")?;
    ticket.expect_status(json!({"status": "CANCELLED", "pid": null}), "no pid").await
}

// OR-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stale_state_falls_back_to_launch_log() -> Result<()> {
    let ticket = TicketStory::new().await?;
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#)?;
    ticket.write("orchestrator-launch.log", "Plan created\n<promise>COMPLETE</promise>\n")?;
    let unchanged = json!({"status": "IN_PROGRESS", "phase": "p", "fallbackDetected": false});
    ticket.expect_status(unchanged.clone(), "a recent state file takes precedence").await?;
    // The log is consulted only when the state file was not updated for two minutes.
    age_file(&ticket.work.join("state.json"))?;
    let waiting = json!({"status": "AWAITING_USER", "phase": "Completed (awaiting review)",
        "fallbackDetected": true});
    ticket.expect_status(waiting, "the log requests a review").await?;
    ticket.write(".learnings/.lock", "")?;
    ticket.expect_status(unchanged.clone(), "learnings are being processed").await?;
    ticket.remove(".learnings/.lock")?;
    ticket.write("orchestrator-launch.log", "work\n<promise>COMPLETE</promise>\n")?;
    ticket
        .expect_status(json!({"status": "COMPLETED", "phase": "Completed"}), "the log reports completion")
        .await?;
    ticket.write("orchestrator-launch.log", "work\n")?;
    ticket.expect_status(unchanged, "the log reports no end").await
}

// OR-15
/// The ticket has no worktree of its own, but a loop: the status is read from the loop's worktree.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_status_uses_worktree_of_its_loop() -> Result<()> {
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
    let system = TestSystem::playing(script).await?;
    let loop_id = Uuid::new_v4();
    let body = json!({"loopId": loop_id, "command": "PLAN", "loopgateAuthToken": "a-runner-token", "artifacts": [],
        "prompt": story::REQUEST, "ticketId": "SHOP-7", "artifactSlug": "dark-mode",
        "repo": {"fullName": story::REPOSITORY, "branch": "main"}});
    let request = system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop");
    let started = request.header("x-desktop-source", "cloud-socket").json(&body).send().await?;
    let started: Value = started.json().await?;
    let worktree = PathBuf::from(started["worktreePath"].as_str().context("a worktree")?);
    system.testbed.model.held("planning").await?;
    let work = worktree.join(".loopgate/work");
    let ticket = TicketStory { system, worktree, work };
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"Phase 1"}"#)?;
    for id in ["SHOP-7", "dark-mode", &loop_id.to_string()] {
        let (status, body) = ticket.get(&format!("status/{id}")).await?;
        ensure!(status == 200 && body["worktreeDir"] == json!(ticket.worktree), "{id}: {status} {body}");
        ensure!(body["processRunning"] == true && body["pid"] == started["pid"], "{id}: {body}");
    }
    ensure!(ticket.get("status/SHOP-8").await?.1["exists"] == false);
    let kill = ticket.system.loopgate.gateway(Method::POST, "/api/gateway/orchestrator/loop/kill");
    ensure!(kill.json(&json!({"loopId": loop_id})).send().await?.status() == 200);
    ticket.system.no_processes_remain(&loop_id.to_string()).await?;
    ensure!(
        ticket.get("status/SHOP-7").await?.1["worktreeDir"] == json!(ticket.worktree),
        "the status changed after the loop's end"
    );
    // A worktree of the ticket takes precedence over the loop's.
    let ticket_worktree = ticket.system.testbed.sandbox().join("garden-notes-SHOP-7");
    std::fs::create_dir_all(ticket_worktree.join(".loopgate/work"))?;
    std::fs::write(ticket_worktree.join(".loopgate/work/state.json"), "{}")?;
    ensure!(ticket.get("status/SHOP-7").await?.1["worktreeDir"] == json!(ticket_worktree));
    Ok(())
}

// OR-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_of_directory_reports_running_work() -> Result<()> {
    let ticket = TicketStory::new().await?;
    std::fs::create_dir_all(&ticket.worktree)?;
    let dir = format!("status?workDir={}", percent_encode(&ticket.worktree.to_string_lossy()));
    let absent = json!({"isRunning": false, "reason": "state.json not found"});
    ensure!(ticket.get(&dir).await? == (200, absent));
    for (status, running) in [
        ("FAILED", false),
        ("COMPLETED", false),
        ("error", false),
        ("Cancelled", false),
        ("STOPPED", true),
        ("AWAITING_USER", true),
    ] {
        let state = json!({"status": status, "phase": "p", "iteration": 3, "timestamp": "t", "other": 1});
        ticket.write("state.json", &state.to_string())?;
        let expected =
            json!({"isRunning": running, "phase": "p", "status": status, "iteration": 3, "lastUpdate": "t"});
        let actual = ticket.get(&dir).await?;
        ensure!(actual == (200, expected), "{status}: {actual:?}");
    }
    Ok(())
}

// OR-27, OR-28
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn log_tail_is_read_from_current_output() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let absent = (200, json!({"exists": false, "format": "text", "content": "", "lines": 0}));
    ensure!(ticket.get("logs/SHOP-7").await? == absent, "no worktree");
    ticket.write("orchestrator-loop.log", "not served\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == absent, "no log");
    ticket.write("orchestrator-launch.log", "a\n\nb\nc")?;
    let text =
        json!({"exists": true, "format": "text", "content": "b\nc", "totalLines": 3, "returnedLines": 2});
    ensure!(ticket.get("logs/SHOP-7?lines=2").await? == (200, text));

    let records = |lines: &[&str], total: usize| {
        let body = json!({"exists": true, "format": "jsonl", "lines": lines, "totalLines": total,
            "returnedLines": lines.len()});
        (200, body)
    };
    ticket.write("assistant-output.jsonl", "{\"n\":1}\n\n{\"n\":2}\n")?;
    ensure!(ticket.get("logs/SHOP-7?lines=1").await? == records(&["{\"n\":2}"], 2));
    for invalid in ["0", "-1", "x", "1.5", ""] {
        let actual = ticket.get(&format!("logs/SHOP-7?lines={invalid}")).await?;
        ensure!(actual == records(&["{\"n\":1}", "{\"n\":2}"], 2), "lines={invalid}: {actual:?}");
    }
    // The output file of a run has a numbered name, which `assistant-output.name.txt` contains.
    ticket.remove("assistant-output.jsonl")?;
    ticket.write("assistant-output-7.jsonl", "{\"run\":7}\n")?;
    ticket.write("assistant-output-8.jsonl", "{\"run\":8}\n")?;
    ticket.write("assistant-output.name.txt", "assistant-output-7.jsonl\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == records(&["{\"run\":7}"], 1));
    // An empty name means that a run is starting: existing output files belong to earlier runs.
    ticket.write("assistant-output.name.txt", "")?;
    ticket.remove("orchestrator-launch.log")?;
    ensure!(ticket.get("logs/SHOP-7").await? == absent, "streams of earlier runs are not the log");
    ticket.write("assistant-output.jsonl", "{\"n\":3}\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == records(&["{\"n\":3}"], 1));
    ticket.remove("assistant-output.jsonl")?;
    // Names outside of the work directory, or of other files, are ignored.
    std::fs::write(ticket.system.testbed.home.path().join("secret.jsonl"), "SECRET\n")?;
    for name in ["../../../../secret.jsonl", "/etc/passwd", "state.json"] {
        ticket.write("state.json", "SECRET\n")?;
        ticket.write("assistant-output.name.txt", name)?;
        let (status, body) = ticket.get("logs/SHOP-7").await?;
        ensure!(status == 200 && !body.to_string().contains("SECRET"), "{name}: {body}");
        ensure!(!body.to_string().contains("root:"), "{name}: {body}");
    }
    Ok(())
}

// OR-29
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_is_returned_as_markdown_and_raw() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let missing = json!({"error": "Worktree not found", "code": "not_found", "exists": false});
    ensure!(ticket.get("plan/SHOP-7").await? == (404, missing));
    std::fs::create_dir_all(&ticket.worktree)?;
    let missing =
        json!({"error": "Plan not found yet", "code": "not_found", "exists": false, "planExists": false});
    ensure!(ticket.get("plan/SHOP-7").await? == (404, missing));

    // Escaped newlines are unescaped, and a trailing comma is tolerated.
    ticket.write("plan.json", r##"{"title":"Shop","content":"# Plan\\nstep\\tone", "tasks":[1 , ],}"##)?;
    let plan = json!({"exists": true, "planExists": true, "content": "# Plan\nstep\tone",
        "raw": {"title": "Shop", "content": "# Plan\\nstep\\tone", "tasks": [1]},
        "worktreeDir": ticket.worktree});
    let actual = ticket.get("plan/SHOP-7").await?;
    ensure!(actual == (200, plan.clone()), "{actual:?}\n{plan}");

    let tasks = json!({"title": "Shop", "description": "Why", "tasks": [
        {"id": "T-1", "title": "First", "description": "Do it", "files": ["a.rs"]}]});
    ticket.write("plan.json", &tasks.to_string())?;
    let (status, body) = ticket.get("plan/SHOP-7").await?;
    let content = body["content"].as_str().context("a text")?;
    ensure!(status == 200 && body["raw"] == tasks, "{body}");
    for part in ["# Implementation Plan: Shop", "## Summary", "Why", "### T-1: First", "Do it", "a.rs"] {
        ensure!(content.contains(part), "{part} is missing in {content}");
    }
    // `plan.md` takes precedence when its title matches the plan.
    ticket.write("plan.md", "# Shop\n\nBy hand\n")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"] == "# Shop\n\nBy hand\n");
    ticket.write("plan.md", "# Another\n")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"].as_str() != Some("# Another\n"));
    ticket.write("plan.json", "{}")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"] == "");
    Ok(())
}
