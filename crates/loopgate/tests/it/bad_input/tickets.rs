//! Reading the files of a ticket: invalid requests, and tickets without files.

use anyhow::Result;
use reqwest::Method;
use serde_json::{Value, json};

use super::{DENIED, check, get, row};
use crate::origin_checks::percent_encode;
use crate::test_gateway::{TestGateway, write};
use crate::test_system::TestSystem;

const API: &str = "/api/gateway/orchestrator";

// OR-07, OR-08, OR-16
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_outside_the_sandbox_is_refused() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = percent_encode(&system.clone.to_string_lossy());
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
        // Of two equal parameters the first counts.
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
        format!("{home}/src-sibling"),
        format!("{home}/src/../../elsewhere"),
        format!("{home}/src/way-out"),
        format!("{home}/src/way-out/ssh"),
        format!("{home}/loopgate-data"),
    ];
    for path in outside.iter().map(|path| percent_encode(path)) {
        rows.push(get(format!("{API}/status?workDir={path}"), 403, DENIED.0, DENIED.1));
        for view in ["status", "logs", "plan"] {
            rows.push(get(format!("{API}/{view}/SHOP-7?repo={path}"), 403, DENIED.0, DENIED.1));
        }
    }
    for (view, text) in [
        ("status", "repo query parameter is required"),
        ("logs", "repo parameter is required"),
        ("plan", "repo query parameter is required"),
    ] {
        rows.push(get(format!("{API}/{view}/SHOP-7"), 400, text, "missing_field"));
        rows.push(get(format!("{API}/{view}/SHOP-7?repo="), 400, text, "missing_field"));
        rows.push(get(format!("{API}/{view}/SHOP-7?Repo={repo}"), 400, text, "missing_field"));
        for method in [Method::POST, Method::PUT, Method::DELETE] {
            let path = format!("{API}/{view}/SHOP-7");
            let body = json!({"error": "operation not implemented", "code": "operation_not_implemented",
                "method": method.as_str(), "path": path});
            rows.push(row(method, path, "", 501, body));
        }
    }
    check(&system.loopgate, rows).await
}

// OR-52
// An id with encoded separators must not leave the directory of the worktrees.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn id_never_escapes_its_directory() -> Result<()> {
    let system = TestSystem::story().await?;
    let repo = percent_encode(&system.clone.to_string_lossy());
    let secret_dir = system.testbed.sandbox().join("secret/.loopgate/work");
    std::fs::create_dir_all(&secret_dir)?;
    std::fs::write(secret_dir.join("state.json"), r#"{"status":"SECRET"}"#)?;
    std::fs::write(secret_dir.join("plan.json"), r#"{"content":"SECRET"}"#)?;
    std::fs::write(secret_dir.join("orchestrator-launch.log"), "SECRET\n")?;
    for id in ["..%2Fsecret", "..%2f..%2fetc", "%2e%2e%2fsecret", "x%2F..%2F..%2Fsecret", "..%5Csecret"] {
        for view in ["status", "logs", "plan"] {
            let path = format!("{API}/{view}/{id}?repo={repo}");
            let answer = system.loopgate.gateway(Method::GET, &path).send().await?;
            let status = answer.status().as_u16();
            let text = answer.text().await?;
            let body: Value = serde_json::from_str(&text)?;
            assert_eq!((status, &body["exists"]), (if view == "plan" { 404 } else { 200 }, &json!(false)));
            assert!(!text.contains("SECRET"), "{path}: {text}");
        }
    }
    Ok(())
}

// A parent directory of worktrees outside the sandbox gives no access to its files.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktree_parent_outside_the_sandbox_discloses_nothing() -> Result<()> {
    let local = TestGateway::new().await?;
    let repository = local.repository("shop", &[("README.md", "A shop\n")])?;
    let outside = local.home.path().join("outside");
    local.manage(&[&repository], Some(&outside))?;
    let work = outside.join("shop-SHOP-7/.loopgate/work");
    for name in ["state.json", "plan.json", "judges.json", "chat-history.json", "comment-chats/c1.json"] {
        write(&work.join(name), r#"{"status":"SECRET","content":"SECRET","messages":[]}"#)?;
    }
    write(&work.join("assistant-output.jsonl"), "{\"SECRET\":1}\n")?;
    let before = std::fs::read_dir(&work)?.count();
    let repo = percent_encode(&repository.to_string_lossy());
    for (method, view) in [
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
        let answer = local.send(method.clone(), &format!("orchestrator/{view}repo={repo}"), "").await?;
        let body_text = answer.body.to_string();
        assert!(!body_text.contains("SECRET"), "{method} {view}: {body_text}");
    }
    let body = json!({"ticketId": "SHOP-7", "repoPath": repository});
    local.post("orchestrator/kill", body).await?;
    let body = json!({"ticketIdentifier": "SHOP-7", "repoPath": repository});
    local.post("orchestrator/launch", body).await?.refused(403, DENIED.0, DENIED.1)?;
    assert_eq!(std::fs::read_dir(&work)?.count(), before, "a file was written or removed");
    assert!(std::fs::read_to_string(work.join("state.json"))?.contains("SECRET"));
    assert!(work.join("comment-chats/c1.json").exists() && work.join("chat-history.json").exists());
    Ok(())
}

// Files that cannot be parsed are a 500 with an error body, and do not affect later requests.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn broken_files_are_reported_without_their_paths() -> Result<()> {
    let system = TestSystem::story().await?;
    let worktree = system.testbed.sandbox().join("garden-notes-SHOP-7");
    let work = worktree.join(".loopgate/work");
    std::fs::create_dir_all(&work)?;
    let (repo, dir) =
        (percent_encode(&system.clone.to_string_lossy()), percent_encode(&worktree.to_string_lossy()));
    let plan_missing =
        json!({"error": "Plan not found yet", "code": "not_found", "exists": false, "planExists": false});
    let plan = format!("{API}/plan/SHOP-7?repo={repo}");
    check(&system.loopgate, vec![row(Method::GET, plan.clone(), "", 404, plan_missing)]).await?;
    for broken in ["{", "[]", "nonsense", ""] {
        std::fs::write(work.join("state.json"), broken)?;
        std::fs::write(work.join("plan.json"), broken)?;
        for (path, prefix) in [
            (format!("{API}/status?workDir={dir}"), "state.json is "),
            (format!("{API}/status/SHOP-7?repo={repo}"), "Failed to read status: "),
            (plan.clone(), "Failed to read plan: "),
        ] {
            let answer = system.loopgate.gateway(Method::GET, &path).send().await?;
            let (status, body) = super::status_and_body(answer).await?;
            let text = body["error"].as_str().unwrap_or_default();
            assert!(status == 500 && text.starts_with(prefix), "{path} with {broken:?}: {status} {body}");
            assert_eq!(body["code"], "operation_failed");
            // Absolute paths would disclose the user's home directory.
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
