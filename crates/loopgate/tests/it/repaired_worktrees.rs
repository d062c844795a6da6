//! Worktrees that are on a wrong branch, broken or deleted: the next loop repairs them without losing work.

use std::path::PathBuf;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::json;

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

/// Returns an execution that runs one command in the worktree of the document with this slug.
fn execution(slug: &str, command: &str) -> Conversation {
    Conversation::when(slug, "# Coding loop")
        .and(&format!(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+-loop-{slug}/[^"]+)""#))
        .turn([ModelStep::bash(command)])
        .says("<promise>COMPLETE</promise>")
}

async fn execute(desktop: &TestDesktop, slug: &str) -> Result<Run> {
    desktop.run(json!({"command": "EXECUTE", "prompt": "Do it", "artifactSlug": slug})).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commits_off_the_loop_branch_are_delivered_from_that_branch() -> Result<()> {
    let commit = "echo work > work.txt; git add -A; git commit -q -m Work";
    // Each of these leaves the loop's branch before the commit, so that the commit is reachable from HEAD
    // only.
    let cases = [
        ("detached", "git checkout -q --detach"),
        ("own-branch", "git checkout -q -b feature/mine"),
        ("base", "git checkout -q --ignore-other-worktrees main"),
    ];
    let desktop =
        TestDesktop::playing(cases.map(|(slug, leave)| execution(slug, &format!("{leave}; {commit}"))))
            .await?;
    for (number, (slug, _)) in cases.into_iter().enumerate() {
        let run = execute(&desktop, slug).await?;
        let result = run.completed("execute")?;
        let branch = format!("orchestrator/{slug}");
        ensure!(result["has_changes"] == true && result["branchName"] == branch, "{slug}: {}", run.last);
        ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).len() == number + 1, "{slug}");
        let worktree = run.worktree()?;
        ensure!(git(&worktree, &["branch", "--show-current"])? == branch, "{slug}");
        let output = desktop.cloud.output(run.id).join("\n");
        ensure!(output.contains(&format!("it is on {branch} again")), "{slug}: {output}");
        let files = git(&desktop.clone, &["ls-tree", "-r", "--name-only", &format!("origin/{branch}")])?;
        ensure!(files.lines().any(|file| file == "work.txt"), "{slug}: {files}");
        ensure!(!files.contains(".loopgate"), "internal files were committed: {files}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn missing_or_broken_worktree_is_recreated_with_its_commits() -> Result<()> {
    let commit = "date +%s%N > work.txt; git add -A; git commit -q -m Work; echo note > .loopgate/work/note";
    let desktop = TestDesktop::playing([execution("shop-7", commit)]).await?;
    let first = execute(&desktop, "shop-7").await?;
    first.completed("execute")?;
    let worktree = first.worktree()?;
    let done = |directory: &PathBuf| git(directory, &["log", "--format=%H", "--", "work.txt"]);
    let before = done(&worktree)?;

    std::fs::remove_dir_all(&worktree)?;
    let second = execute(&desktop, "shop-7").await?;
    second.completed("execute")?;
    ensure!(
        second.worktree()? == worktree && done(&worktree)?.ends_with(&before),
        "earlier commits are missing"
    );
    let output = desktop.cloud.output(second.id).join("\n");
    ensure!(output.contains("recreated from branch orchestrator/shop-7"), "{output}");

    // The user checks out an older commit; the loop's branch stays ahead of HEAD.
    let before = done(&worktree)?;
    git(&worktree, &["checkout", "-q", "--detach", "HEAD~1"])?;
    let third = execute(&desktop, "shop-7").await?;
    third.completed("execute")?;
    ensure!(done(&worktree)?.ends_with(&before), "commits of the branch are missing");

    let before = done(&worktree)?;
    // A dangling `.git` file makes the directory unusable for git. Its files are moved aside, not deleted.
    std::fs::write(worktree.join(".git"), "gitdir: /nowhere\n")?;
    std::fs::write(worktree.join("mine.txt"), "mine")?;
    let fourth = execute(&desktop, "shop-7").await?;
    fourth.completed("execute")?;
    ensure!(done(&worktree)?.ends_with(&before), "commits of the branch are missing");
    ensure!(worktree.join(".loopgate/work/note").is_file(), "the work directory was not restored");
    let siblings = std::fs::read_dir(desktop.testbed.sandbox())?.flatten().map(|entry| entry.path());
    let aside: Vec<PathBuf> = siblings.filter(|path| path.to_string_lossy().contains(".aside-")).collect();
    let [aside] = &aside[..] else { anyhow::bail!("{aside:?}") };
    ensure!(std::fs::read_to_string(aside.join("mine.txt"))? == "mine");
    let output = desktop.cloud.output(fourth.id).join("\n");
    ensure!(output.contains(aside.to_str().context("a plain path")?), "{output}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deleted_worktree_fails_loop_and_missing_git_file_is_repaired() -> Result<()> {
    let cases = [("deleted", "rm -rf \"$PWD\""), ("unlinked", "echo work > work.txt; unlink .g?t")];
    let desktop = TestDesktop::playing(cases.map(|(slug, delete)| execution(slug, delete))).await?;
    let run = execute(&desktop, "deleted").await?;
    let (message, worktree) = (run.last["message"].as_str().unwrap_or_default(), run.worktree()?);
    let output = format!(
        "the worktree {} was deleted while the loop ran; earlier commits are on branch \
         orchestrator/deleted",
        worktree.file_name().context("no file name")?.display()
    );
    ensure!(run.last["code"] == "PROCESS_FAILED" && message == output, "{}", run.last);
    let run = execute(&desktop, "unlinked").await?;
    ensure!(run.completed("execute")?["has_changes"] == true, "{}", run.last);
    let files = git(&desktop.clone, &["ls-tree", "-r", "--name-only", "origin/orchestrator/unlinked"])?;
    ensure!(files.lines().any(|file| file == "work.txt"), "{files}");
    Ok(())
}
