//! Peer repositories that prevent a loop from starting: the error names the repository, and no worktree
//! remains.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::test_system::git;

const FILES: [(&str, &str); 1] = [("README.md", "Something\n")];

/// Returns an execution that writes a file to each of the two worktrees.
fn implementer() -> Conversation {
    Conversation::when("implement", "# Coding loop")
        .and(r#"LOOPGATE_ADD_DIRS="(?P<peer>[^"]+)""#)
        .turn([ModelStep::bash("echo page > feature.txt; echo peer > '{{peer}}/feature.txt'")])
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

fn order(command: &str, peer: Value) -> Value {
    json!({"command": command, "prompt": "Add a file", "additionalRepos": [peer]})
}

/// Returns all worktrees of loops in the sandbox, of the main and of peer repositories.
fn worktrees(desktop: &TestDesktop) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(desktop.testbed.sandbox())?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.to_string_lossy().contains("-loop-")).collect())
}

async fn check_refused(
    desktop: &TestDesktop,
    order: Value,
    status: u16,
    text: &str,
    code: &str,
) -> Result<()> {
    let (id, actual, answer) = desktop.order(order).await?;
    let error = answer["error"].as_str().unwrap_or_default();
    ensure!(
        actual == status && error.starts_with(text),
        "expected {status} {text}\nactual {actual} {answer}"
    );
    let event = desktop.cloud.wait_for(|cloud| cloud.events(id, "error").pop()).await;
    ensure!(
        event["code"] == code && event["message"].as_str().unwrap_or_default().starts_with(text),
        "{event}"
    );
    ensure!(desktop.cloud.events(id, "started").is_empty(), "the loop started");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_must_be_identified_and_allowed() -> Result<()> {
    let desktop = TestDesktop::playing([]).await?;
    let text = "Additional repo entry must have localRepoPath or fullName";
    check_refused(&desktop, order("PLAN", json!({"branch": "main"})), 400, text, "REPO_NOT_FOUND").await?;
    let text = "Additional repo not found locally: acme/nowhere";
    let nowhere = json!({"fullName": "acme/nowhere", "branch": "main"});
    check_refused(&desktop, order("PLAN", nowhere), 400, text, "REPO_NOT_FOUND").await?;
    let text = "Additional repo path not allowed: /etc";
    let outside = json!({"localRepoPath": "/etc", "branch": "main"});
    check_refused(&desktop, order("PLAN", outside), 400, text, "REPO_NOT_ALLOWED").await?;
    ensure!(worktrees(&desktop)?.is_empty(), "a worktree was created");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_worktree_replaces_neither_symlink_nor_directory() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    let web = desktop.testbed.add_repository("acme/web", &FILES)?;
    let peer = json!({"fullName": "acme/web", "branch": "main"});
    // The path contains a hash of the repository's path, so a first run determines it.
    let run = desktop.run(order("EXECUTE", peer.clone())).await?;
    run.completed("execute")?;
    let is_web = |path: &PathBuf| path.to_string_lossy().contains("web-loop-");
    let worktree = worktrees(&desktop)?.into_iter().find(is_web).context("no worktree of the peer")?;
    std::fs::remove_dir_all(&worktree)?;
    git(&web, &["worktree", "prune"])?;
    symlink("/etc", &worktree)?;
    let text = format!("Additional repo worktree path not allowed for acme/web: {}", worktree.display());
    check_refused(&desktop, order("EXECUTE", peer.clone()), 403, &text, "REPO_NOT_ALLOWED").await?;
    std::fs::remove_file(&worktree)?;

    std::fs::create_dir(&worktree)?;
    std::fs::write(worktree.join("notes.txt"), "mine")?;
    let text = "Failed to checkout additional repo worktree for acme/web: ";
    check_refused(&desktop, order("EXECUTE", peer.clone()), 500, text, "BRANCH_CREATE_FAILED").await?;
    ensure!(std::fs::read_to_string(worktree.join("notes.txt"))? == "mine", "the existing file was changed");

    // PLAN creates a new worktree of the main repository; it must be removed when the worktree of the peer
    // fails.
    let mut fresh = order("PLAN", peer);
    fresh["artifactSlug"] = json!("SHOP-8");
    let peer_path = worktree.to_string_lossy().replace("shop-7", "shop-8");
    std::fs::create_dir(Path::new(&peer_path))?;
    std::fs::write(Path::new(&peer_path).join("notes.txt"), "mine")?;
    check_refused(&desktop, fresh, 500, text, "BRANCH_CREATE_FAILED").await?;
    ensure!(!desktop.testbed.sandbox().join("garden-notes-loop-shop-8").exists(), "a worktree remains");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn execution_fails_when_agents_cannot_be_written() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    // A file at the path of the `.claude` directory makes writing agents fail.
    desktop.testbed.add_repository("acme/web", &[("README.md", "x\n"), (".claude", "a file\n")])?;
    let agents = json!([{"slug": "tester", "name": "Tester", "prompt": "Be thorough."}]);
    let mut execution = order("EXECUTE", json!({"fullName": "acme/web", "branch": "main"}));
    execution["agents"] = agents;
    let text = "Context-pack materialization failed for additional repo worktree";
    check_refused(&desktop, execution.clone(), 500, text, "BRANCH_CREATE_FAILED").await?;
    let peer_path = worktrees(&desktop)?.iter().any(|path| path.to_string_lossy().contains("web-loop-"));
    ensure!(!peer_path, "the worktree of the peer remains");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_without_remote_is_changed_but_not_delivered() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    let unnamed = desktop.testbed.add_repository("acme/alone", &FILES)?;
    git(&unnamed, &["remote", "remove", "origin"])?;
    let run = desktop.run(order("EXECUTE", json!({"localRepoPath": unnamed, "branch": "main"}))).await?;
    run.completed("execute")?;
    let results = run.last["results"].as_array().context("results")?;
    ensure!(results.len() == 1 && results[0]["fullName"] == story::REPOSITORY, "{results:?}");
    ensure!(results[0]["status"] == "success", "{results:?}");
    let is_unnamed = |path: &PathBuf| path.to_string_lossy().contains("alone-loop-");
    let peer_path = worktrees(&desktop)?.into_iter().find(is_unnamed).context("no worktree of the peer")?;
    ensure!(std::fs::read_to_string(peer_path.join("feature.txt"))? == "peer\n", "work is never removed");
    ensure!(git(&unnamed, &["status", "--porcelain", "--ignored"])?.is_empty());
    Ok(())
}
