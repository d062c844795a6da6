//! A home that version 0.13.18 left goes on under this one, and nothing in it is lost.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::foreign::encoded;
use crate::owner::Owner;
use crate::queue::{becomes, kill, listed, one_place, order};
use crate::records;
use crate::test_system::TestSystem;

const SESSIONS: &str = "/api/gateway/orchestrator/sessions";

/// What pages and the owner see of it, loops apart.
async fn stored(system: &TestSystem) -> Result<Value> {
    let repo = encoded(&system.clone.to_string_lossy());
    let history = format!("/api/gateway/orchestrator/chat-history/SHOP-7?repo={repo}");
    let mut answers = Vec::new();
    for path in [SESSIONS, &history] {
        answers.push(system.loopgate.gateway(Method::GET, path).send().await?.json::<Value>().await?);
    }
    let policies = Owner::of(&system.loopgate).await?.ask("approvals.policies", json!({})).await?;
    Ok(
        json!({"answers": answers, "policies": policies, "commands": records::commands(&system.loopgate).await?}),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn data_of_the_previous_version_is_kept() -> Result<()> {
    let system = one_place().await?;
    let [running, waiting] = [0; 2].map(|_| Uuid::new_v4());
    order(&system, running).await?;
    system.testbed.model.held("planning").await?;
    order(&system, waiting).await?;
    let wish = system.page.wish().await?;
    let commanded = system.page.press(&wish, "plan").await?;
    let queue = [running.to_string(), waiting.to_string(), commanded.clone()];
    becomes(&system, commanded.parse()?, "Queued").await?;

    let deny = json!({"operationId": "deploy", "effect": "deny"});
    Owner::of(&system.loopgate).await?.ask("approvals.set_policy", deny).await?;
    let session = json!({"ticketId": "SHOP-7", "repoPath": system.clone, "worktreePath": system.clone});
    let message = json!({"repo": system.clone, "repoPath": system.clone, "message": {"id": "m-1", "role": "user",
        "content": "Why?", "timestamp": "2026-01-05T10:00:00.000Z"}});
    let history = format!(
        "/api/gateway/orchestrator/chat-history/SHOP-7?repo={}",
        encoded(&system.clone.to_string_lossy())
    );
    for (path, body) in [(SESSIONS, session), (&history, message)] {
        let answer = system.loopgate.gateway(Method::POST, path).json(&body).send().await?;
        ensure!(answer.status() == 200, "{path}: {}", answer.text().await?);
    }
    let before = stored(&system).await?;
    ensure!(before["answers"][0]["sessions"][0]["ticketId"] == "SHOP-7", "{before}");
    ensure!(before["answers"][1]["messages"][0]["content"] == "Why?", "{before}");
    ensure!(before["policies"][0]["effect"] == "deny", "{before}");
    ensure!(before["commands"].as_array().is_some_and(|commands| !commands.is_empty()), "{before}");

    let mut system = system;
    system.loopgate.kill().await?;
    records::turn_into_0_13_18(&system.loopgate).await?;
    let system = system.restart().await?;

    ensure!(stored(&system).await? == before, "{} became {}", before, stored(&system).await?);
    let mut loops = listed(&system).await?;
    loops.sort_by_key(|(_, _, place)| *place);
    let (ids, places): (Vec<_>, Vec<_>) = loops.into_iter().map(|(id, _, place)| (id, place)).unzip();
    ensure!(ids == queue && places == [None, Some(1), Some(2)], "{ids:?} {places:?}");
    for id in [running, waiting] {
        becomes(&system, id, "Running").await?;
        kill(&system, id).await?;
    }
    system.testbed.model.release("planning");
    let ended = system.page.ended(&commanded).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    Ok(())
}
