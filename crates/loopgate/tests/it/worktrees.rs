//! `loopgate worktrees`: lists the worktrees of loops, and removes only those without unpushed work.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::cli;
use crate::test_system::{TestSystem, git};

/// Runs `loopgate worktrees --json` with further arguments, and returns one value per line.
async fn worktrees(system: &TestSystem, words: &[&str]) -> Result<Vec<Value>> {
    let data = system.loopgate.setup().data_dir();
    let mut arguments = vec!["worktrees"];
    arguments.extend(words);
    arguments.extend(["--json", "--home", data.to_str().context("a plain path")?]);
    let output = cli::run(&system.testbed.home, &arguments, &[]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// Returns the only worktree.
async fn only_worktree(system: &TestSystem) -> Result<Value> {
    let mut all = worktrees(system, &[]).await?;
    ensure!(all.len() == 1, "{all:?}");
    all.pop().context("one worktree")
}

/// Runs `clean`, and returns the removed directories.
async fn clean(system: &TestSystem, words: &[&str]) -> Result<Vec<PathBuf>> {
    let all = [&["clean"], words].concat();
    let summary = worktrees(system, &all).await?.pop().context("no output")?;
    assert_eq!(summary["failed"], json!([]));
    let removed = summary["removed"].as_array().context("a list")?;
    Ok(removed.iter().filter_map(|worktree| worktree["path"].as_str().map(PathBuf::from)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktree_is_removed_only_without_unpushed_work() -> Result<()> {
    const ANY_AGE: [&str; 2] = ["--older-than", "0"];
    let none: [PathBuf; 0] = [];
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
    let system = TestSystem::playing(script).await?;
    let page = &system.page;
    let document = page.create_document().await?;
    assert!(worktrees(&system, &[]).await?.is_empty());

    let plan_loop = page.start_loop(&document, "plan").await?;
    system.testbed.model.held("planning").await?;
    assert_eq!(only_worktree(&system).await?["held"], "in-use");
    assert_eq!(clean(&system, &ANY_AGE).await?, none);
    system.testbed.model.release("planning");
    assert_eq!(page.wait_for_end(&plan_loop).await?["status"], "COMPLETED");
    system.settled(&plan_loop, "Completed").await?;

    let entry = only_worktree(&system).await?;
    assert_eq!(
        (&entry["loopId"], &entry["status"], &entry["command"]),
        (&json!(plan_loop), &json!("COMPLETED"), &json!("PLAN"))
    );
    assert_eq!((&entry["held"], entry["sizeBytes"].as_u64() > Some(1000)), (&Value::Null, true), "{entry}");
    let worktree = PathBuf::from(entry["path"].as_str().context("a path")?);
    let branch = entry["branch"].as_str().context("a branch")?.to_owned();
    assert_eq!(clean(&system, &[]).await?, none, "a recent worktree was removed");
    assert_eq!(clean(&system, &["--older-than", "0", "--dry-run"]).await?, std::slice::from_ref(&worktree));
    assert!(worktree.is_dir());

    std::fs::write(worktree.join("notes.txt"), "mine\n")?;
    assert_eq!(only_worktree(&system).await?["held"], "uncommitted");
    assert_eq!(clean(&system, &ANY_AGE).await?, none);
    git(&worktree, &["add", "notes.txt"])?;
    git(&worktree, &["commit", "-q", "-m", "Keep notes"])?;
    assert_eq!(only_worktree(&system).await?["held"], "unpushed");
    assert_eq!(clean(&system, &ANY_AGE).await?, none);
    git(&worktree, &["reset", "-q", "--hard", "HEAD~1"])?;

    assert_eq!(clean(&system, &ANY_AGE).await?, std::slice::from_ref(&worktree));
    assert!(!worktree.exists() && worktrees(&system, &[]).await?.is_empty());
    assert!(git(&system.clone, &["branch", "--list", &branch])?.contains(&branch), "the branch was deleted");
    execute_recreates_worktree(&system, &document, &worktree).await
}

/// EXECUTE creates a new worktree when the plan's worktree was removed.
async fn execute_recreates_worktree(system: &TestSystem, document: &str, worktree: &Path) -> Result<()> {
    let execute_loop = system.page.start_loop(document, "execute").await?;
    let ended = system.page.wait_for_end(&execute_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", system.loopgate.output());
    assert_eq!(system.testbed.host.pull_requests(story::REPOSITORY).len(), 1);
    system.settled(&execute_loop, "Completed").await?;
    let entry = only_worktree(system).await?;
    assert_eq!(
        (entry["path"].as_str().map(Path::new), &entry["held"]),
        (Some(worktree), &Value::Null),
        "a pushed worktree is not removable"
    );
    Ok(())
}
