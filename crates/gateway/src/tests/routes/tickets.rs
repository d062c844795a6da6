//! Status, logs and plan, read from files in a worktree.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::tests::test_gateway::{TestGateway, TestResponse};

/// A repository and the worktree of ticket `SHOP-7` next to it.
struct TicketFixture {
    fixture: TestGateway,
    repo: PathBuf,
    worktree: PathBuf,
    work: PathBuf,
}

impl TicketFixture {
    async fn new() -> Self {
        let fixture = TestGateway::new().await;
        let (repo, worktree) = (fixture.sandbox().join("shop"), fixture.sandbox().join("shop-SHOP-7"));
        std::fs::create_dir_all(&repo).unwrap();
        let work = worktree.join(".loopgate/work");
        std::fs::create_dir_all(&work).unwrap();
        Self { fixture, repo, worktree, work }
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::create_dir_all(self.work.join(name).parent().unwrap()).unwrap();
        std::fs::write(self.work.join(name), text).unwrap();
    }

    async fn get(&self, route: &str) -> TestResponse {
        let path = format!("/api/gateway/orchestrator/{route}");
        let separator = if route.contains('?') { '&' } else { '?' };
        self.fixture.internal("GET", &format!("{path}{separator}repo={}", self.repo.display())).send().await
    }

    async fn status(&self) -> Value {
        let reply = self.get("status/SHOP-7").await;
        assert_eq!(reply.status, 200, "{}", reply.text());
        reply.json()
    }
}

fn make_old(path: &Path) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(600)).unwrap();
}

#[tokio::test]
async fn ticket_without_a_worktree_does_not_exist() {
    let ticket = TicketFixture::new().await;
    assert_eq!(
        ticket.get("status/OTHER").await.text(),
        r#"{"exists":false,"phase":null,"status":null,"message":"Worktree not found"}"#
    );
    assert_eq!(
        ticket.get("logs/OTHER").await.text(),
        r#"{"exists":false,"format":"text","content":"","lines":0}"#
    );
    let plan = ticket.get("plan/OTHER").await;
    assert_eq!(plan.assert_error(404, "Worktree not found", "not_found")["exists"], false);
    let escape = ticket.get("status/..%2F..%2Fetc").await;
    assert_eq!(escape.json()["exists"], false);
}

// OR-07, OR-08
#[tokio::test]
async fn invalid_requests_are_refused() {
    let ticket = TicketFixture::new().await;
    for (route, text) in [
        ("status/SHOP-7", "repo query parameter is required"),
        ("logs/SHOP-7", "repo parameter is required"),
        ("plan/SHOP-7", "repo query parameter is required"),
        ("status", "workDir parameter is required"),
        ("status?workDir=", "workDir parameter is required"),
    ] {
        let path = format!("/api/gateway/orchestrator/{route}");
        ticket.fixture.internal("GET", &path).send().await.assert_error(400, text, "missing_field");
    }
    for route in ["status/SHOP-7?repo=/etc", "logs/X?repo=relative", "plan/X?repo=/", "status?workDir=~/.ssh"]
    {
        let path = format!("/api/gateway/orchestrator/{route}");
        let reply = ticket.fixture.internal("GET", &path).send().await;
        reply.assert_error(403, "directory not allowed", "directory_not_allowed");
    }
}

#[tokio::test]
async fn full_status_has_every_member() {
    let ticket = TicketFixture::new().await;
    let starting = ticket.status().await;
    assert_eq!(
        starting,
        json!({"exists": true, "stateExists": false, "phase": "Initializing", "status": "STARTING",
               "message": "Orchestrator is starting up..."})
    );
    let state = json!({"phase": "Phase 3", "status": "IN_PROGRESS", "timestamp": "2026-01-05T10:00:00Z"});
    ticket.write("state.json", &state.to_string());
    ticket.write(
        "plan.json",
        // Plans are written by an assistant and may contain a trailing comma.
        r#"{"pendingTasks":[{"id":"T-2"},{"id":"T-3"}],"completedTasks":[{"id":"T-1"}],}"#,
    );
    ticket.write(".agent-types/a1", "code:implementer|implementer|2026-01-05T09:59:00Z");
    // Incomplete entries are skipped.
    ticket.write(".agent-types/a-2", "skipped|x|");
    ticket.write(".agent-types/b", "onlytype");
    assert_eq!(
        ticket.status().await,
        json!({
            "exists": true, "stateExists": true, "phase": "Phase 3", "status": "IN_PROGRESS",
            "timestamp": "2026-01-05T10:00:00Z", "raw": state, "worktreeDir": ticket.worktree,
            "fallbackDetected": false, "planExists": true,
            "taskProgress": {"pending": 2, "completed": 1, "total": 3}, "currentTaskId": "T-2",
            "activeAgents": [{"agentId": "a1", "agentType": "code:implementer",
                              "agentName": "implementer", "startedAt": "2026-01-05T09:59:00Z"}],
            "pid": null, "processRunning": false
        })
    );
    ticket.write("state.json", "{");
    let broken = ticket.get("status/SHOP-7").await;
    assert_eq!(broken.status, 500);
    assert!(broken.json()["error"].as_str().unwrap().starts_with("Failed to read status: "));
}

#[tokio::test]
async fn process_state_overrides_the_state_file() {
    let ticket = TicketFixture::new().await;
    let own = std::process::id();
    let started = loopgate_tools::process::identity(own).unwrap();
    ticket.write("process.pid", &own.to_string());
    ticket.write("process.start", &started.to_string());
    ticket.write("state.json", r#"{"phase":"x","status":"COMPLETED"}"#);
    let running = ticket.status().await;
    assert_eq!((&running["status"], &running["phase"]), (&json!("IN_PROGRESS"), &json!("Running")));
    assert_eq!((&running["pid"], &running["processRunning"]), (&json!(own), &json!(true)));

    // The pid was reused: its start time differs from the recorded one.
    ticket.write("process.start", "1000");
    ticket.write("state.json", r#"{"status":"IN_PROGRESS"}"#);
    let stopped = ticket.status().await;
    assert_eq!((&stopped["status"], &stopped["processRunning"]), (&json!("STOPPED"), &json!(false)));
    assert_eq!(stopped["phase"], "Process stopped unexpectedly");
    ticket
        .write("assistant-output.jsonl", "{\"type\":\"x\"}\n{\"type\":\"result\",\"subtype\":\"success\"}\n");
    let completed = ticket.status().await;
    assert_eq!((&completed["status"], &completed["fallbackDetected"]), (&json!("COMPLETED"), &json!(true)));
    ticket.write("state.json", r#"{"status":"AWAITING_USER","phase":"Questions"}"#);
    assert_eq!(ticket.status().await["status"], "AWAITING_USER");
}

// OR-14
#[tokio::test]
async fn launch_log_decides_when_the_state_is_stale() {
    let ticket = TicketFixture::new().await;
    ticket.write("state.json", r#"{"status":"IN_PROGRESS","phase":"p"}"#);
    ticket.write("orchestrator-launch.log", "work\n<promise>COMPLETE</promise>\n");
    assert_eq!(ticket.status().await["status"], "IN_PROGRESS", "a fresh state file takes precedence");
    // Older than the grace period within which the state file takes precedence.
    make_old(&ticket.work.join("state.json"));
    assert_eq!(ticket.status().await["status"], "COMPLETED");
    ticket.write("orchestrator-launch.log", "Plan created\n<promise>COMPLETE</promise>\n");
    let waiting = ticket.status().await;
    assert_eq!(
        (&waiting["status"], &waiting["phase"]),
        (&json!("AWAITING_USER"), &json!("Completed (awaiting review)"))
    );
    ticket.write(".learnings/.lock", "");
    assert_eq!(ticket.status().await["status"], "IN_PROGRESS");
}

#[tokio::test]
async fn log_tail_is_returned_in_both_formats() {
    let ticket = TicketFixture::new().await;
    let none = ticket.get("logs/SHOP-7").await;
    assert_eq!(none.json()["exists"], false);
    ticket.write("orchestrator-launch.log", "a\n\nb\nc");
    assert_eq!(
        ticket.get("logs/SHOP-7?lines=2").await.json(),
        json!({"exists": true, "format": "text", "content": "b\nc", "totalLines": 3, "returnedLines": 2})
    );
    ticket.write("assistant-output.jsonl", "{\"n\":1}\n\n{\"n\":2}\n");
    assert_eq!(
        ticket.get("logs/SHOP-7?lines=nonsense").await.json(),
        json!({"exists": true, "format": "jsonl", "lines": ["{\"n\":1}", "{\"n\":2}"],
               "totalLines": 2, "returnedLines": 2})
    );
}

#[tokio::test]
async fn symlinks_out_of_the_sandbox_are_not_read() {
    let ticket = TicketFixture::new().await;
    let secret = ticket.fixture.data_dir().join("secret");
    std::fs::write(&secret, "{\"status\":\"SECRET\"}\n").unwrap();
    for name in ["state.json", "plan.json", "assistant-output.jsonl", "orchestrator-launch.log"] {
        std::os::unix::fs::symlink(&secret, ticket.work.join(name)).unwrap();
    }
    for route in ["status/SHOP-7", "logs/SHOP-7", "plan/SHOP-7"] {
        assert!(!ticket.get(route).await.text().contains("SECRET"), "{route}");
    }
}

#[tokio::test]
async fn plan_is_returned_as_markdown_with_its_source() {
    let ticket = TicketFixture::new().await;
    let missing = ticket.get("plan/SHOP-7").await;
    assert_eq!(missing.assert_error(404, "Plan not found yet", "not_found")["planExists"], false);
    ticket.write("plan.json", r##"{"title":"Shop","content":"# Plan\\nstep",}"##);
    assert_eq!(
        ticket.get("plan/SHOP-7").await.json(),
        json!({"exists": true, "planExists": true, "content": "# Plan\nstep",
               "raw": {"title": "Shop", "content": "# Plan\\nstep"}, "worktreeDir": ticket.worktree})
    );
    ticket.write("plan.json", "{");
    let broken = ticket.get("plan/SHOP-7").await;
    assert_eq!((broken.status, &broken.json()["code"]), (500, &json!("operation_failed")));
    assert!(broken.json()["error"].as_str().unwrap().starts_with("Failed to read plan: "));
}

#[tokio::test]
async fn directory_reports_running_work() {
    let ticket = TicketFixture::new().await;
    let path = format!("/api/gateway/orchestrator/status?workDir={}", ticket.worktree.display());
    let get = || ticket.fixture.internal("GET", &path).send();
    assert_eq!(get().await.text(), r#"{"isRunning":false,"reason":"state.json not found"}"#);
    ticket.write("state.json", r#"{"status":"awaiting_user","phase":"p","iteration":3,"timestamp":"t"}"#);
    assert_eq!(
        get().await.json(),
        json!({"isRunning": true, "phase": "p", "status": "awaiting_user", "iteration": 3, "lastUpdate": "t"})
    );
    ticket.write("state.json", r#"{"status":"failed"}"#);
    assert_eq!(get().await.text(), r#"{"isRunning":false,"status":"failed"}"#);
    ticket.write("state.json", "[]");
    let broken = get().await;
    assert_eq!((broken.status, &broken.json()["isRunning"]), (500, &json!(false)));
}

#[tokio::test]
async fn links_and_pipes_in_a_work_directory_are_ignored() {
    let ticket = TicketFixture::new().await;
    let outside = ticket.fixture.sandbox().join("../outside");
    std::fs::create_dir(&outside).unwrap();
    let secret = r#"{"status":"secret","content":"secret"}"#;
    for name in ["state.json", "plan.json"] {
        std::fs::write(outside.join(name), secret).unwrap();
        std::os::unix::fs::symlink(outside.join(name), ticket.work.join(name)).unwrap();
    }
    let assert_no_secret =
        |reply: &TestResponse| assert!(!reply.text().contains("secret"), "{}", reply.text());
    for route in ["status/SHOP-7", "plan/SHOP-7", "logs/SHOP-7"] {
        assert_no_secret(&ticket.get(route).await);
    }
    for name in ["state.json", "plan.json"] {
        std::fs::remove_file(ticket.work.join(name)).unwrap();
        ticket.fixture.pipe(&ticket.work.join(name));
    }
    ticket.fixture.pipe(&ticket.work.join("process.pid"));
    std::os::unix::fs::symlink("/dev/zero", ticket.work.join("assistant-output.name.txt")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", ticket.work.join("orchestrator-launch.log")).unwrap();
    assert_eq!(ticket.status().await["stateExists"], false);
    for route in ["plan/SHOP-7", "logs/SHOP-7"] {
        assert!(ticket.get(route).await.status < 500, "{route}");
    }
    // A work directory that is a symlink to another directory in the sandbox; a repository can track such a
    // symlink.
    let other = ticket.fixture.sandbox().join("other");
    std::fs::create_dir(&other).unwrap();
    std::fs::write(other.join("state.json"), secret).unwrap();
    std::fs::remove_dir_all(&ticket.work).unwrap();
    std::os::unix::fs::symlink(&other, &ticket.work).unwrap();
    assert_no_secret(&ticket.get("status/SHOP-7").await);
}
