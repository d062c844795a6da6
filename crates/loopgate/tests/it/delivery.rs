//! Delivery of an EXECUTE while the network is down, the code host fails, or the user cancels.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::code_host::HostFault;
use loopgate_testkit::model::{Conversation, ModelStep};
use loopgate_testkit::story;
use reqwest::Method;
use serde_json::{Value, json};

use crate::commands::{Run, TestDesktop};
use crate::test_system::git;

const KILL: &str = "/api/gateway/orchestrator/loop/kill";
const BRANCH: &str = "orchestrator/shop-7";
/// Replacement of ssh that fails as it does without a network.
const UNREACHABLE: &str =
    "#!/bin/sh\necho 'ssh: connect to host github.com port 22: Connection refused' >&2\nexit 255\n";

/// Returns an EXECUTE that runs a command in its worktree, after the gate `working`.
pub fn executes(command: &str) -> Conversation {
    Conversation::when("execute", "# Coding loop")
        .and(r#"LOOPGATE_COMMAND="EXECUTE""#)
        .turn([ModelStep::hold("working"), ModelStep::bash(command)])
        .says("<promise>COMPLETE</promise>")
}

/// Starts an EXECUTE and waits until its assistant is held at `working`.
pub async fn started(desktop: &TestDesktop) -> Result<(LoopId, Value)> {
    let started = desktop.start(json!({"command": "EXECUTE", "prompt": "Do it"})).await?;
    desktop.testbed.model.held("working").await?;
    Ok(started)
}

/// Waits for the end of a started loop.
pub async fn ended(desktop: &TestDesktop, (id, started): (LoopId, Value)) -> Result<Run> {
    let last = desktop.wait_finished(id).await;
    desktop.wait_released(id).await?;
    Ok(Run { id, started, last })
}

/// Waits until the output of a loop reports that this step of the delivery failed and is retried.
async fn waits_for(desktop: &TestDesktop, id: LoopId, step: &str) {
    let text = format!("Delivery is waiting: {step} failed");
    desktop
        .cloud
        .wait_for(|cloud| {
            cloud.events(id, "output").iter().any(|event| event.to_string().contains(&text)).then_some(())
        })
        .await;
}

fn branches(desktop: &TestDesktop) -> Result<Vec<String>> {
    Ok(desktop.testbed.remotes.branches(story::REPOSITORY)?.into_keys().collect())
}

async fn stop(desktop: &TestDesktop, id: LoopId) -> Result<()> {
    let answer = desktop.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": id})).send().await?;
    ensure!(answer.status() == 200, "{}", answer.status());
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn delivery_is_retried_until_the_network_and_the_code_host_recover() -> Result<()> {
    let mut desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    let order = started(&desktop).await?;
    desktop.testbed.home.script("code-host-ssh", UNREACHABLE)?;
    // Two outages in a row: first the push fails, then, after ssh works again, the creation of the pull
    // request.
    let outage = HostFault {
        on: "PullRequest".to_owned(),
        status: 502,
        message: "Bad Gateway".to_owned(),
        times: None,
    };
    desktop.testbed.host.fail(outage);
    desktop.testbed.model.release("working");
    waits_for(&desktop, order.0, &format!("pushing {BRANCH}")).await;
    let remotes = desktop.testbed.remotes.clone();
    desktop.testbed.home.reach_remotes(&remotes)?;
    waits_for(&desktop, order.0, "opening the pull request").await;
    ensure!(branches(&desktop)? == ["main", BRANCH], "the branch was not pushed");
    desktop.testbed.host.clear_faults();
    let run = ended(&desktop, order).await?;
    let result = run.completed("execute")?;
    ensure!(
        result["executeFinalizationPath"] == "git-fallback" && result["branchName"] == BRANCH,
        "{}",
        run.last
    );
    ensure!(run.last["warnings"].is_null(), "{}", run.last);
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 1, "{pulls:?}");
    ensure!(branches(&desktop)? == ["main", BRANCH]);
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn branch_with_newer_remote_commits_counts_as_pushed() -> Result<()> {
    let mut desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    let order = started(&desktop).await?;
    desktop.testbed.home.script("code-host-ssh", UNREACHABLE)?;
    desktop.testbed.model.release("working");
    waits_for(&desktop, order.0, &format!("pushing {BRANCH}")).await;
    // Simulates a push that arrived but whose response was lost, followed by a commit of someone else. A
    // plain retry of the push would be rejected as non-fast-forward.
    let worktree = order.1["worktreePath"].as_str().context("a worktree")?;
    let bare = desktop.testbed.remotes.bare(story::REPOSITORY);
    git(worktree.as_ref(), &["push", "--quiet", &bare.to_string_lossy(), BRANCH])?;
    desktop.testbed.remotes.commit(story::REPOSITORY, BRANCH, "A correction", &[("more.txt", "y")])?;
    let remotes = desktop.testbed.remotes.clone();
    desktop.testbed.home.reach_remotes(&remotes)?;
    let run = ended(&desktop, order).await?;
    let result = run.completed("execute")?;
    ensure!(result["branchName"] == BRANCH && result["prNumber"] == 1, "{}", run.last);
    ensure!(branches(&desktop)? == ["main", BRANCH]);
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 2, "{pulls:?}");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cancelling_ends_a_delivery_that_is_being_retried() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    let order = started(&desktop).await?;
    desktop.testbed.home.script("code-host-ssh", UNREACHABLE)?;
    desktop.testbed.model.release("working");
    waits_for(&desktop, order.0, &format!("pushing {BRANCH}")).await;
    stop(&desktop, order.0).await?;
    let run = ended(&desktop, order).await?;
    ensure!(run.last["code"] == "CANCELLED" && run.last.get("results").is_none(), "{}", run.last);
    ensure!(branches(&desktop)? == ["main"]);
    ensure!(run.worktree()?.join("more.txt").is_file(), "the work was deleted");
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_cancelled_during_its_delivery_reports_its_pull_request() -> Result<()> {
    let desktop = TestDesktop::playing([executes("echo x > more.txt")]).await?;
    // The pull request exists, but the program has not reported it yet.
    let mut created = desktop.testbed.home.hold_after_pull_request()?;
    let order = started(&desktop).await?;
    desktop.testbed.model.release("working");
    created.started().await?;
    stop(&desktop, order.0).await?;
    created.release()?;
    let run = ended(&desktop, order).await?;
    ensure!(run.last["code"] == "CANCELLED", "{}", run.last);
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1, "{pulls:?}");
    ensure!(run.last["result"]["prUrl"] == pulls[0].url(), "{}", run.last);
    let result = &run.last["results"][0];
    ensure!(result["status"] == "success" && result["prNumber"] == pulls[0].number, "{}", run.last);
    desktop.check_clean(&run, &[]).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn next_execute_of_a_document_continues_its_pull_request() -> Result<()> {
    let plans = Conversation::when("plan", "# Coding loop")
        .and(r#"LOOPGATE_COMMAND="PLAN""#)
        .turn([ModelStep::bash("cat more.txt")])
        .says("<promise>COMPLETE</promise>");
    let desktop = TestDesktop::playing([plans, executes("echo x >> more.txt")]).await?;
    let execute = async || {
        let order = started(&desktop).await?;
        desktop.testbed.model.release("working");
        let run = ended(&desktop, order).await?;
        ensure!(run.completed("execute")?["prNumber"] == 1, "{}", run.last);
        anyhow::Ok(run)
    };
    execute().await?;
    // PLAN recreates the worktree; the next EXECUTE still has to continue the branch of the pull request.
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it again"})).await?;
    plan.completed("plan")?;
    let run = execute().await?;
    let pulls = desktop.testbed.host.pull_requests(story::REPOSITORY);
    ensure!(pulls.len() == 1 && pulls[0].commits()?.len() == 2, "{pulls:?}");
    ensure!(pulls[0].file("more.txt")? == "x\nx\n" && branches(&desktop)? == ["main", BRANCH]);
    ensure!(pulls[0].body.contains(&format!("Loop ID: {}", run.id)), "{}", pulls[0].body);

    // A merged pull request is not continued.
    ensure!(desktop.testbed.host.merge(story::REPOSITORY, 1), "not merged");
    let plan = desktop.run(json!({"command": "PLAN", "prompt": "Plan it once more"})).await?;
    ensure!(!plan.worktree()?.join("more.txt").exists(), "the worktree does not start from the base");
    Ok(())
}
