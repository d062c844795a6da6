//! What a ticket left on disk, read through the running program: how it stands, its log, its plan.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Step;
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::foreign::encoded;
use crate::test_system::TestSystem;

/// A pid that no process can have.
const NOBODY: &str = "4194305";

/// A running Loopgate, and ticket `SHOP-7` of the story's repository.
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
        std::fs::create_dir_all(file.parent().context("a file has a parent")?)?;
        Ok(std::fs::write(file, text)?)
    }

    fn remove(&self, name: &str) -> Result<()> {
        Ok(std::fs::remove_file(self.work.join(name))?)
    }

    async fn get(&self, what: &str) -> Result<(u16, Value)> {
        let separator = if what.contains('?') { '&' } else { '?' };
        let repo = encoded(&self.system.clone.to_string_lossy());
        let path = format!("/api/gateway/orchestrator/{what}{separator}repo={repo}");
        let answer = self.system.loopgate.gateway(Method::GET, &path).send().await?;
        Ok((answer.status().as_u16(), answer.json().await?))
    }

    /// The members of the status that a case is about.
    async fn has(&self, wanted: Value, why: &str) -> Result<()> {
        let (status, body) = self.get("status/SHOP-7").await?;
        for (name, value) in wanted.as_object().into_iter().flatten() {
            ensure!(
                status == 200 && body[name] == *value,
                "{why}: {name} should be {value} in {status} {body}"
            );
        }
        Ok(())
    }
}

fn make_old(file: &Path) -> Result<()> {
    let file = std::fs::File::options().write(true).open(file)?;
    Ok(file.set_modified(SystemTime::now() - Duration::from_secs(600))?)
}

// OR-09, OR-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn status_grows_with_its_files() -> Result<()> {
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
    let got = ticket.get("status/SHOP-7").await?;
    ensure!(got == (200, full.clone()), "{got:?}\n{full}");

    // A plan that does not parse has no progress, and is there.
    ticket.write("plan.json", "{")?;
    let (_, body) = ticket.get("status/SHOP-7").await?;
    ensure!(body["planExists"] == true && body.get("taskProgress").is_none(), "{body}");
    Ok(())
}

// OR-11, OR-12, OR-13
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn process_and_its_output_correct_the_state() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let success = "{\"type\":\"x\"}\n{\"type\":\"result\",\"subtype\":\"success\"}\n";
    let stopped = json!({"status": "STOPPED", "phase": "Process stopped unexpectedly",
        "fallbackDetected": false, "pid": 4_194_305, "processRunning": false});
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#)?;
    ticket.write("process.pid", NOBODY)?;
    ticket.has(stopped.clone(), "no output at all").await?;
    ticket.write("assistant-output.jsonl", "{\"type\":\"result\",\"subtype\":\"error\"}\n")?;
    ticket.has(stopped.clone(), "no success in the output").await?;
    ticket
        .write("assistant-output.jsonl", "{\"type\":\"result\",\"subtype\":\"succ\nsuccess result\n{{\n")?;
    ticket.has(stopped.clone(), "malformed lines").await?;
    ticket.remove("assistant-output.jsonl")?;
    std::fs::create_dir(ticket.work.join("assistant-output.jsonl"))?;
    ticket.has(stopped, "an output that is no file").await?;
    std::fs::remove_dir(ticket.work.join("assistant-output.jsonl"))?;
    ticket.write("assistant-output.jsonl", success)?;
    let completed = json!({"status": "COMPLETED", "phase": "Completed", "fallbackDetected": true});
    ticket.has(completed, "a success in the output").await?;

    // A process that lives knows better than a state that has ended.
    let own = std::process::id();
    let started = loopgate_tools::process::identity(own).context("this process lives")?;
    ticket.write("process.pid", &own.to_string())?;
    ticket.write("process.start", &started.to_string())?;
    for status in ["COMPLETED", "FAILED", "STOPPED", "CANCELLED"] {
        ticket.write("state.json", &json!({"status": status, "phase": "p"}).to_string())?;
        let running =
            json!({"status": "IN_PROGRESS", "phase": "Running", "pid": own, "processRunning": true});
        ticket.has(running, status).await?;
    }
    // The pid lives, and belongs to somebody else by now.
    ticket.write("process.start", "1000")?;
    ticket.has(json!({"status": "CANCELLED", "processRunning": false}), "another process").await?;
    ticket.write("process.pid", "-1")?;
    ticket.has(json!({"status": "CANCELLED", "pid": null}), "no pid").await
}

// OR-14
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn launch_log_is_the_last_witness() -> Result<()> {
    let ticket = TicketStory::new().await?;
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#)?;
    ticket.write("orchestrator-launch.log", "Plan created\n<promise>COMPLETE</promise>\n")?;
    let as_is = json!({"status": "IN_PROGRESS", "phase": "p", "fallbackDetected": false});
    ticket.has(as_is.clone(), "a fresh state is believed").await?;
    make_old(&ticket.work.join("state.json"))?;
    let waiting = json!({"status": "AWAITING_USER", "phase": "Completed (awaiting review)",
        "fallbackDetected": true});
    ticket.has(waiting, "somebody has to look").await?;
    ticket.write(".learnings/.lock", "")?;
    ticket.has(as_is.clone(), "learnings are worked on").await?;
    ticket.remove(".learnings/.lock")?;
    ticket.write("orchestrator-launch.log", "work\n<promise>COMPLETE</promise>\n")?;
    ticket.has(json!({"status": "COMPLETED", "phase": "Completed"}), "it said that it is done").await?;
    ticket.write("orchestrator-launch.log", "work\n")?;
    ticket.has(as_is, "nothing says that it has ended").await
}

// OR-15
/// A ticket whose only trace is a loop: the worktree that its job names is read.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_of_the_ticket_leads_to_its_worktree() -> Result<()> {
    let mut script = story::script();
    script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
    let system = TestSystem::playing(script).await?;
    let loop_id = Uuid::new_v4();
    let body = json!({"loopId": loop_id, "command": "PLAN", "loopgateAuthToken": "made-up", "artifacts": [],
        "prompt": story::WISH, "ticketId": "SHOP-7", "artifactSlug": "dark-mode",
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
    ticket.system.alone(&loop_id.to_string()).await?;
    ensure!(ticket.get("status/SHOP-7").await?.1["worktreeDir"] == json!(ticket.worktree), "also afterwards");
    // A worktree of the ticket itself goes before.
    let own = ticket.system.testbed.sandbox().join("garden-notes-SHOP-7");
    std::fs::create_dir_all(own.join(".loopgate/work"))?;
    std::fs::write(own.join(".loopgate/work/state.json"), "{}")?;
    ensure!(ticket.get("status/SHOP-7").await?.1["worktreeDir"] == json!(own));
    Ok(())
}

// OR-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn directory_reports_running_work() -> Result<()> {
    let ticket = TicketStory::new().await?;
    std::fs::create_dir_all(&ticket.worktree)?;
    let dir = format!("status?workDir={}", encoded(&ticket.worktree.to_string_lossy()));
    let nothing = json!({"isRunning": false, "reason": "state.json not found"});
    ensure!(ticket.get(&dir).await? == (200, nothing));
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
        let wanted =
            json!({"isRunning": running, "phase": "p", "status": status, "iteration": 3, "lastUpdate": "t"});
        let got = ticket.get(&dir).await?;
        ensure!(got == (200, wanted), "{status}: {got:?}");
    }
    Ok(())
}

// OR-27, OR-28
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn end_of_a_log_is_found_wherever_it_lies() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let nothing = (200, json!({"exists": false, "format": "text", "content": "", "lines": 0}));
    ensure!(ticket.get("logs/SHOP-7").await? == nothing, "no worktree");
    ticket.write("orchestrator-loop.log", "not served\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == nothing, "no log");
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
    for odd in ["0", "-1", "x", "1.5", ""] {
        let got = ticket.get(&format!("logs/SHOP-7?lines={odd}")).await?;
        ensure!(got == records(&["{\"n\":1}", "{\"n\":2}"], 2), "lines={odd}: {got:?}");
    }
    // The stream of a finished run has another name, and a file that tells it.
    ticket.remove("assistant-output.jsonl")?;
    ticket.write("assistant-output-7.jsonl", "{\"run\":7}\n")?;
    ticket.write("assistant-output-8.jsonl", "{\"run\":8}\n")?;
    ticket.write("assistant-output.name.txt", "assistant-output-7.jsonl\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == records(&["{\"run\":7}"], 1));
    // An empty one says that a run is starting: what is there is of earlier runs.
    ticket.write("assistant-output.name.txt", "")?;
    ticket.remove("orchestrator-launch.log")?;
    ensure!(ticket.get("logs/SHOP-7").await? == nothing, "streams of earlier runs are not the log");
    ticket.write("assistant-output.jsonl", "{\"n\":3}\n")?;
    ensure!(ticket.get("logs/SHOP-7").await? == records(&["{\"n\":3}"], 1));
    ticket.remove("assistant-output.jsonl")?;
    // A name that leads elsewhere is none.
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
async fn plan_is_shown_as_markdown_beside_its_source() -> Result<()> {
    let ticket = TicketStory::new().await?;
    let missing = json!({"error": "Worktree not found", "code": "not_found", "exists": false});
    ensure!(ticket.get("plan/SHOP-7").await? == (404, missing));
    std::fs::create_dir_all(&ticket.worktree)?;
    let missing =
        json!({"error": "Plan not found yet", "code": "not_found", "exists": false, "planExists": false});
    ensure!(ticket.get("plan/SHOP-7").await? == (404, missing));

    // Written out newlines become real ones, and a comma too many is forgiven.
    ticket.write("plan.json", r##"{"title":"Shop","content":"# Plan\\nstep\\tone", "tasks":[1 , ],}"##)?;
    let plan = json!({"exists": true, "planExists": true, "content": "# Plan\nstep\tone",
        "raw": {"title": "Shop", "content": "# Plan\\nstep\\tone", "tasks": [1]},
        "worktreeDir": ticket.worktree});
    let got = ticket.get("plan/SHOP-7").await?;
    ensure!(got == (200, plan.clone()), "{got:?}\n{plan}");

    let tasks = json!({"title": "Shop", "description": "Why", "tasks": [
        {"id": "T-1", "title": "First", "description": "Do it", "files": ["a.rs"]}]});
    ticket.write("plan.json", &tasks.to_string())?;
    let (status, body) = ticket.get("plan/SHOP-7").await?;
    let content = body["content"].as_str().context("a text")?;
    ensure!(status == 200 && body["raw"] == tasks, "{body}");
    for part in ["# Implementation Plan: Shop", "## Summary", "Why", "### T-1: First", "Do it", "a.rs"] {
        ensure!(content.contains(part), "{part} is missing in {content}");
    }
    // The markdown beside the plan counts when it is of the same plan.
    ticket.write("plan.md", "# Shop\n\nBy hand\n")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"] == "# Shop\n\nBy hand\n");
    ticket.write("plan.md", "# Another\n")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"].as_str() != Some("# Another\n"));
    ticket.write("plan.json", "{}")?;
    ensure!(ticket.get("plan/SHOP-7").await?.1["content"] == "");
    Ok(())
}
