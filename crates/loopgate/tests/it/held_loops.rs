//! Loops whose start requires an approval: reported as waiting, started after the approval, and ended with a
//! reason otherwise.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::cli;
use crate::owner::{Owner, OwnerWatch};
use crate::records;
use crate::test_system::TestSystem;

const SET_POLICY: &str = "approvals.set_policy";

async fn system_with_policy() -> Result<TestSystem> {
    let system = TestSystem::story().await?;
    let policy = json!({"operationId": "orchestrator_loop", "effect": "ask"});
    Owner::of(&system.loopgate).await?.call(SET_POLICY, policy).await?;
    Ok(system)
}

/// Starts a plan, and waits for the event that reports its pending approval.
async fn held(system: &TestSystem) -> Result<(String, Value)> {
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    let mut events = system.page.follow(&loop_id, None).await?;
    loop {
        let event = events.next().await?.context("the stream ended")?;
        if event["approval"].is_object() {
            return Ok((loop_id, event));
        }
    }
}

/// Returns the decision about a loop, as its events name it.
async fn outcome(system: &TestSystem, loop_id: &str) -> Result<Value> {
    let events = system.page.0.get(&format!("/loops/{loop_id}/events")).await?["data"].take();
    let events = events.as_array().context("no list of events")?;
    let decision = events.iter().find(|event| event["approvalDecision"].is_object());
    Ok(decision.context("no decision")?["approvalDecision"]["outcome"].clone())
}

async fn status(system: &TestSystem) -> Result<String> {
    let data = system.loopgate.setup().data_dir();
    let arguments = ["status", "--home", data.to_str().context("a plain path")?];
    Ok(String::from_utf8(cli::run(&system.testbed.home, &arguments, &[]).await?.stdout)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_loop_reports_its_approval_and_starts_when_approved() -> Result<()> {
    let system = system_with_policy().await?;
    let mut watch = OwnerWatch::of(&system.loopgate).await?;
    let (loop_id, event) = held(&system).await?;
    let request = watch.one().await?;
    ensure!(request["loopId"] == loop_id && request["action"] == "command=PLAN", "{request}");
    let id = request["id"].as_str().context("an id")?;
    let suffix = format!("approve {}", &id[id.len() - 8..]);
    let approval = &event["approval"];
    ensure!(approval["id"] == id && approval["waitsUntil"].is_string(), "{event}");
    ensure!(approval["command"].as_str().is_some_and(|command| command.ends_with(&suffix)), "{event}");
    ensure!(event["chunk"].as_str().is_some_and(|text| text.ends_with(&suffix)), "{event}");
    // The loop has been claimed by the desktop but has no process yet.
    ensure!(system.page.read(&loop_id).await?["status"] == "CLAIMED");
    let shown = status(&system).await?;
    ensure!(shown.contains("needs approval") && shown.contains("request pending"), "{shown}");
    ensure!(shown.contains(&format!("loopgate approvals {suffix}")), "{shown}");

    Owner::of(&system.loopgate).await?.call("approvals.approve", json!({"approvalId": id})).await?;
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    watch.nothing().await?;
    ensure!(outcome(&system, &loop_id).await? == "approved");
    system.no_processes_remain(&loop_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_loop_ends_with_a_reason_when_not_approved() -> Result<()> {
    let system = system_with_policy().await?;
    let mut watch = OwnerWatch::of(&system.loopgate).await?;
    let (denied, _) = held(&system).await?;
    let id = watch.one().await?["id"].clone();
    Owner::of(&system.loopgate).await?.call("approvals.deny", json!({"approvalId": id})).await?;
    let ended = system.page.wait_for_end(&denied).await?;
    ensure!(ended["error"]["message"] == "The loop was denied on its machine.", "{ended}");
    ensure!(outcome(&system, &denied).await? == "denied");

    let (cancelled, _) = held(&system).await?;
    watch.one().await?;
    system.page.0.post(&format!("/loops/{cancelled}/cancel"), &json!({})).await?;
    watch.nothing().await?;
    ensure!(system.page.wait_for_end(&cancelled).await?["status"] == "CANCELLED");

    // Approvals do not survive a restart, so a loop that waited for one fails.
    let (interrupted, _) = held(&system).await?;
    let system = system.kill_and_restart().await?;
    let ended = system.page.wait_for_end(&interrupted).await?;
    let message = "Loopgate was stopped while this loop waited for approval. Run it again.";
    ensure!(ended["error"]["message"] == message, "{ended}");
    for loop_id in [denied, cancelled, interrupted] {
        system.no_processes_remain(&loop_id).await?;
    }
    let count = records::launch_requests(&system.loopgate).await?;
    ensure!(count == 0, "{count} launch requests of finished loops are stored");
    Ok(())
}
