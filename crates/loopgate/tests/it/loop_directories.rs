//! Places that loops leave, and places that two want.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Conversation;
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::records::rewrite;
use crate::test_system::git;

/// A loop ended, and Loopgate died before it could clear the ground.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_loop_left_is_cleared_at_the_next_start() -> Result<()> {
    let splits = Conversation::when("split", "# Split requirements").says("I see none.");
    let mut desktop = TestDesktop::playing([splits]).await?;
    let documents = json!([{"id": "1", "type": "PRD", "title": "", "content": "Dark mode, please"}]);
    let run = desktop.run(json!({"command": "DECOMPOSE", "artifacts": documents})).await?;
    run.completed("decompose")?;
    let own = std::env::temp_dir().canonicalize()?.join(format!("orchestrator-decompose-{}", run.id));
    ensure!(!own.exists(), "it goes with the loop");

    desktop.loopgate.kill().await?;
    std::fs::create_dir_all(own.join(".loopgate/context"))?;
    rewrite(&desktop.loopgate, &run.id.to_string(), |record| record["passingDir"] = json!(own)).await?;
    desktop.loopgate = desktop.loopgate.start_again().await?;
    wait::vanishes(&own).await?;

    // Only what can be the directory of a loop is ever removed.
    desktop.loopgate.kill().await?;
    let precious = desktop.testbed.sandbox().join("orchestrator-precious");
    std::fs::create_dir_all(&precious)?;
    rewrite(&desktop.loopgate, &run.id.to_string(), |record| record["passingDir"] = json!(precious)).await?;
    desktop.loopgate = desktop.loopgate.start_again().await?;
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    wait::seen(&logs, async || {
        let files = std::fs::read_dir(&logs).ok()?.flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("the directory of a loop could not be removed")).then_some(())
    })
    .await?;
    ensure!(precious.is_dir(), "it is no directory of a loop");
    Ok(())
}

/// The ticket `loop-shop-7` has the same directory as the loop of the document `SHOP-7`.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_and_a_loop_never_share_a_worktree() -> Result<()> {
    let desktop = TestDesktop::playing([Conversation::when("amend", "# Change a plan").says("No.")]).await?;
    let launch = async |ticket: &str| {
        let body = json!({"ticketIdentifier": ticket, "repoPath": desktop.clone});
        let path = "/api/gateway/orchestrator/launch";
        let answer = desktop.loopgate.gateway(Method::POST, path).json(&body).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let (status, launched) = launch("loop-shop-7").await?;
    let place: PathBuf = launched["worktreePath"].as_str().context("a worktree")?.into();
    ensure!(status == 200 && place.ends_with("garden-notes-loop-shop-7"), "{launched}");
    std::fs::write(place.join("begun.txt"), "mine")?;
    for command in ["PLAN", "EXECUTE", "REQUEST_CHANGES"] {
        let (id, status, refused) =
            desktop.order(json!({"command": command, "prompt": "Add a file"})).await?;
        let text =
            format!("Failed to materialize {command} branch: a worktree that is no loop's lies in its place");
        let said = refused["error"].as_str().unwrap_or_default();
        ensure!(status == 500 && said.starts_with(&text), "{command}: {status} {refused}");
        ensure!(desktop.cloud.events(id, "error")[0]["code"] == "BRANCH_CREATE_FAILED");
    }
    ensure!(std::fs::read_to_string(place.join("begun.txt"))? == "mine");
    ensure!(git(&place, &["branch", "--show-current"])? == "feature/loop-shop-7");

    let order = json!({"command": "REQUEST_CHANGES", "prompt": "Shorter", "artifactSlug": "SHOP-8"});
    let run = desktop.run(order).await?;
    run.completed("request_changes")?;
    let (status, refused) = launch("loop-shop-8").await?;
    let text = "Failed to launch Orchestrator: a loop's worktree, on orchestrator/shop-8, lies in its place";
    ensure!(status == 500 && refused["error"] == text, "{status} {refused}");
    Ok(())
}

// LR-64
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_and_its_execution_lie_where_the_list_says() -> Result<()> {
    let says = Conversation::when("any", "# Coding loop").says("Done.\n\n<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([says]).await?;
    let elsewhere = desktop.testbed.sandbox().join("worktrees");
    std::fs::create_dir_all(&elsewhere)?;
    let list = desktop.testbed.sandbox().join(".loopgate/config/repos.json");
    let mut repos: Value = serde_json::from_slice(&std::fs::read(&list)?)?;
    repos["settings"]["worktreeParentDir"] = json!(elsewhere);
    std::fs::write(&list, repos.to_string())?;
    for command in ["PLAN", "EXECUTE"] {
        let run = desktop.run(json!({"command": command, "prompt": "Add a file"})).await?;
        let worktree = run.worktree()?;
        ensure!(worktree == elsewhere.canonicalize()?.join("garden-notes-loop-shop-7"), "{}", run.started);
        only_for_its_owner(&worktree.join(".loopgate/work"))?;
    }
    Ok(())
}

/// What was said to an assistant, and what it printed, is nobody else's.
fn only_for_its_owner(work_dir: &Path) -> Result<()> {
    let mode = |path: &Path| anyhow::Ok(path.metadata()?.permissions().mode() & 0o777);
    ensure!(mode(work_dir)? == 0o700, "{:o}", mode(work_dir)?);
    let is_stream = |name: &str| {
        name == "assistant-stderr.log" || name.starts_with("assistant-output") && name.ends_with(".jsonl")
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(work_dir)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == "orchestrator-loop.log" || is_stream(&name) {
            ensure!(mode(&entry.path())? == 0o600, "{name}: {:o}", mode(&entry.path())?);
            files.push(name);
        }
    }
    let printed = files.iter().any(|name| name.starts_with("assistant-output"));
    ensure!(printed && files.len() > 2, "{files:?}");
    Ok(())
}
