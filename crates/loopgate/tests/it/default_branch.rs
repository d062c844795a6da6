//! Repositories whose default branch is not `main`, in requests without a branch.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Script};
use loopgate_testkit::testbed::Testbed;
use serde_json::json;

use crate::commands::TestDesktop;
use crate::delivery::executes;
use crate::page::text;
use crate::test_system::{TestSystem, git};

const FILES: [(&str, &str); 1] = [("README.md", "Something\n")];

/// Adds a clone of a repository whose only branch has this name.
fn add(testbed: &Testbed, full_name: &str, branch: &str) -> Result<std::path::PathBuf> {
    testbed.add_remote(full_name, &FILES)?;
    git(&testbed.remotes.bare(full_name), &["branch", "-m", "main", branch])?;
    testbed.add_repository(full_name, &FILES)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn repository_starts_from_its_own_default_branch() -> Result<()> {
    let command = "echo x | tee more.txt \"$LOOPGATE_ADD_DIRS/more.txt\"";
    let desktop = TestDesktop::playing([executes(command)]).await?;
    let clone = add(&desktop.testbed, "acme/trunk", "trunk")?;
    // Without `origin/HEAD` this clone does not record its default branch; the other clone does.
    git(&clone, &["remote", "set-head", "origin", "--delete"])?;
    add(&desktop.testbed, "acme/dev", "dev")?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "repo": {"fullName": "acme/trunk"},
        "additionalRepos": [{"fullName": "acme/dev"}]});
    let order = desktop.start(order).await?;
    desktop.testbed.model.held("working").await?;
    desktop.testbed.model.release("working");
    let run = crate::delivery::ended(&desktop, order).await?;
    run.completed("execute")?;
    let results = run.last["results"].as_array().context("results")?;
    for (name, branch, result) in [("acme/trunk", "trunk", &results[0]), ("acme/dev", "dev", &results[1])] {
        ensure!(result["status"] == "success" && result["baseBranch"] == branch, "{result}");
        let pulls = desktop.testbed.host.pull_requests(name);
        ensure!(pulls.len() == 1 && pulls[0].base == branch, "{pulls:?}");
    }
    let started = desktop.cloud.events(run.id, "started");
    ensure!(started[0]["baseBranch"] == "trunk", "{started:?}");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_shows_the_default_branch_that_the_desktop_resolved() -> Result<()> {
    let plan = Conversation::when("plan", "# Coding loop").says("<promise>COMPLETE</promise>");
    let system = TestSystem::playing(Script::new([plan])).await?;
    add(&system.testbed, "acme/trunk", "trunk")?;
    let repo = json!({"fullName": "acme/trunk"});
    let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": repo});
    let document = system.page.0.post("/documents", &body).await?;
    let loop_id = system.page.start_loop(&text(&document["data"]["id"])?, "plan").await?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    ensure!(ended["repo"] == json!({"fullName": "acme/trunk", "branch": "trunk"}), "{ended}");
    Ok(())
}
