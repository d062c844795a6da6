//! Admission control: with a limit of concurrent loops, further loops are queued in order, start when a slot
//! frees, keep their order across a crash, and can be removed from the queue.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli;
use crate::records;
use crate::test_system::{TestSystem, setup};

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";

/// Starts a system with one slot, whose first plan loop is held at its first turn.
pub async fn system_with_one_slot() -> Result<TestSystem> {
    let mut script = story::script();
    script.hold(story::PLAN, "planning");
    let testbed = loopgate_testkit::testbed::Testbed::new(script).await?;
    TestSystem::start(setup(&testbed)?.arg("--max-loops").arg("1"), testbed).await
}

/// Launches a plan loop, like the link does for a command of the control plane.
pub async fn order(system: &TestSystem, loop_id: Uuid) -> Result<Value> {
    let body = json!({"loopId": loop_id, "command": "PLAN", "loopGateAuthToken": "a-runner-token", "artifacts": [],
        "prompt": story::REQUEST, "artifactSlug": format!("shop-{}", loop_id.simple()),
        "repo": {"fullName": story::REPOSITORY, "branch": "main"}});
    let request = system.loopgate.gateway(Method::POST, LOOP).header("x-desktop-source", "cloud-socket");
    let answer = request.json(&body).send().await?;
    ensure!(answer.status() == 200, "{}", answer.text().await?);
    Ok(answer.json().await?)
}

pub async fn kill(system: &TestSystem, loop_id: Uuid) -> Result<(u16, Value)> {
    let answer = system.loopgate.gateway(Method::POST, KILL).json(&json!({"loopId": loop_id})).send().await?;
    Ok((answer.status().as_u16(), answer.json().await?))
}

/// Waits until the job record of a loop has this status.
pub async fn wait_for_status(system: &TestSystem, loop_id: Uuid, status: &str) -> Result<()> {
    let log = system.loopgate.setup().data_dir().join("logs");
    let id = loop_id.to_string();
    let outcome = wait::until(&log, async || {
        let record = system.record(&id).await.ok()?;
        (record.status == status).then_some(())
    });
    outcome.await.with_context(|| format!("{loop_id} does not reach status {status}"))
}

/// Returns the loops that `loopgate status` lists: id, status, queue position.
pub async fn listed_loops(system: &TestSystem) -> Result<Vec<(String, String, Option<u64>)>> {
    let rows = cli::loops(&system.testbed.home, &system.loopgate).await?;
    let listed_loops = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("loopId"), text("status"), row["queuePlace"].as_u64())
    };
    Ok(rows.iter().map(listed_loops).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_loops_keep_order_across_crash_and_start_when_slot_frees() -> Result<()> {
    let system = system_with_one_slot().await?;
    let [first, second, third, fourth] = [0; 4].map(|_| Uuid::new_v4());
    let started = order(&system, first).await?;
    ensure!(started["pid"].is_u64() && started["queuePlace"].is_null(), "{started}");
    system.testbed.model.held("planning").await?;
    for (loop_id, position) in [(second, 1), (third, 2), (fourth, 3)] {
        let queued = order(&system, loop_id).await?;
        let expected = json!({"success": true, "loopId": loop_id, "pid": null, "worktreePath": null,
            "queuePlace": position});
        ensure!(queued == expected, "{queued}");
        ensure!(system.record(&loop_id.to_string()).await?.status == "Queued");
    }

    let system = system.kill_and_restart().await?;
    let waiting = |loops: &[(String, String, Option<u64>)]| -> Vec<(String, u64)> {
        let mut waiting: Vec<_> =
            loops.iter().filter_map(|(id, _, position)| Some((id.clone(), (*position)?))).collect();
        waiting.sort_by_key(|(_, position)| *position);
        waiting
    };
    let order_of = |ids: &[Uuid]| -> Vec<(String, u64)> {
        ids.iter().zip(1..).map(|(id, position)| (id.to_string(), position)).collect()
    };
    ensure!(waiting(&listed_loops(&system).await?) == order_of(&[second, third, fourth]));

    let removed = kill(&system, third).await?;
    ensure!(
        removed == (200, json!({"success": true, "message": "Loop removed from the queue"})),
        "{removed:?}"
    );
    ensure!(system.record(&third.to_string()).await?.status == "Cancelled");
    ensure!(waiting(&listed_loops(&system).await?) == order_of(&[second, fourth]));

    // The restart keeps the running loop, which still occupies the only slot.
    wait_for_status(&system, first, "Running").await?;
    kill(&system, first).await?;
    wait_for_status(&system, second, "Running").await?;
    ensure!(system.record(&fourth.to_string()).await?.status == "Queued", "a second loop was started");
    kill(&system, second).await?;
    wait_for_status(&system, fourth, "Running").await?;
    kill(&system, fourth).await?;
    for loop_id in [first, second, fourth] {
        system.no_processes_remain(&loop_id.to_string()).await?;
    }
    let request_count = records::launch_requests(&system.loopgate).await?;
    ensure!(request_count == 0, "{request_count} launch requests of loops that are not queued");
    Ok(())
}

/// The page of a queued loop shows the queue position, and the loop runs when its turn comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queued_loop_reports_position_and_runs_in_turn() -> Result<()> {
    let system = system_with_one_slot().await?;
    let local = Uuid::new_v4();
    // A second loop, launched by the page, is queued behind this one.
    order(&system, local).await?;
    system.testbed.model.held("planning").await?;
    let document = system.page.create_document().await?;
    let loop_id = system.page.start_loop(&document, "plan").await?;
    let mut events = system.page.follow(&loop_id, None).await?;
    let position = loop {
        let event = events.next().await?.context("the stream ended")?;
        if event["queue"].is_object() {
            break event;
        }
    };
    ensure!(position["queue"] == json!({"place": 1, "waiting": 1}), "{position}");
    ensure!(position["chunk"] == "Waiting for a free slot: 1 of 1 in the queue", "{position}");
    system.testbed.model.release("planning");
    let ended = system.page.wait_for_end(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.no_processes_remain(&loop_id).await
}
