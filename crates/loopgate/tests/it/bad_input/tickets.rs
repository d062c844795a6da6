//! Reading what a ticket left, asked wrongly or where there is nothing to read.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DENIED, check, get, row};
use crate::foreign::encoded;
use crate::local::{Local, write};
use crate::test_system::TestSystem;

const API: &str = "/api/gateway/orchestrator";

// OR-07, OR-08, OR-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_is_read_in_the_sandbox_only() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = encoded(&system.clone.to_string_lossy());
    let mut rows = vec![
        get(format!("{API}/status"), 400, "workDir parameter is required", "missing_field"),
        get(format!("{API}/status?workDir="), 400, "workDir parameter is required", "missing_field"),
        get(format!("{API}/status/%E0%A4%A?repo={repo}"), 400, "malformed path", "malformed_path"),
        get(format!("{API}/logs/%?repo={repo}"), 400, "malformed path", "malformed_path"),
        get(format!("{API}/plan/%zz?repo={repo}"), 400, "malformed path", "malformed_path"),
        row(
            Method::GET,
            format!("{API}/plan/SHOP-7?repo={repo}"),
            "",
            404,
            json!({"error": "Worktree not found", "code": "not_found", "exists": false}),
        ),
        // The first of two values counts.
        get(format!("{API}/status/SHOP-7?repo=%2Fetc&repo={repo}"), 403, DENIED.0, DENIED.1),
    ];
    let home = system.testbed.home.path().to_string_lossy().into_owned();
    std::os::unix::fs::symlink("/etc", system.testbed.sandbox().join("way-out"))?;
    let outside = [
        "/etc".to_owned(),
        "/".to_owned(),
        "~/.ssh".to_owned(),
        "relative".to_owned(),
        home.clone(),
        format!("{home}/src-beside"),
        format!("{home}/src/../../elsewhere"),
        format!("{home}/src/way-out"),
        format!("{home}/src/way-out/ssh"),
        format!("{home}/loopgate-data"),
    ];
    for place in outside.iter().map(|place| encoded(place)) {
        rows.push(get(format!("{API}/status?workDir={place}"), 403, DENIED.0, DENIED.1));
        for what in ["status", "logs", "plan"] {
            rows.push(get(format!("{API}/{what}/SHOP-7?repo={place}"), 403, DENIED.0, DENIED.1));
        }
    }
    for (what, text) in [
        ("status", "repo query parameter is required"),
        ("logs", "repo parameter is required"),
        ("plan", "repo query parameter is required"),
    ] {
        rows.push(get(format!("{API}/{what}/SHOP-7"), 400, text, "missing_field"));
        rows.push(get(format!("{API}/{what}/SHOP-7?repo="), 400, text, "missing_field"));
        rows.push(get(format!("{API}/{what}/SHOP-7?Repo={repo}"), 400, text, "missing_field"));
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let path = format!("{API}/{what}/SHOP-7");
            let body = json!({"error": "operation not implemented", "code": "operation_not_implemented",
                "method": method.as_str(), "path": path});
            rows.push(row(method, path, "", 501, body));
        }
    }
    check(&system.loopgate, rows).await
}

// OR-52
/// An id is no path, however it is written.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_never_escapes_its_directory() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = encoded(&system.clone.to_string_lossy());
    let beside = system.testbed.sandbox().join("secret/.loopgate/work");
    std::fs::create_dir_all(&beside)?;
    std::fs::write(beside.join("state.json"), r#"{"status":"SECRET"}"#)?;
    std::fs::write(beside.join("plan.json"), r#"{"content":"SECRET"}"#)?;
    std::fs::write(beside.join("orchestrator-launch.log"), "SECRET\n")?;
    for id in ["..%2Fsecret", "..%2f..%2fetc", "%2e%2e%2fsecret", "x%2F..%2F..%2Fsecret", "..%5Csecret"] {
        for what in ["status", "logs", "plan"] {
            let path = format!("{API}/{what}/{id}?repo={repo}");
            let answer = system.loopgate.gateway(Method::GET, &path).send().await?;
            let status = answer.status().as_u16();
            let text = answer.text().await?;
            let body: Value = serde_json::from_str(&text)?;
            assert_eq!((status, &body["exists"]), (if what == "plan" { 404 } else { 200 }, &json!(false)));
            assert!(!text.contains("SECRET"), "{path}: {text}");
        }
    }
    Ok(())
}

/// A place that is named for worktrees opens nothing that the sandbox does not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parent_of_worktrees_outside_shows_nothing() -> Result<()> {
    let local = Local::new().await?;
    let repository = local.repository("shop", &[("README.md", "A shop\n")])?;
    let outside = local.home.path().join("outside");
    local.manage(&[&repository], Some(&outside))?;
    let work = outside.join("shop-SHOP-7/.loopgate/work");
    for name in ["state.json", "plan.json", "judges.json", "chat-history.json", "comment-chats/c1.json"] {
        write(&work.join(name), r#"{"status":"SECRET","content":"SECRET","messages":[]}"#)?;
    }
    write(&work.join("assistant-output.jsonl"), "{\"SECRET\":1}\n")?;
    let before = std::fs::read_dir(&work)?.count();
    let repo = encoded(&repository.to_string_lossy());
    for (method, what) in [
        (Method::GET, "status/SHOP-7?"),
        (Method::GET, "logs/SHOP-7?"),
        (Method::GET, "plan/SHOP-7?"),
        (Method::GET, "judges/SHOP-7?"),
        (Method::GET, "chat-history/SHOP-7?"),
        (Method::DELETE, "chat-history/SHOP-7?"),
        (Method::GET, "commit-message/SHOP-7?"),
        (Method::GET, "comment-chat/c1?ticketId=SHOP-7&"),
        (Method::DELETE, "comment-chat/c1?ticketId=SHOP-7&"),
    ] {
        let answer = local.send(method.clone(), &format!("orchestrator/{what}repo={repo}"), "").await?;
        let told = answer.body.to_string();
        assert!(!told.contains("SECRET"), "{method} {what}: {told}");
    }
    let body = json!({"ticketId": "SHOP-7", "repoPath": repository});
    local.post("orchestrator/kill", body).await?;
    let body = json!({"ticketIdentifier": "SHOP-7", "repoPath": repository});
    local.post("orchestrator/launch", body).await?.refused(403, DENIED.0, DENIED.1)?;
    assert_eq!(std::fs::read_dir(&work)?.count(), before, "nothing is written or removed there");
    assert!(std::fs::read_to_string(work.join("state.json"))?.contains("SECRET"));
    assert!(work.join("comment-chats/c1.json").exists() && work.join("chat-history.json").exists());
    Ok(())
}

/// What cannot be read is a failure in shape, and the next request is served.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_files_are_reported_without_their_paths() -> Result<()> {
    let system = TestSystem::story().await?;
    let worktree = system.testbed.sandbox().join("garden-notes-SHOP-7");
    let work = worktree.join(".loopgate/work");
    std::fs::create_dir_all(&work)?;
    let (repo, dir) = (encoded(&system.clone.to_string_lossy()), encoded(&worktree.to_string_lossy()));
    let not_yet =
        json!({"error": "Plan not found yet", "code": "not_found", "exists": false, "planExists": false});
    let plan = format!("{API}/plan/SHOP-7?repo={repo}");
    check(&system.loopgate, vec![row(Method::GET, plan.clone(), "", 404, not_yet)]).await?;
    for broken in ["{", "[]", "nonsense", ""] {
        std::fs::write(work.join("state.json"), broken)?;
        std::fs::write(work.join("plan.json"), broken)?;
        for (path, begin) in [
            (format!("{API}/status?workDir={dir}"), "state.json is "),
            (format!("{API}/status/SHOP-7?repo={repo}"), "Failed to read status: "),
            (plan.clone(), "Failed to read plan: "),
        ] {
            let answer = system.loopgate.gateway(Method::GET, &path).send().await?;
            let (status, body) = super::status_and_body(answer).await?;
            let text = body["error"].as_str().unwrap_or_default();
            assert!(status == 500 && text.starts_with(begin), "{path} with {broken:?}: {status} {body}");
            assert_eq!(body["code"], "operation_failed");
            assert!(!text.contains('/'), "{text}");
            if path.contains("workDir") {
                assert_eq!(body["isRunning"], false);
            }
        }
    }
    let answer = system.loopgate.gateway_bare(Method::GET, "/health").send().await?;
    assert_eq!(answer.status(), 200);
    Ok(())
}
