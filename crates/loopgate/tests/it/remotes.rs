//! Clones that fetch from one repository and push to another, and clones that know less than the host.

use anyhow::{Result, ensure};
use loopgate_testkit::git::GitRemotes;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

const FORK: &str = "octo-dev/garden-notes";
const BRANCH: &str = "orchestrator/shop-7";

/// An EXECUTE that changes a file.
fn executes() -> Conversation {
    Conversation::when("execute", "# Coding loop")
        .and(r#"LOOPGATE_COMMAND="EXECUTE""#)
        .turn([ModelStep::bash("echo x > more.txt")])
        .says("<promise>COMPLETE</promise>")
}

async fn desktop() -> Result<TestDesktop> {
    TestDesktop::playing([executes()]).await
}

/// Creates the fork of the story's repository at the host.
fn fork(desktop: &TestDesktop) -> Result<()> {
    desktop.testbed.remotes.fork(story::REPOSITORY, FORK)?;
    desktop.testbed.host.add_repository(FORK)
}

fn order(changes: Value) -> Value {
    let mut order = json!({"command": "EXECUTE", "prompt": "Do it"});
    if let (Some(order), Value::Object(changes)) = (order.as_object_mut(), changes) {
        order.extend(changes);
    }
    order
}

/// Checks that the work is on the fork, and proposed once to the parent repository.
fn check_proposal(desktop: &TestDesktop, run: &Run) -> Result<()> {
    let result = run.completed("execute")?;
    ensure!(result["prUrl"] == "https://github.com/acme/garden-notes/pull/1", "{}", run.last);
    ensure!(desktop.testbed.remotes.branches(FORK)?.contains_key(BRANCH), "not pushed to the fork");
    ensure!(!desktop.testbed.remotes.branches(story::REPOSITORY)?.contains_key(BRANCH));
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].head_repository.as_deref() == Some(FORK), "{pulls:?}");
    ensure!(pulls[0].labels == ["orchestrator"], "{pulls:?}");
    ensure!(desktop.testbed.host.pull_requests(FORK).is_empty());
    Ok(())
}

// LR-B65
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_of_a_fork_is_proposed_to_its_upstream() -> Result<()> {
    let desktop = desktop().await?;
    fork(&desktop)?;
    git(&desktop.clone, &["remote", "rename", "origin", "upstream"])?;
    git(&desktop.clone, &["remote", "add", "origin", &GitRemotes::url(FORK)])?;
    // The fork is behind: the work starts from the branch that it is merged into.
    let base = desktop.testbed.remotes.commit(story::REPOSITORY, "main", "Later", &[("later.txt", "x")])?;
    let run = desktop.run(order(json!({"repo": {"fullName": FORK, "branch": "main"}}))).await?;
    check_proposal(&desktop, &run)?;
    let entry = &run.last["results"][0];
    ensure!(entry["fullName"] == FORK && entry["prRepository"] == story::REPOSITORY, "{entry}");
    let start = git(&run.worktree()?, &["rev-parse", "HEAD~1"])?;
    ensure!(start.trim() == base, "started from {start}");
    // The next loop of the document finds the pull request.
    let again = desktop.run(order(json!({"repo": {"fullName": FORK, "branch": "main"}}))).await?;
    ensure!(again.last["type"] == "completed", "{}", again.last);
    check_proposal(&desktop, &run)
}

// LR-B65
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn push_url_and_push_default_select_the_fork() -> Result<()> {
    for settings in [
        vec![vec!["config", "remote.origin.pushurl", "git@github.com:octo-dev/garden-notes.git"]],
        vec![
            vec!["remote", "add", "mine", "git@github.com:octo-dev/garden-notes.git"],
            vec!["config", "remote.pushDefault", "mine"],
        ],
    ] {
        let desktop = desktop().await?;
        fork(&desktop)?;
        for args in &settings {
            git(&desktop.clone, args)?;
        }
        let run = desktop.run(order(json!({}))).await?;
        check_proposal(&desktop, &run)?;
        let entry = &run.last["results"][0];
        ensure!(entry["fullName"] == story::REPOSITORY && entry.get("prRepository").is_none(), "{entry}");
    }
    Ok(())
}

// LR-B66
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn selected_default_repository_and_only_remote_are_used() -> Result<()> {
    let desktop = desktop().await?;
    fork(&desktop)?;
    git(&desktop.clone, &["remote", "rename", "origin", "upstream"])?;
    git(&desktop.clone, &["remote", "add", "origin", &GitRemotes::url(FORK)])?;
    // As `gh repo set-default octo-dev/garden-notes` records it.
    git(&desktop.clone, &["config", "remote.origin.gh-resolved", "base"])?;
    let run = desktop.run(order(json!({"repo": {"fullName": FORK, "branch": "main"}}))).await?;
    let result = run.completed("execute")?;
    ensure!(result["prUrl"] == "https://github.com/octo-dev/garden-notes/pull/1", "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(FORK).len() == 1);

    let desktop = self::desktop().await?;
    git(&desktop.clone, &["remote", "rename", "origin", "acme"])?;
    let run = desktop.run(order(json!({}))).await?;
    let result = run.completed("execute")?;
    ensure!(result["prUrl"] == "https://github.com/acme/garden-notes/pull/1", "{}", run.last);
    Ok(())
}

// LR-B67
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn default_branch_that_the_host_renamed_is_followed() -> Result<()> {
    let desktop = desktop().await?;
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    git(&bare, &["branch", "-m", "main", "trunk"])?;
    let base = desktop.testbed.remotes.commit(story::REPOSITORY, "trunk", "Later", &[("later.txt", "x")])?;
    let run = desktop.run(order(json!({"repo": {"fullName": story::REPOSITORY}}))).await?;
    run.completed("execute")?;
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].base == "trunk", "{pulls:?}");
    ensure!(git(&run.worktree()?, &["rev-parse", "HEAD~1"])?.trim() == base);
    let head = git(&desktop.clone, &["symbolic-ref", "refs/remotes/origin/HEAD"])?;
    ensure!(head.trim() == "refs/remotes/origin/trunk", "{head}");
    Ok(())
}

// LR-B67
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_that_the_clone_does_not_follow_is_fetched_by_name() -> Result<()> {
    let desktop = desktop().await?;
    let base =
        desktop.testbed.remotes.commit(story::REPOSITORY, "develop", "Later", &[("later.txt", "x")])?;
    // As `git clone --single-branch` configures it.
    let only_main = "+refs/heads/main:refs/remotes/origin/main";
    git(&desktop.clone, &["config", "--replace-all", "remote.origin.fetch", only_main])?;
    let repo = json!({"fullName": story::REPOSITORY, "branch": "develop"});
    let run = desktop.run(order(json!({"repo": repo}))).await?;
    run.completed("execute")?;
    ensure!(git(&run.worktree()?, &["rev-parse", "HEAD~1"])?.trim() == base);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY)[0].base == "develop");
    Ok(())
}

// LR-B68
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn work_that_the_host_would_refuse_does_not_start() -> Result<()> {
    let desktop = desktop().await?;
    git(&desktop.clone, &["branch", "local-only"])?;
    let repo = json!({"fullName": story::REPOSITORY, "branch": "local-only"});
    let (_, status, answer) = desktop.order(order(json!({"repo": repo}))).await?;
    let text = "Failed to materialize EXECUTE branch: branch \"local-only\" is not at acme/garden-notes; push it first, or choose \
                a branch that exists there";
    ensure!(status == 500 && answer["error"] == text, "{status} {answer}");

    desktop.testbed.host.make_read_only(story::REPOSITORY);
    let (_, status, answer) = desktop.order(order(json!({}))).await?;
    let text = "The work could not be delivered: your account at the code host cannot push to acme/garden-notes; request write \
                access, or work in a fork: gh repo fork --remote";
    ensure!(status == 400 && answer["error"] == text, "{status} {answer}");
    ensure!(desktop.testbed.model.requests_of("execute").is_empty());
    Ok(())
}

// LR-B69
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_with_the_name_of_the_namespace_is_avoided() -> Result<()> {
    let desktop = desktop().await?;
    git(&desktop.clone, &["branch", "orchestrator"])?;
    let run = desktop.run(order(json!({}))).await?;
    let result = run.completed("execute")?;
    ensure!(result["branchName"] == "orchestrator-shop-7", "{}", run.last);
    ensure!(desktop.testbed.host.pull_requests(story::REPOSITORY).len() == 1);
    Ok(())
}

// LR-B70
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn clone_of_another_owner_does_not_block_its_place() -> Result<()> {
    let desktop = desktop().await?;
    desktop.testbed.add_remote("other/garden-notes", &[("README.md", "Other\n")])?;
    let repo = json!({"fullName": "other/garden-notes", "branch": "main"});
    let run = desktop.run(order(json!({"repo": repo}))).await?;
    run.completed("execute")?;
    ensure!(desktop.testbed.sandbox().join("garden-notes-other/README.md").is_file());
    ensure!(desktop.testbed.host.pull_requests("other/garden-notes").len() == 1);
    Ok(())
}
