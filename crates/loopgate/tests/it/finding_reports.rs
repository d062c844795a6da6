//! A review that ends while no page is open needs a person when it has findings.

use anyhow::{Context as _, Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_system::TestSystem;

/// Stand-in for the reviewer. Reports a finding, and then none.
const REVIEWER: &str = r#"#!/bin/sh
case "$1" in --version) echo "codex-cli 0.9.1"; exit 0;; esac
[ -e "$HOME/reviewed" ] && { echo "Nothing to report."; exit 0; }
touch "$HOME/reviewed"
printf 'Full review comments:\n\n- [P1] The theme is never applied — theme.js:1-1\n  Nothing calls it.\n'
"#;

/// Reviews the worktree of a loop to the end.
async fn review(system: &TestSystem, loop_id: &str) -> Result<()> {
    let changes = format!("/api/gateway/git/loop-changes/{loop_id}");
    let changes: Value = system.loopgate.gateway(Method::GET, &changes).send().await?.json().await?;
    let worktree = changes["repositories"][0]["worktree"].as_str().context("no worktree")?;
    let (_, ticket) = worktree.rsplit_once("garden-notes-").context("another name of the worktree")?;
    let route = format!("/api/gateway/reviewer/review/{ticket}");
    let body = json!({"repoPath": system.clone});
    let text = system.loopgate.gateway(Method::POST, &route).json(&body).send().await?.text().await?;
    ensure!(text.contains(r#"{"type":"result","success":true}"#), "{text}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn findings_of_a_review_are_reported_at_its_end() -> Result<()> {
    let system = TestSystem::story().await?;
    system.testbed.home.script("codex", REVIEWER)?;
    let page = &system.page;
    let document = page.create_document().await?;
    let mut id = String::new();
    for command in ["plan", "execute"] {
        id = page.start_loop(&document, command).await?;
        let ended = page.wait_for_end(&id).await?;
        ensure!(ended["status"] == "COMPLETED", "{ended}");
    }
    let opened = |shown: &Value| shown["state"] == "pull_request_open";
    system.change_request(&document, opened).await?;

    review(&system, &id).await?;
    let shown = system.change_request(&document, |shown| shown["attention"] == "findings").await?;
    ensure!(shown["state"] == "findings_open" && shown["details"]["findings"] == 1, "{shown}");

    review(&system, &id).await?;
    system.change_request(&document, opened).await?;
    Ok(())
}
