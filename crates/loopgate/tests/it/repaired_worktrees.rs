//! Worktrees that an assistant left off their branch, broke or deleted: the next loop works in them all
//! the same, and nothing is lost.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::story;
use serde_json::json;

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

/// An execution of the document with this slug that runs one command.
fn executes(slug: &str, command: &str) -> Conversation {
    Conversation::when(slug, "# Coding loop")
        .and(&format!(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+-loop-{slug}/[^"]+)""#))
        .turn([Step::bash(command)])
        .says("<promise>COMPLETE</promise>")
}

async fn execute(desktop: &TestDesktop, slug: &str) -> Result<Run> {
    desktop.run(json!({"command": "EXECUTE", "prompt": "Do it", "artifactSlug": slug})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_off_the_branch_of_its_loop_is_delivered_from_that_branch() -> Result<()> {
    let commit = "echo work > work.txt; git add -A; git commit -q -m Work";
    let places = [
        ("detached", "git checkout -q --detach"),
        ("own-branch", "git checkout -q -b feature/mine"),
        ("base", "git checkout -q --ignore-other-worktrees main"),
    ];
    let desktop =
        TestDesktop::playing(places.map(|(slug, leave)| executes(slug, &format!("{leave}; {commit}"))))
            .await?;
    for (number, (slug, _)) in places.into_iter().enumerate() {
        let run = execute(&desktop, slug).await?;
        let result = run.completed("execute")?;
        let branch = format!("orchestrator/{slug}");
        ensure!(result["has_changes"] == true && result["branchName"] == branch, "{slug}: {}", run.last);
        ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).len() == number + 1, "{slug}");
        let worktree = run.worktree()?;
        ensure!(git(&worktree, &["branch", "--show-current"])? == branch, "{slug}");
        let told = desktop.cloud.output(run.id).join("\n");
        ensure!(told.contains(&format!("it is on {branch} again")), "{slug}: {told}");
        let files = git(&desktop.clone, &["ls-tree", "-r", "--name-only", &format!("origin/{branch}")])?;
        ensure!(files.lines().any(|file| file == "work.txt"), "{slug}: {files}");
        ensure!(!files.contains(".loopgate"), "what a loop keeps for itself was committed: {files}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_or_broken_worktree_is_recreated_with_its_work() -> Result<()> {
    let commit = "date +%s%N > work.txt; git add -A; git commit -q -m Work; echo note > .loopgate/work/note";
    let desktop = TestDesktop::playing([executes("shop-7", commit)]).await?;
    let first = execute(&desktop, "shop-7").await?;
    first.completed("execute")?;
    let worktree = first.worktree()?;
    let done = |directory: &PathBuf| git(directory, &["log", "--format=%H", "--", "work.txt"]);
    let before = done(&worktree)?;

    std::fs::remove_dir_all(&worktree)?;
    let second = execute(&desktop, "shop-7").await?;
    second.completed("execute")?;
    ensure!(second.worktree()? == worktree && done(&worktree)?.ends_with(&before), "it goes on");
    let told = desktop.cloud.output(second.id).join("\n");
    ensure!(told.contains("made again from branch orchestrator/shop-7"), "{told}");

    // A person's look at an old commit, and a `.git` that leads nowhere.
    let before = done(&worktree)?;
    git(&worktree, &["checkout", "-q", "--detach", "HEAD~1"])?;
    let third = execute(&desktop, "shop-7").await?;
    third.completed("execute")?;
    ensure!(done(&worktree)?.ends_with(&before), "the branch keeps what HEAD lacks");

    let before = done(&worktree)?;
    std::fs::write(worktree.join(".git"), "gitdir: /nowhere\n")?;
    std::fs::write(worktree.join("mine.txt"), "mine")?;
    let fourth = execute(&desktop, "shop-7").await?;
    fourth.completed("execute")?;
    ensure!(done(&worktree)?.ends_with(&before), "the branch is as it was");
    ensure!(worktree.join(".loopgate/work/note").is_file(), "the state of the document goes along");
    let beside = std::fs::read_dir(desktop.testbed.sandbox())?.flatten().map(|entry| entry.path());
    let aside: Vec<PathBuf> = beside.filter(|path| path.to_string_lossy().contains(".aside-")).collect();
    let [aside] = &aside[..] else { anyhow::bail!("{aside:?}") };
    ensure!(std::fs::read_to_string(aside.join("mine.txt"))? == "mine");
    let told = desktop.cloud.output(fourth.id).join("\n");
    ensure!(told.contains(aside.to_str().context("a plain path")?), "{told}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_whose_worktree_was_deleted_says_so_and_one_without_its_link_delivers() -> Result<()> {
    let places = [("deleted", "rm -rf \"$PWD\""), ("unlinked", "echo work > work.txt; unlink .g?t")];
    let desktop = TestDesktop::playing(places.map(|(slug, delete)| executes(slug, delete))).await?;
    let run = execute(&desktop, "deleted").await?;
    let (said, worktree) = (run.last["message"].as_str().unwrap_or_default(), run.worktree()?);
    let told = format!(
        "the worktree {} was deleted while the loop ran; what was committed before is on branch \
         orchestrator/deleted",
        worktree.file_name().context("a worktree has a name")?.display()
    );
    ensure!(run.last["code"] == "PROCESS_FAILED" && said == told, "{}", run.last);
    let run = execute(&desktop, "unlinked").await?;
    ensure!(run.completed("execute")?["has_changes"] == true, "{}", run.last);
    let files = git(&desktop.clone, &["ls-tree", "-r", "--name-only", "origin/orchestrator/unlinked"])?;
    ensure!(files.lines().any(|file| file == "work.txt"), "{files}");
    Ok(())
}
