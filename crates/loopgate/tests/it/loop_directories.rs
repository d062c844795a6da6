//! Directories of loops: clean-up after a restart, path conflicts between tickets and loops, the configured
//! parent directory, and permissions.

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

/// Loopgate is killed between the end of a loop and the removal of its temporary directory.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn temporary_directory_is_removed_at_next_start() -> Result<()> {
    let splits = Conversation::when("split", "# Split requirements").says("I see none.");
    let mut desktop = TestDesktop::playing([splits]).await?;
    let documents = json!([{"id": "1", "type": "PRD", "title": "", "content": "Dark mode, please"}]);
    let run = desktop.run(json!({"command": "DECOMPOSE", "artifacts": documents})).await?;
    run.completed("decompose")?;
    let directory = std::env::temp_dir().canonicalize()?.join(format!("orchestrator-decompose-{}", run.id));
    ensure!(!directory.exists(), "the directory was not removed");

    desktop.loopgate.kill().await?;
    std::fs::create_dir_all(directory.join(".loopgate/context"))?;
    rewrite(&desktop.loopgate, &run.id.to_string(), |record| record["tempDir"] = json!(directory)).await?;
    desktop.loopgate = desktop.loopgate.start_again().await?;
    wait::until_removed(&directory).await?;

    // Only directories with the name of a loop's temporary directory are removed. A record with any other
    // path must not delete that path.
    desktop.loopgate.kill().await?;
    let precious = desktop.testbed.sandbox().join("orchestrator-precious");
    std::fs::create_dir_all(&precious)?;
    rewrite(&desktop.loopgate, &run.id.to_string(), |record| record["tempDir"] = json!(precious)).await?;
    desktop.loopgate = desktop.loopgate.start_again().await?;
    let logs = desktop.loopgate.setup().data_dir().join("logs");
    wait::until(&logs, async || {
        let files = std::fs::read_dir(&logs).ok()?.flatten();
        let mut texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        texts.any(|text| text.contains("cannot remove the directory of a loop")).then_some(())
    })
    .await?;
    ensure!(precious.is_dir(), "a directory that is not a loop's was removed");
    Ok(())
}

/// The ticket `loop-shop-7` and the loop of the document `SHOP-7` map to the same worktree path.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn ticket_and_loop_never_share_worktree() -> Result<()> {
    let desktop = TestDesktop::playing([Conversation::when("amend", "# Change a plan").says("No.")]).await?;
    let launch = async |ticket: &str| {
        let body = json!({"ticketIdentifier": ticket, "repoPath": desktop.clone});
        let path = "/api/gateway/orchestrator/launch";
        let answer = desktop.loopgate.gateway(Method::POST, path).json(&body).send().await?;
        anyhow::Ok((answer.status().as_u16(), answer.json::<Value>().await?))
    };
    let (status, launched) = launch("loop-shop-7").await?;
    let worktree: PathBuf = launched["worktreePath"].as_str().context("a worktree")?.into();
    ensure!(status == 200 && worktree.ends_with("garden-notes-loop-shop-7"), "{launched}");
    std::fs::write(worktree.join("started.txt"), "mine")?;
    for command in ["PLAN", "EXECUTE", "REQUEST_CHANGES"] {
        let (id, status, refused) =
            desktop.order(json!({"command": command, "prompt": "Add a file"})).await?;
        let text = format!(
            "Failed to materialize {command} branch: a worktree that does not belong to a loop is at its path"
        );
        let error = refused["error"].as_str().unwrap_or_default();
        ensure!(status == 500 && error.starts_with(&text), "{command}: {status} {refused}");
        ensure!(desktop.cloud.events(id, "error")[0]["code"] == "BRANCH_CREATE_FAILED");
    }
    // The reverse order: here the loop owns the worktree, and the ticket is refused.
    ensure!(std::fs::read_to_string(worktree.join("started.txt"))? == "mine");
    ensure!(git(&worktree, &["branch", "--show-current"])? == "feature/loop-shop-7");

    let order = json!({"command": "REQUEST_CHANGES", "prompt": "Shorter", "artifactSlug": "SHOP-8"});
    let run = desktop.run(order).await?;
    run.completed("request_changes")?;
    let (status, refused) = launch("loop-shop-8").await?;
    let text = "Failed to launch Orchestrator: a loop's worktree, on orchestrator/shop-8, is at its path";
    ensure!(status == 500 && refused["error"] == text, "{status} {refused}");
    Ok(())
}

// LR-64
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn plan_and_execution_use_configured_worktree_parent() -> Result<()> {
    let says = Conversation::when("any", "# Coding loop").says("Done.\n\n<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([says]).await?;
    let parent = desktop.testbed.sandbox().join("worktrees");
    std::fs::create_dir_all(&parent)?;
    let list = desktop.testbed.sandbox().join(".loopgate/config/repos.json");
    let mut repos: Value = serde_json::from_slice(&std::fs::read(&list)?)?;
    repos["settings"]["worktreeParentDir"] = json!(parent);
    std::fs::write(&list, repos.to_string())?;
    for command in ["PLAN", "EXECUTE"] {
        let run = desktop.run(json!({"command": command, "prompt": "Add a file"})).await?;
        let worktree = run.worktree()?;
        ensure!(worktree == parent.canonicalize()?.join("garden-notes-loop-shop-7"), "{}", run.started);
        check_owner_only(&worktree.join(".loopgate/work"))?;
    }
    Ok(())
}

/// Checks that prompts and output of the assistant are readable by their owner only.
fn check_owner_only(work_dir: &Path) -> Result<()> {
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
    let has_output = files.iter().any(|name| name.starts_with("assistant-output"));
    ensure!(has_output && files.len() > 2, "{files:?}");
    Ok(())
}
