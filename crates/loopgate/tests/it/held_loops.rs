//! Loops whose start the owner wants to approve: they say that they wait, start when they are approved,
//! and say why not when they are not.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::cli;
use crate::owner::{Owner, OwnerWatch};
use crate::records;
use crate::test_system::TestSystem;

const ASK: &str = "approvals.set_policy";

async fn asking() -> Result<TestSystem> {
    let system = TestSystem::story().await?;
    let policy = json!({"operationId": "orchestrator_loop", "effect": "ask"});
    Owner::of(&system.loopgate).await?.ask(ASK, policy).await?;
    Ok(system)
}

/// Starts a plan, and waits until its page says that it waits for approval.
async fn held(system: &TestSystem) -> Result<(String, Value)> {
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    let mut events = system.page.follow(&loop_id, None).await?;
    loop {
        let event = events.next().await?.context("the stream goes on")?;
        if event["approval"].is_object() {
            return Ok((loop_id, event));
        }
    }
}

async fn status(system: &TestSystem) -> Result<String> {
    let data = system.loopgate.setup().data_dir();
    let arguments = ["status", "--home", data.to_str().context("a plain path")?];
    Ok(String::from_utf8(cli::run(&system.testbed.home, &arguments, &[]).await?.stdout)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_loop_says_so_and_is_done_when_it_is_approved() -> Result<()> {
    let system = asking().await?;
    let mut watch = OwnerWatch::of(&system.loopgate).await?;
    let (loop_id, told) = held(&system).await?;
    let request = watch.one().await?;
    ensure!(request["loopId"] == loop_id && request["action"] == "command=PLAN", "{request}");
    let id = request["id"].as_str().context("an id")?;
    let end = format!("approve {}", &id[id.len() - 8..]);
    let approval = &told["approval"];
    ensure!(approval["id"] == id && approval["waitsUntil"].is_string(), "{told}");
    ensure!(approval["command"].as_str().is_some_and(|command| command.ends_with(&end)), "{told}");
    ensure!(told["chunk"].as_str().is_some_and(|text| text.ends_with(&end)), "{told}");
    ensure!(system.page.read(&loop_id).await?["status"] == "CLAIMED");
    let shown = status(&system).await?;
    ensure!(shown.contains("waits for approval") && shown.contains("a request waits"), "{shown}");
    ensure!(shown.contains(&format!("loopgate approvals {end}")), "{shown}");

    Owner::of(&system.loopgate).await?.ask("approvals.approve", json!({"approvalId": id})).await?;
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    watch.nothing().await?;
    system.alone(&loop_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_loop_ends_with_a_reason_when_it_is_not_approved() -> Result<()> {
    let system = asking().await?;
    let mut watch = OwnerWatch::of(&system.loopgate).await?;
    let (denied, _) = held(&system).await?;
    let id = watch.one().await?["id"].clone();
    Owner::of(&system.loopgate).await?.ask("approvals.deny", json!({"approvalId": id})).await?;
    let ended = system.page.ended(&denied).await?;
    ensure!(ended["error"]["message"] == "The loop was denied on its desktop.", "{ended}");

    let (cancelled, _) = held(&system).await?;
    watch.one().await?;
    system.page.0.post(&format!("/loops/{cancelled}/cancel"), &json!({})).await?;
    watch.nothing().await?;
    ensure!(system.page.ended(&cancelled).await?["status"] == "CANCELLED");

    // Nobody can decide about a request of an earlier process.
    let (left, _) = held(&system).await?;
    let system = system.kill_and_restart().await?;
    let ended = system.page.ended(&left).await?;
    let message = "Loopgate was stopped while this loop waited for approval. Run it again.";
    ensure!(ended["error"]["message"] == message, "{ended}");
    for loop_id in [denied, cancelled, left] {
        system.alone(&loop_id).await?;
    }
    let kept = records::launch_requests(&system.loopgate).await?;
    ensure!(kept == 0, "{kept} requests are kept of loops that do not wait");
    Ok(())
}
