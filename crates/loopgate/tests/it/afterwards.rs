//! What stays of a loop whose process is gone: its plan, its record, and what the control plane is
//! told of it and is not.

use anyhow::{Context as _, Result, ensure};
use loopgate_api::ids::LoopId;
use loopgate_testkit::cloud::Cloud;
use loopgate_testkit::loopgate::signal;
use loopgate_testkit::model::{Conversation, Step};
use loopgate_testkit::signs;
use serde_json::{Value, json};

use crate::commands::Desk;
use crate::records;
use crate::stage::{gone, of_loop};

/// A run of the coding loop for a command.
fn in_loop(name: &str, command: &str) -> Conversation {
    Conversation::when(name, "# Coding loop")
        .and(r#"LOOPGATE_WORKDIR="(?P<workdir>[^"]+)""#)
        .and(&format!("LOOPGATE_COMMAND=\"{command}\""))
}

/// A plan whose assistant waits until it is let go on.
fn held_plan() -> Conversation {
    in_loop("plan", "PLAN").turn([Step::hold("planning"), Step::text("<promise>COMPLETE</promise>")])
}

/// Ends every process of a loop at once, so that none of them leaves a word.
async fn kill_all(id: LoopId) -> Result<()> {
    for pid in of_loop(&id.to_string()) {
        // It may have gone with another one.
        let _ = signal(pid, "KILL");
    }
    gone(&id.to_string()).await
}

fn heartbeats(cloud: &Cloud, id: LoopId) -> usize {
    let of = id.to_string();
    cloud.heard().iter().filter(|heard| heard.route == "heartbeat" && heard.loop_id == of).count()
}

async fn heard_heartbeats(desk: &Desk, id: LoopId, number: usize) {
    desk.cloud.seen(|cloud| (heartbeats(cloud, id) >= number).then_some(())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_fails_hands_over_the_plan_that_it_was_given() -> Result<()> {
    let local = r##"{"content": "# Another plan", "pendingTasks": [], "completedTasks": []}"##;
    let planned = in_loop("plan", "PLAN")
        .turn([Step::write("{{workdir}}/plan.json", local)])
        .says("<promise>COMPLETE</promise>");
    let failing = in_loop("execute", "EXECUTE").turn([Step::error(400, "invalid_request_error", "no")]);
    let desk = Desk::playing([planned, failing]).await?;
    let plan = desk.run(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    plan.completed("plan")?;

    let given = "# The plan\n\n1. Do it.\n";
    let artifact = json!({"id": "p", "type": "IMPLEMENTATION_PLAN", "title": "t", "content": given});
    let run = desk.run(json!({"command": "EXECUTE", "artifacts": [artifact]})).await?;
    ensure!(run.last["type"] == "error", "{}", run.last);
    let work_dir = run.worktree()?.join(".loopgate/work");
    ensure!(!work_dir.join("plan.json").exists(), "the local plan was another one");
    ensure!(std::fs::read_to_string(work_dir.join("imported-plan.md"))? == given);
    let heard = desk.cloud.heard();
    let of_the_run = heard.iter().filter(|heard| heard.loop_id == run.id.to_string());
    let told: Vec<&Value> = of_the_run
        .filter(|heard| heard.route == "upload-artifacts" || heard.body["type"] == "error")
        .map(|heard| &heard.body)
        .collect();
    let [files, error] = told[..] else { anyhow::bail!("{told:?}") };
    ensure!(files["artifacts"]["plan"] == json!({"content": given}), "{files}");
    ensure!(error["type"] == "error" && error["abortReason"] == "process-exit", "{error}");
    let id = run.id.to_string();
    // The last word is marked as told a moment after it was.
    let data = desk.loopgate.setup().data_dir();
    let told = signs::seen(&data, async || {
        let record = records::record(&desk.loopgate, &id).await.ok()??;
        record["cloudFinalizedAt"].is_string().then_some(record)
    });
    let record = told.await?;
    ensure!(record["status"] == "FAILED" && record["exitCode"] == 1, "{record}");
    ensure!(record["artifactsUploadedAt"].is_string(), "{record}");
    Ok(())
}

/// A heartbeat that is refused for good ends no process; a process that is gone ends the heartbeats.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_loop_that_the_control_plane_gives_up_lives_as_long_as_its_process() -> Result<()> {
    let desk = Desk::with([held_plan()], |setup| setup.env("LOOPGATE_HEARTBEAT_INTERVAL_MS", "100")).await?;
    desk.cloud.answer_always("heartbeat", 410, json!({"success": false, "error": "gone"}));
    let plan = |slug: &str| json!({"command": "PLAN", "prompt": "Plan it", "artifactSlug": slug});
    let (dead, status, started) = desk.order(plan("SHOP-7")).await?;
    ensure!(status == 200, "{started}");
    desk.scene.model.held("planning").await?;
    heard_heartbeats(&desk, dead, 3).await;
    kill_all(dead).await?;
    let last = desk.ended(dead).await;
    ensure!(last["code"] == "PROCESS_STOPPED", "{last}");
    desk.free(dead).await?;
    let status = async |id: LoopId| {
        let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
        anyhow::Ok(record["status"].clone())
    };
    ensure!(status(dead).await? == "UNKNOWN");
    let before = heartbeats(&desk.cloud, dead);

    let (living, answer, started) = desk.order(plan("SHOP-8")).await?;
    ensure!(answer == 200, "{started}");
    desk.scene.model.held_times("planning", 2).await?;
    heard_heartbeats(&desk, living, 5).await;
    ensure!(status(living).await? == "RUNNING");
    ensure!(heartbeats(&desk.cloud, dead) == before, "a dead loop says that it lives");
    desk.scene.model.release("planning");
    ensure!(desk.ended(living).await["type"] == "completed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_loop_without_a_token_is_kept_and_told_of_to_nobody() -> Result<()> {
    let mut desk = Desk::playing([held_plan()]).await?;
    let (id, status, started) = desk.order(json!({"command": "PLAN", "prompt": "Plan it"})).await?;
    ensure!(status == 200, "{started}");
    desk.scene.model.held("planning").await?;
    desk.loopgate.kill().await?;
    kill_all(id).await?;
    records::forget_token(&desk.loopgate, &id.to_string()).await?;
    let before = desk.cloud.heard().len();
    let desk = desk.restart().await?;
    desk.free(id).await?;
    let record = records::record(&desk.loopgate, &id.to_string()).await?.context("a record")?;
    ensure!(record["status"] == "UNKNOWN" && record.get("cloudFinalizedAt").is_none(), "{record}");
    ensure!(desk.cloud.heard().len() == before, "{:?}", desk.cloud.heard().split_off(before));
    Ok(())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_the_loops_that_ended_the_newest_hundred_are_kept() -> Result<()> {
    let quick = in_loop("plan", "PLAN").says("<promise>COMPLETE</promise>");
    let mut desk = Desk::playing([quick]).await?;
    let wish = json!({"command": "PLAN", "prompt": "Plan it"});
    let first = desk.run(wish.clone()).await?.id.to_string();
    desk.loopgate.stop().await?;
    let past = records::write_past(&desk.loopgate, &first, 100).await?;
    ensure!(records::ended(&desk.loopgate).await?.len() == 101);
    let desk = desk.restart().await?;
    let last = desk.run(wish).await?.id.to_string();
    let kept = records::ended(&desk.loopgate).await?;
    let newest_first = [last, first].into_iter().chain(past[2..].iter().rev().cloned());
    ensure!(kept == newest_first.collect::<Vec<_>>(), "{kept:?}");
    Ok(())
}
