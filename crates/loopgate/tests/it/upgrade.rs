//! Upgrade from version 0.13.18: data of the previous version is migrated without loss.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::origin_checks::percent_encode;
use crate::owner::Owner;
use crate::queue::{kill, listed_loops, order, system_with_one_slot, wait_for_status};
use crate::records;
use crate::test_system::TestSystem;

const SESSIONS: &str = "/api/gateway/orchestrator/sessions";

/// Returns the data that pages and the owner read, except loops.
async fn visible_state(system: &TestSystem) -> Result<Value> {
    let repo = percent_encode(&system.clone.to_string_lossy());
    let history = format!("/api/gateway/orchestrator/chat-history/SHOP-7?repo={repo}");
    let mut answers = Vec::new();
    for path in [SESSIONS, &history] {
        answers.push(system.loopgate.gateway(Method::GET, path).send().await?.json::<Value>().await?);
    }
    let policies = Owner::of(&system.loopgate).await?.call("approvals.policies", json!({})).await?;
    Ok(
        json!({"answers": answers, "policies": policies, "commands": records::commands(&system.loopgate).await?}),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_the_previous_version_is_kept() -> Result<()> {
    let system = system_with_one_slot().await?;
    let [running, queued] = [0; 2].map(|_| Uuid::new_v4());
    order(&system, running).await?;
    system.testbed.model.held("planning").await?;
    order(&system, queued).await?;
    let document = system.page.create_document().await?;
    let dispatched = system.page.start_loop(&document, "plan").await?;
    let expected_ids = [running.to_string(), queued.to_string(), dispatched.clone()];
    wait_for_status(&system, dispatched.parse()?, "Queued").await?;

    let deny = json!({"operationId": "deploy", "effect": "deny"});
    Owner::of(&system.loopgate).await?.call("approvals.set_policy", deny).await?;
    let session = json!({"ticketId": "SHOP-7", "repoPath": system.clone, "worktreePath": system.clone});
    let message = json!({"repo": system.clone, "repoPath": system.clone, "message": {"id": "m-1", "role": "user",
        "content": "Why?", "timestamp": "2026-01-05T10:00:00.000Z"}});
    let history = format!(
        "/api/gateway/orchestrator/chat-history/SHOP-7?repo={}",
        percent_encode(&system.clone.to_string_lossy())
    );
    for (path, body) in [(SESSIONS, session), (&history, message)] {
        let answer = system.loopgate.gateway(Method::POST, path).json(&body).send().await?;
        ensure!(answer.status() == 200, "{path}: {}", answer.text().await?);
    }
    let before = visible_state(&system).await?;
    ensure!(before["answers"][0]["sessions"][0]["ticketId"] == "SHOP-7", "{before}");
    ensure!(before["answers"][1]["messages"][0]["content"] == "Why?", "{before}");
    ensure!(before["policies"][0]["effect"] == "deny", "{before}");
    ensure!(before["commands"].as_array().is_some_and(|commands| !commands.is_empty()), "{before}");

    // A kill leaves queued loops and unfinished commands, which the migration must keep.
    let mut system = system;
    system.loopgate.kill().await?;
    records::turn_into_0_13_18(&system.loopgate).await?;
    let system = system.restart().await?;

    ensure!(visible_state(&system).await? == before, "{} became {}", before, visible_state(&system).await?);
    let mut loops = listed_loops(&system).await?;
    loops.sort_by_key(|(_, _, position)| *position);
    let (ids, positions): (Vec<_>, Vec<_>) =
        loops.into_iter().map(|(id, _, position)| (id, position)).unzip();
    ensure!(ids == expected_ids && positions == [None, Some(1), Some(2)], "{ids:?} {positions:?}");
    for id in [running, queued] {
        wait_for_status(&system, id, "Running").await?;
        kill(&system, id).await?;
    }
    system.testbed.model.release("planning");
    let ended = system.page.wait_for_end(&dispatched).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    Ok(())
}
