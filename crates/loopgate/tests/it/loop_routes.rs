//! The routes that start and kill a loop, as the control plane calls them: their responses while a loop is
//! prepared, runs, and after it ended.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli;
use crate::commands::TestDesktop;
use crate::finalization::in_loop;
use crate::test_system::{TestSystem, wait_for_loop_processes};

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";

/// Starts a loop over the link. The runner token is not verified, so it may be invalid.
pub async fn order(system: &TestSystem, body: &Value) -> Result<(u16, Value)> {
    let request = system.loopgate.gateway(Method::POST, LOOP).header("x-desktop-source", "cloud-socket");
    let answer = request.json(body).send().await?;
    Ok((answer.status().as_u16(), answer.json().await?))
}

pub async fn kill(system: &TestSystem, loop_id: Uuid) -> Result<(u16, Value)> {
    let answer = system.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": loop_id})).send().await?;
    Ok((answer.status().as_u16(), answer.json().await?))
}

pub fn plan(loop_id: Uuid, repository: &str) -> Value {
    json!({"loopId": loop_id, "command": "PLAN", "loopGateAuthToken": "made-up", "artifacts": [],
        "prompt": story::REQUEST, "artifactSlug": "SHOP-7", "repo": {"fullName": repository, "branch": "main"}})
}

fn conflict(text: &str) -> (u16, Value) {
    (409, json!({"error": text, "code": "conflict"}))
}

fn already_running() -> (u16, Value) {
    let text = "Loop is already running on this machine";
    (409, json!({"error": text, "code": "conflict", "reason": "already_running"}))
}

// OR-47, LR-10
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn concurrent_request_for_the_loop_or_its_worktree_is_a_conflict() -> Result<()> {
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
    let system = TestSystem::playing(script).await?;
    let (first, second) = (Uuid::new_v4(), Uuid::new_v4());

    let (status, started) = order(&system, &plan(first, story::REPOSITORY)).await?;
    ensure!(status == 200 && started["success"] == true, "{status} {started}");
    ensure!(started["loopId"] == first.to_string(), "{started}");
    let worktree = started["worktreePath"].as_str().context("a worktree")?;
    ensure!(worktree.ends_with("garden-notes-loop-shop-7") || worktree.ends_with("garden-notes-loop-SHOP-7"));
    ensure!(Path::new(worktree).join(".git").is_file(), "not a linked worktree");
    let pid = started["pid"].as_u64().context("a pid")?;
    ensure!(Path::new(&format!("/proc/{pid}")).exists(), "the process does not run");
    system.testbed.model.held("planning").await?;

    let again = order(&system, &plan(first, story::REPOSITORY)).await?;
    ensure!(again == already_running(), "{again:?}");
    let other = order(&system, &plan(second, story::REPOSITORY)).await?;
    ensure!(other == conflict("Another loop is running in this worktree"), "{other:?}");

    let ended = kill(&system, first).await?;
    ensure!(ended == (200, json!({"success": true, "message": "Loop process terminated"})), "{ended:?}");
    system.no_processes_remain(&first.to_string()).await?;
    // The refused loop must not have started a process.
    wait_for_loop_processes(&second.to_string()).await
}

// The code-host CLI blocks on a FIFO while it clones, which extends the preparation for as long as the test
// needs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn second_request_during_the_preparation_is_a_conflict() -> Result<()> {
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
    let system = TestSystem::playing(script).await?;
    system.testbed.add_remote("acme/shop", &[("README.md", "A shop\n")])?;
    let home = system.testbed.home.path();
    let (arguments, gate) = (home.join("clone-arguments"), home.join("clone-gate"));
    let bare = system.testbed.remotes.bare("acme/shop");
    system.testbed.home.script(
        "gh",
        &format!(
            "#!/bin/sh\nfor last; do :; done\necho \"$@\" > '{arguments}.new'\nmv '{arguments}.new' '{arguments}'\n\
             mkfifo '{gate}' 2>/dev/null\nread word < '{gate}'\n\
             git clone --quiet '{bare}' \"$last\" && git -C \"$last\" remote set-url origin git@github.com:acme/shop.git\n",
            arguments = arguments.display(),
            gate = gate.display(),
            bare = bare.display()
        ),
    )?;
    let loop_id = Uuid::new_v4();
    let body = plan(loop_id, "acme/shop");
    let started = async {
        let started = order(&system, &body).await?;
        anyhow::Ok(started)
    };
    let second_request = async {
        wait::until_exists(&arguments).await?;
        wait::until_exists(&gate).await?;
        let again = order(&system, &body).await?;
        ensure!(again == already_running(), "{again:?}");
        tokio::fs::write(&gate, "go\n").await?;
        Ok(())
    };
    let ((status, started), ()) = tokio::try_join!(started, second_request)?;
    ensure!(status == 200, "{status} {started}");
    let arguments = std::fs::read_to_string(&arguments)?;
    ensure!(arguments.starts_with("repo clone acme/shop "), "{arguments}");
    let clone = system.testbed.sandbox().join("shop");
    ensure!(clone.join(".git").is_dir(), "no clone in the sandbox");
    let listed =
        system.loopgate.gateway(Method::GET, "/api/gateway/repos").send().await?.json::<Value>().await?;
    let names = listed["repos"].as_array().context("a list")?.iter().map(|repo| &repo["fullName"]);
    ensure!(names.filter(|name| **name == "acme/shop").count() == 1, "{listed}");
    system.testbed.model.held("planning").await?;
    let ended = kill(&system, loop_id).await?;
    ensure!(ended.0 == 200, "{ended:?}");
    system.no_processes_remain(&loop_id.to_string()).await
}

// OR-50, LR-40
// The setup script of the repository never ends, which extends the preparation until the loop is cancelled.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kill_during_the_preparation_cancels_the_loop() -> Result<()> {
    let desktop = TestDesktop::playing([in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>")]).await?;
    let home = desktop.testbed.home.path();
    let (running, finish) = (home.join("setup-running"), home.join("setup-finish"));
    let script =
        format!("test -e '{}' && exit\n: > '{}'\nsleep infinity\n", finish.display(), running.display());
    let setup_script = desktop.clone.join(".loopgate/loops-setup.sh");
    std::fs::create_dir_all(setup_script.parent().context("a directory")?)?;
    std::fs::write(&setup_script, script)?;
    let push = ["-c", "git add -f .loopgate && git commit -qm 'Set up' && git push -q origin main"];
    let pushed = desktop.testbed.home.command("sh").args(push).current_dir(&desktop.clone).output().await?;
    ensure!(pushed.status.success(), "{pushed:?}");
    let data = desktop.loopgate.setup().data_dir();
    // Setup scripts of a repository run only after the repository was trusted.
    let arguments = ["trust", "--yes", "--home", &data.to_string_lossy(), &desktop.clone.to_string_lossy()];
    let trusted = cli::run(&desktop.testbed.home, &arguments, &[]).await?;
    ensure!(trusted.status.success(), "{trusted:?}");

    let order = json!({"command": "PLAN", "prompt": "Plan it", "loopId": Uuid::new_v4()});
    let id = order["loopId"].clone();
    let stop = async {
        wait::until_exists(&running).await?;
        let ended = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?;
        anyhow::Ok((ended.status().as_u16(), ended.json::<Value>().await?))
    };
    let ((_, started), ended) = tokio::try_join!(desktop.start(order.clone()), stop)?;
    ensure!(
        ended == (200, json!({"success": true, "message": "Loop cancelled before it started"})),
        "{ended:?}"
    );
    ensure!(started["success"] == true && started["pid"].is_null(), "{started}");
    let loop_id = serde_json::from_value(id.clone())?;
    let last = desktop.wait_finished(loop_id).await;
    ensure!(last["code"] == "CANCELLED" && last["abortReason"] == "cancelled", "{last}");
    wait_for_loop_processes(id.as_str().context("an id")?).await?;

    // The reservations of the worktree and of the document were released.
    std::fs::write(&finish, "")?;
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;
    ensure!(desktop.testbed.model.requests_of("plan").len() == 1, "the cancelled loop started an assistant");
    Ok(())
}
