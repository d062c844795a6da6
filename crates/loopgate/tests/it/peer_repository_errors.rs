//! Loops over several repositories that cannot begin, because of one of them: which one is told, and
//! nothing is left behind.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::TestDesktop;
use crate::test_system::git;

const FILES: [(&str, &str); 1] = [("README.md", "Something\n")];

/// Puts a file beside and is done.
fn implementer() -> Conversation {
    Conversation::when("implement", "# Coding loop")
        .and(r#"LOOPGATE_ADD_DIRS="(?P<peer>[^"]+)""#)
        .turn([Step::bash("echo page > feature.txt; echo beside > '{{peer}}/feature.txt'")])
        .says("Done.\n\n<promise>COMPLETE</promise>")
}

fn order(command: &str, peer: Value) -> Value {
    json!({"command": command, "prompt": "Add a file", "additionalRepos": [peer]})
}

/// The loop's own worktree and those beside.
fn worktrees(desktop: &TestDesktop) -> Result<Vec<PathBuf>> {
    let entries = std::fs::read_dir(desktop.testbed.sandbox())?.flatten().map(|entry| entry.path());
    Ok(entries.filter(|path| path.to_string_lossy().contains("-loop-")).collect())
}

async fn refused(desktop: &TestDesktop, order: Value, status: u16, text: &str, code: &str) -> Result<()> {
    let (id, got, answer) = desktop.order(order).await?;
    let said = answer["error"].as_str().unwrap_or_default();
    ensure!(got == status && said.starts_with(text), "wanted {status} {text}\ngot {got} {answer}");
    let told = desktop.cloud.seen(|cloud| cloud.events(id, "error").pop()).await;
    ensure!(told["code"] == code && told["message"].as_str().unwrap_or_default().starts_with(text), "{told}");
    ensure!(desktop.cloud.events(id, "started").is_empty(), "it did not start");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_beside_must_be_named_and_allowed() -> Result<()> {
    let desktop = TestDesktop::playing([]).await?;
    let text = "Additional repo entry must have localRepoPath or fullName";
    refused(&desktop, order("PLAN", json!({"branch": "main"})), 400, text, "REPO_NOT_FOUND").await?;
    let text = "Additional repo not found locally: acme/nowhere";
    let nowhere = json!({"fullName": "acme/nowhere", "branch": "main"});
    refused(&desktop, order("PLAN", nowhere), 400, text, "REPO_NOT_FOUND").await?;
    let text = "Additional repo path not allowed: /etc";
    let outside = json!({"localRepoPath": "/etc", "branch": "main"});
    refused(&desktop, order("PLAN", outside), 400, text, "REPO_NOT_ALLOWED").await?;
    ensure!(worktrees(&desktop)?.is_empty(), "nothing was made");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn peer_worktree_stays_in_the_sandbox_and_takes_no_existing_directory() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    let web = desktop.testbed.add_repository("acme/web", &FILES)?;
    let peer = json!({"fullName": "acme/web", "branch": "main"});
    // A first run tells where the worktree lies.
    let run = desktop.run(order("EXECUTE", peer.clone())).await?;
    run.completed("execute")?;
    let of_web = |path: &PathBuf| path.to_string_lossy().contains("web-loop-");
    let place = worktrees(&desktop)?.into_iter().find(of_web).context("a worktree beside")?;
    std::fs::remove_dir_all(&place)?;
    git(&web, &["worktree", "prune"])?;
    symlink("/etc", &place)?;
    let text = format!("Additional repo worktree path not allowed for acme/web: {}", place.display());
    refused(&desktop, order("EXECUTE", peer.clone()), 403, &text, "REPO_NOT_ALLOWED").await?;
    std::fs::remove_file(&place)?;

    std::fs::create_dir(&place)?;
    std::fs::write(place.join("notes.txt"), "mine")?;
    let text = "Failed to checkout additional repo worktree for acme/web: ";
    refused(&desktop, order("EXECUTE", peer.clone()), 500, text, "BRANCH_CREATE_FAILED").await?;
    ensure!(std::fs::read_to_string(place.join("notes.txt"))? == "mine", "what lay there is untouched");

    // A plan makes its own worktree anew: when the one beside fails, it goes again.
    let mut fresh = order("PLAN", peer);
    fresh["artifactSlug"] = json!("SHOP-8");
    let beside = place.to_string_lossy().replace("shop-7", "shop-8");
    std::fs::create_dir(Path::new(&beside))?;
    std::fs::write(Path::new(&beside).join("notes.txt"), "mine")?;
    refused(&desktop, fresh, 500, text, "BRANCH_CREATE_FAILED").await?;
    ensure!(!desktop.testbed.sandbox().join("garden-notes-loop-shop-8").exists(), "nothing is left behind");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unwritable_agents_stop_an_execution() -> Result<()> {
    let desktop = TestDesktop::playing([implementer()]).await?;
    // A file is where the directory of the agents belongs.
    desktop.testbed.add_repository("acme/web", &[("README.md", "x\n"), (".claude", "a file\n")])?;
    let agents = json!([{"slug": "tester", "name": "Tester", "prompt": "Be thorough."}]);
    let mut ordered = order("EXECUTE", json!({"fullName": "acme/web", "branch": "main"}));
    ordered["agents"] = agents;
    let text = "Context-pack materialization failed for additional repo worktree";
    refused(&desktop, ordered.clone(), 500, text, "BRANCH_CREATE_FAILED").await?;
    let beside = worktrees(&desktop)?.iter().any(|path| path.to_string_lossy().contains("web-loop-"));
    ensure!(!beside, "what was made beside goes again");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_beside_without_a_name_is_worked_in_and_not_delivered() -> Result<()> {
    let script = story::script();
    let committer = script.conversations.into_iter().find(|one| one.name == story::COMMIT);
    let desktop = TestDesktop::playing([implementer(), committer.context("the story commits")?]).await?;
    let alone = desktop.testbed.add_repository("acme/alone", &FILES)?;
    git(&alone, &["remote", "remove", "origin"])?;
    let run = desktop.run(order("EXECUTE", json!({"localRepoPath": alone, "branch": "main"}))).await?;
    run.completed("execute")?;
    let results = run.last["results"].as_array().context("results")?;
    ensure!(results.len() == 1 && results[0]["fullName"] == story::REPOSITORY, "{results:?}");
    ensure!(results[0]["status"] == "success", "{results:?}");
    let of_alone = |path: &PathBuf| path.to_string_lossy().contains("alone-loop-");
    let beside = worktrees(&desktop)?.into_iter().find(of_alone).context("it stays")?;
    ensure!(std::fs::read_to_string(beside.join("feature.txt"))? == "beside\n", "work is never removed");
    ensure!(git(&alone, &["status", "--porcelain", "--ignored"])?.is_empty());
    Ok(())
}
