//! A limit on how many loops run at once: the others wait in order, start when a place frees, keep
//! their order through a kill, and can be taken out of the queue.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::Step;
use loopgate_testkit::{story, wait};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::cli;
use crate::records;
use crate::test_system::{TestSystem, setup};

const LOOP: &str = "/api/gateway/orchestrator/loop";
const KILL: &str = "/api/gateway/orchestrator/loop/kill";

/// One place, and an assistant that is held in its first answer.
pub async fn one_place() -> Result<TestSystem> {
    let mut script = story::script();
    script.conversations[0].turns[0].0.insert(0, Step::hold("planning"));
    let testbed = loopgate_testkit::testbed::Testbed::new(script).await?;
    TestSystem::start(setup(&testbed)?.arg("--max-loops").arg("1"), testbed).await
}

/// Orders a plan as the link does.
pub async fn order(system: &TestSystem, loop_id: Uuid) -> Result<Value> {
    let body = json!({"loopId": loop_id, "command": "PLAN", "loopGateAuthToken": "made-up", "artifacts": [],
        "prompt": story::WISH, "artifactSlug": format!("shop-{}", loop_id.simple()),
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

/// Waits until the desktop's record of a loop says so.
pub async fn becomes(system: &TestSystem, loop_id: Uuid, status: &str) -> Result<()> {
    let log = system.loopgate.setup().data_dir().join("logs");
    let id = loop_id.to_string();
    let seen = wait::seen(&log, async || {
        let record = system.record(&id).await.ok()?;
        (record.status == status).then_some(())
    });
    seen.await.with_context(|| format!("{loop_id} does not become {status}"))
}

/// The loops that `loopgate status` lists: id, status, place.
pub async fn listed(system: &TestSystem) -> Result<Vec<(String, String, Option<u64>)>> {
    let rows = cli::loops(&system.testbed.home, &system.loopgate).await?;
    let listed = |row: &Value| {
        let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
        (text("loopId"), text("status"), row["queuePlace"].as_u64())
    };
    Ok(rows.iter().map(listed).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loops_wait_in_order_through_a_kill_and_start_when_a_place_frees() -> Result<()> {
    let system = one_place().await?;
    let [first, second, third, fourth] = [0; 4].map(|_| Uuid::new_v4());
    let started = order(&system, first).await?;
    ensure!(started["pid"].is_u64() && started["queuePlace"].is_null(), "{started}");
    system.testbed.model.held("planning").await?;
    for (loop_id, place) in [(second, 1), (third, 2), (fourth, 3)] {
        let queued = order(&system, loop_id).await?;
        let expected = json!({"success": true, "loopId": loop_id, "pid": null, "worktreePath": null,
            "queuePlace": place});
        ensure!(queued == expected, "{queued}");
        ensure!(system.record(&loop_id.to_string()).await?.status == "Queued");
    }

    let system = system.kill_and_restart().await?;
    let waiting = |loops: &[(String, String, Option<u64>)]| -> Vec<(String, u64)> {
        let mut waiting: Vec<_> =
            loops.iter().filter_map(|(id, _, place)| Some((id.clone(), (*place)?))).collect();
        waiting.sort_by_key(|(_, place)| *place);
        waiting
    };
    let order_of = |ids: &[Uuid]| -> Vec<(String, u64)> {
        ids.iter().zip(1..).map(|(id, place)| (id.to_string(), place)).collect()
    };
    ensure!(waiting(&listed(&system).await?) == order_of(&[second, third, fourth]));

    let removed = kill(&system, third).await?;
    ensure!(
        removed == (200, json!({"success": true, "message": "Loop removed from the queue"})),
        "{removed:?}"
    );
    ensure!(system.record(&third.to_string()).await?.status == "Cancelled");
    ensure!(waiting(&listed(&system).await?) == order_of(&[second, fourth]));

    becomes(&system, first, "Running").await?;
    kill(&system, first).await?;
    becomes(&system, second, "Running").await?;
    ensure!(system.record(&fourth.to_string()).await?.status == "Queued", "one place");
    kill(&system, second).await?;
    becomes(&system, fourth, "Running").await?;
    kill(&system, fourth).await?;
    for loop_id in [first, second, fourth] {
        system.alone(&loop_id.to_string()).await?;
    }
    let left = records::launch_requests(&system.loopgate).await?;
    ensure!(left == 0, "{left} requests are kept of loops that do not wait");
    Ok(())
}

/// The page of a loop that waits learns its place, and the loop is done when its turn comes.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_that_waits_says_its_place_and_is_done_in_its_turn() -> Result<()> {
    let system = one_place().await?;
    let local = Uuid::new_v4();
    order(&system, local).await?;
    system.testbed.model.held("planning").await?;
    let wish = system.page.wish().await?;
    let loop_id = system.page.press(&wish, "plan").await?;
    let mut events = system.page.follow(&loop_id, None).await?;
    let place = loop {
        let event = events.next().await?.context("the stream goes on")?;
        if event["queue"].is_object() {
            break event;
        }
    };
    ensure!(place["queue"] == json!({"place": 1, "waiting": 1}), "{place}");
    ensure!(place["chunk"] == "Waiting for a free place: 1 of 1 in the queue", "{place}");
    system.testbed.model.release("planning");
    let ended = system.page.ended(&loop_id).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    system.alone(&loop_id).await
}
