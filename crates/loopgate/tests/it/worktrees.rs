//! What loops leave on the disk, and that cleaning it up loses nobody's work.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Step;
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::cli;
use crate::test_system::{TestSystem, git};

/// What `loopgate worktrees` prints with these words behind it: one JSON value a line.
async fn worktrees(system: &TestSystem, words: &[&str]) -> Result<Vec<Value>> {
    let data = system.loopgate.setup().data_dir();
    let mut arguments = vec!["worktrees"];
    arguments.extend(words);
    arguments.extend(["--json", "--home", data.to_str().context("a plain path")?]);
    let output = cli::run(&system.testbed.home, &arguments, &[]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The only worktree there is.
async fn only(system: &TestSystem) -> Result<Value> {
    let mut all = worktrees(system, &[]).await?;
    ensure!(all.len() == 1, "{all:?}");
    all.pop().context("one worktree")
}

/// The directories that a round of cleaning removes.
async fn cleaned(system: &TestSystem, words: &[&str]) -> Result<Vec<PathBuf>> {
    let all = [&["clean"], words].concat();
    let tidied = worktrees(system, &all).await?.pop().context("it says what it did")?;
    assert_eq!(tidied["failed"], json!([]));
    let removed = tidied["removed"].as_array().context("a list")?;
    Ok(removed.iter().filter_map(|worktree| worktree["path"].as_str().map(PathBuf::from)).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn worktrees_go_when_nothing_in_them_would_be_lost() -> Result<()> {
    const AT_ONCE: [&str; 2] = ["--older-than", "0"];
    let nothing: [PathBuf; 0] = [];
    let mut script = story::script();
    script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
    let system = TestSystem::playing(script).await?;
    let page = &system.page;
    let wish = page.wish().await?;
    assert!(worktrees(&system, &[]).await?.is_empty());

    let plan_loop = page.press(&wish, "plan").await?;
    system.testbed.model.held("planning").await?;
    assert_eq!(only(&system).await?["held"], "in-use");
    assert_eq!(cleaned(&system, &AT_ONCE).await?, nothing);
    system.testbed.model.release("planning");
    assert_eq!(page.ended(&plan_loop).await?["status"], "COMPLETED");
    system.settled(&plan_loop, "Completed").await?;

    let left = only(&system).await?;
    assert_eq!(
        (&left["loopId"], &left["status"], &left["command"]),
        (&json!(plan_loop), &json!("COMPLETED"), &json!("PLAN"))
    );
    assert_eq!((&left["held"], left["sizeBytes"].as_u64() > Some(1000)), (&Value::Null, true), "{left}");
    let place = PathBuf::from(left["path"].as_str().context("a path")?);
    let branch = left["branch"].as_str().context("a branch")?.to_owned();
    assert_eq!(cleaned(&system, &[]).await?, nothing, "it is not old");
    assert_eq!(cleaned(&system, &["--older-than", "0", "--dry-run"]).await?, std::slice::from_ref(&place));
    assert!(place.is_dir());

    std::fs::write(place.join("notes.txt"), "mine\n")?;
    assert_eq!(only(&system).await?["held"], "uncommitted");
    assert_eq!(cleaned(&system, &AT_ONCE).await?, nothing);
    git(&place, &["add", "notes.txt"])?;
    git(&place, &["commit", "-q", "-m", "Keep notes"])?;
    assert_eq!(only(&system).await?["held"], "unpushed");
    assert_eq!(cleaned(&system, &AT_ONCE).await?, nothing);
    git(&place, &["reset", "-q", "--hard", "HEAD~1"])?;

    assert_eq!(cleaned(&system, &AT_ONCE).await?, std::slice::from_ref(&place));
    assert!(!place.exists() && worktrees(&system, &[]).await?.is_empty());
    assert!(git(&system.clone, &["branch", "--list", &branch])?.contains(&branch), "the branch stays");
    still_executes(&system, &wish, &place).await
}

/// A plan whose worktree is gone is executed in a fresh one.
async fn still_executes(system: &TestSystem, wish: &str, place: &Path) -> Result<()> {
    let execute_loop = system.page.press(wish, "execute").await?;
    let ended = system.page.ended(&execute_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", system.loopgate.output());
    assert_eq!(system.testbed.host.pull_requests(story::REPOSITORY).len(), 1);
    system.settled(&execute_loop, "Completed").await?;
    let left = only(system).await?;
    assert_eq!(
        (left["path"].as_str().map(Path::new), &left["held"]),
        (Some(place), &Value::Null),
        "pushed work is kept by the remote"
    );
    Ok(())
}
