//! Repositories whose default branch has another name than most, in requests that name none.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Script};
use loopgate_testkit::scene::Scene;
use serde_json::json;

use crate::commands::Desk;
use crate::delivery::{commits_nothing, executes};
use crate::page::text;
use crate::stage::{Stage, git};

const FILES: [(&str, &str); 1] = [("README.md", "Something\n")];

/// A repository without a branch `main`, cloned.
fn add(scene: &Scene, full_name: &str, branch: &str) -> Result<std::path::PathBuf> {
    scene.add_remote(full_name, &FILES)?;
    git(&scene.remotes.bare(full_name), &["branch", "-m", "main", branch])?;
    scene.add_repository(full_name, &FILES)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repository_starts_from_its_own_default_branch() -> Result<()> {
    let command = "echo x | tee more.txt \"$LOOPGATE_ADD_DIRS/more.txt\"";
    let desk = Desk::playing([executes(command), commits_nothing()]).await?;
    let clone = add(&desk.scene, "acme/trunk", "trunk")?;
    // This clone does not remember it; the other one does.
    git(&clone, &["remote", "set-head", "origin", "--delete"])?;
    add(&desk.scene, "acme/dev", "dev")?;
    let order = json!({"command": "EXECUTE", "prompt": "Do it", "repo": {"fullName": "acme/trunk"},
        "additionalRepos": [{"fullName": "acme/dev"}]});
    let order = desk.start(order).await?;
    desk.scene.model.held("working").await?;
    desk.scene.model.release("working");
    let run = crate::delivery::ended(&desk, order).await?;
    run.completed("execute")?;
    let results = run.last["results"].as_array().context("results")?;
    for (name, branch, result) in [("acme/trunk", "trunk", &results[0]), ("acme/dev", "dev", &results[1])] {
        ensure!(result["status"] == "success" && result["baseBranch"] == branch, "{result}");
        let pulls = desk.scene.host.pull_requests(name);
        ensure!(pulls.len() == 1 && pulls[0].base == branch, "{pulls:?}");
    }
    let started = desk.cloud.events(run.id, "started");
    ensure!(started[0]["baseBranch"] == "trunk", "{started:?}");
    desk.is_tidy(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_shows_the_branch_that_the_desktop_found() -> Result<()> {
    let plan = Conversation::when("plan", "# Coding loop").says("<promise>COMPLETE</promise>");
    let stage = Stage::playing(Script::new([plan])).await?;
    add(&stage.scene, "acme/trunk", "trunk")?;
    let repo = json!({"fullName": "acme/trunk"});
    let body = json!({"title": "x", "type": "FEATURE", "content": "x", "repo": repo});
    let wish = stage.page.0.post("/documents", &body).await?;
    let loop_id = stage.page.press(&text(&wish["data"]["id"])?, "plan").await?;
    let ended = stage.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    ensure!(ended["repo"] == json!({"fullName": "acme/trunk", "branch": "trunk"}), "{ended}");
    Ok(())
}
