//! What loops leave on the disk, and that cleaning it up loses nobody's work.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Step;
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::cli;
use crate::stage::{Stage, git};

/// What `loopgate worktrees` prints with these words behind it: one JSON value a line.
async fn worktrees(stage: &Stage, words: &[&str]) -> Result<Vec<Value>> {
    let data = stage.loopgate.setup().data_dir();
    let mut arguments = vec!["worktrees"];
    arguments.extend(words);
    arguments.extend(["--json", "--home", data.to_str().context("a plain path")?]);
    let output = cli::run(&stage.scene.home, &arguments, &[]).await?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout)?.lines().map(|line| Ok(serde_json::from_str(line)?)).collect()
}

/// The only worktree there is.
async fn only(stage: &Stage) -> Result<Value> {
    let mut all = worktrees(stage, &[]).await?;
    ensure!(all.len() == 1, "{all:?}");
    all.pop().context("one worktree")
}

/// The directories that a round of cleaning removes.
async fn cleaned(stage: &Stage, words: &[&str]) -> Result<Vec<PathBuf>> {
    let all = [&["clean"], words].concat();
    let tidied = worktrees(stage, &all).await?.pop().context("it says what it did")?;
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
    let stage = Stage::playing(script).await?;
    let page = &stage.page;
    let wish = page.wish().await?;
    assert!(worktrees(&stage, &[]).await?.is_empty());

    let plan_loop = page.press(&wish, "plan").await?;
    stage.scene.model.held("planning").await?;
    assert_eq!(only(&stage).await?["held"], "in-use");
    assert_eq!(cleaned(&stage, &AT_ONCE).await?, nothing);
    stage.scene.model.release("planning");
    assert_eq!(page.ended(&plan_loop).await?["status"], "COMPLETED");
    stage.settled(&plan_loop, "Completed").await?;

    let left = only(&stage).await?;
    assert_eq!(
        (&left["loopId"], &left["status"], &left["command"]),
        (&json!(plan_loop), &json!("COMPLETED"), &json!("PLAN"))
    );
    assert_eq!((&left["held"], left["sizeBytes"].as_u64() > Some(1000)), (&Value::Null, true), "{left}");
    let place = PathBuf::from(left["path"].as_str().context("a path")?);
    let branch = left["branch"].as_str().context("a branch")?.to_owned();
    assert_eq!(cleaned(&stage, &[]).await?, nothing, "it is not old");
    assert_eq!(cleaned(&stage, &["--older-than", "0", "--dry-run"]).await?, std::slice::from_ref(&place));
    assert!(place.is_dir());

    std::fs::write(place.join("notes.txt"), "mine\n")?;
    assert_eq!(only(&stage).await?["held"], "uncommitted");
    assert_eq!(cleaned(&stage, &AT_ONCE).await?, nothing);
    git(&place, &["add", "notes.txt"])?;
    git(&place, &["commit", "-q", "-m", "Keep notes"])?;
    assert_eq!(only(&stage).await?["held"], "unpushed");
    assert_eq!(cleaned(&stage, &AT_ONCE).await?, nothing);
    git(&place, &["reset", "-q", "--hard", "HEAD~1"])?;

    assert_eq!(cleaned(&stage, &AT_ONCE).await?, std::slice::from_ref(&place));
    assert!(!place.exists() && worktrees(&stage, &[]).await?.is_empty());
    assert!(git(&stage.clone, &["branch", "--list", &branch])?.contains(&branch), "the branch stays");
    still_executes(&stage, &wish, &place).await
}

/// A plan whose worktree is gone is executed in a fresh one.
async fn still_executes(stage: &Stage, wish: &str, place: &Path) -> Result<()> {
    let execute_loop = stage.page.press(wish, "execute").await?;
    let ended = stage.page.ended(&execute_loop).await?;
    assert_eq!(ended["status"], "COMPLETED", "{ended}\n{}", stage.loopgate.output());
    assert_eq!(stage.scene.host.pull_requests(story::REPOSITORY).len(), 1);
    stage.settled(&execute_loop, "Completed").await?;
    let left = only(stage).await?;
    assert_eq!(
        (left["path"].as_str().map(Path::new), &left["held"]),
        (Some(place), &Value::Null),
        "pushed work is kept by the remote"
    );
    Ok(())
}
