//! Loops whose start the owner wants to approve: they say that they wait, start when they are approved,
//! and say why not when they are not.

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use crate::cli;
use crate::owner::{Owner, Watch};
use crate::records;
use crate::stage::Stage;

const ASK: &str = "approvals.set_policy";

async fn asking() -> Result<Stage> {
    let stage = Stage::story().await?;
    let policy = json!({"operationId": "orchestrator_loop", "effect": "ask"});
    Owner::of(&stage.loopgate).await?.ask(ASK, policy).await?;
    Ok(stage)
}

/// Starts a plan, and waits until its page says that it waits for approval.
async fn held(stage: &Stage) -> Result<(String, Value)> {
    let wish = stage.page.wish().await?;
    let loop_id = stage.page.press(&wish, "plan").await?;
    let mut events = stage.page.follow(&loop_id, None).await?;
    loop {
        let event = events.next().await?.context("the stream goes on")?;
        if event["approval"].is_object() {
            return Ok((loop_id, event));
        }
    }
}

async fn status(stage: &Stage) -> Result<String> {
    let data = stage.loopgate.setup().data_dir();
    let arguments = ["status", "--home", data.to_str().context("a plain path")?];
    Ok(String::from_utf8(cli::run(&stage.scene.home, &arguments, &[]).await?.stdout)?)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_loop_says_so_and_is_done_when_it_is_approved() -> Result<()> {
    let stage = asking().await?;
    let mut watch = Watch::of(&stage.loopgate).await?;
    let (loop_id, told) = held(&stage).await?;
    let request = watch.one().await?;
    ensure!(request["loopId"] == loop_id && request["action"] == "command=PLAN", "{request}");
    let id = request["id"].as_str().context("an id")?;
    let end = format!("approve {}", &id[id.len() - 8..]);
    let approval = &told["approval"];
    ensure!(approval["id"] == id && approval["waitsUntil"].is_string(), "{told}");
    ensure!(approval["command"].as_str().is_some_and(|command| command.ends_with(&end)), "{told}");
    ensure!(told["chunk"].as_str().is_some_and(|text| text.ends_with(&end)), "{told}");
    ensure!(stage.page.read(&loop_id).await?["status"] == "CLAIMED");
    let shown = status(&stage).await?;
    ensure!(shown.contains("waits for approval") && shown.contains("a request waits"), "{shown}");
    ensure!(shown.contains(&format!("loopgate approvals {end}")), "{shown}");

    Owner::of(&stage.loopgate).await?.ask("approvals.approve", json!({"approvalId": id})).await?;
    let ended = stage.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    watch.nothing().await?;
    stage.alone(&loop_id).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_loop_ends_with_a_reason_when_it_is_not_approved() -> Result<()> {
    let stage = asking().await?;
    let mut watch = Watch::of(&stage.loopgate).await?;
    let (denied, _) = held(&stage).await?;
    let id = watch.one().await?["id"].clone();
    Owner::of(&stage.loopgate).await?.ask("approvals.deny", json!({"approvalId": id})).await?;
    let ended = stage.page.ended(&denied).await?;
    ensure!(ended["error"]["message"] == "The loop was denied on its desktop.", "{ended}");

    let (cancelled, _) = held(&stage).await?;
    watch.one().await?;
    stage.page.0.post(&format!("/loops/{cancelled}/cancel"), &json!({})).await?;
    watch.nothing().await?;
    ensure!(stage.page.ended(&cancelled).await?["status"] == "CANCELLED");

    // Nobody can decide about a request of an earlier process.
    let (left, _) = held(&stage).await?;
    let stage = stage.kill_and_restart().await?;
    let ended = stage.page.ended(&left).await?;
    let message = "Loopgate was stopped while this loop waited for approval. Run it again.";
    ensure!(ended["error"]["message"] == message, "{ended}");
    for loop_id in [denied, cancelled, left] {
        stage.alone(&loop_id).await?;
    }
    let kept = records::launch_requests(&stage.loopgate).await?;
    ensure!(kept == 0, "{kept} requests are kept of loops that do not wait");
    Ok(())
}
