//! A home that version 0.13.18 left goes on under this one, and nothing in it is lost.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::foreign::encoded;
use crate::owner::Owner;
use crate::queue::{becomes, kill, listed, one_place, order};
use crate::records;
use crate::stage::Stage;

const SESSIONS: &str = "/api/gateway/orchestrator/sessions";

/// What pages and the owner see of it, loops apart.
async fn stored(stage: &Stage) -> Result<Value> {
    let repo = encoded(&stage.clone.to_string_lossy());
    let history = format!("/api/gateway/orchestrator/chat-history/SHOP-7?repo={repo}");
    let mut answers = Vec::new();
    for path in [SESSIONS, &history] {
        answers.push(stage.loopgate.gateway(Method::GET, path).send().await?.json::<Value>().await?);
    }
    let policies = Owner::of(&stage.loopgate).await?.ask("approvals.policies", json!({})).await?;
    Ok(
        json!({"answers": answers, "policies": policies, "commands": records::commands(&stage.loopgate).await?}),
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_home_of_the_version_before_loses_nothing() -> Result<()> {
    let stage = one_place().await?;
    let [running, waiting] = [0; 2].map(|_| Uuid::new_v4());
    order(&stage, running).await?;
    stage.scene.model.held("planning").await?;
    order(&stage, waiting).await?;
    let wish = stage.page.wish().await?;
    let commanded = stage.page.press(&wish, "plan").await?;
    let queue = [running.to_string(), waiting.to_string(), commanded.clone()];
    becomes(&stage, commanded.parse()?, "Queued").await?;

    let deny = json!({"operationId": "deploy", "effect": "deny"});
    Owner::of(&stage.loopgate).await?.ask("approvals.set_policy", deny).await?;
    let session = json!({"ticketId": "SHOP-7", "repoPath": stage.clone, "worktreePath": stage.clone});
    let message = json!({"repo": stage.clone, "repoPath": stage.clone, "message": {"id": "m-1", "role": "user",
        "content": "Why?", "timestamp": "2026-01-05T10:00:00.000Z"}});
    let history = format!(
        "/api/gateway/orchestrator/chat-history/SHOP-7?repo={}",
        encoded(&stage.clone.to_string_lossy())
    );
    for (path, body) in [(SESSIONS, session), (&history, message)] {
        let answer = stage.loopgate.gateway(Method::POST, path).json(&body).send().await?;
        ensure!(answer.status() == 200, "{path}: {}", answer.text().await?);
    }
    let before = stored(&stage).await?;
    ensure!(before["answers"][0]["sessions"][0]["ticketId"] == "SHOP-7", "{before}");
    ensure!(before["answers"][1]["messages"][0]["content"] == "Why?", "{before}");
    ensure!(before["policies"][0]["effect"] == "deny", "{before}");
    ensure!(before["commands"].as_array().is_some_and(|commands| !commands.is_empty()), "{before}");

    let mut stage = stage;
    stage.loopgate.kill().await?;
    records::turn_into_0_13_18(&stage.loopgate).await?;
    let stage = stage.restart().await?;

    ensure!(stored(&stage).await? == before, "{} became {}", before, stored(&stage).await?);
    let mut loops = listed(&stage).await?;
    loops.sort_by_key(|(_, _, place)| *place);
    let (ids, places): (Vec<_>, Vec<_>) = loops.into_iter().map(|(id, _, place)| (id, place)).unzip();
    ensure!(ids == queue && places == [None, Some(1), Some(2)], "{ids:?} {places:?}");
    for id in [running, waiting] {
        becomes(&stage, id, "Running").await?;
        kill(&stage, id).await?;
    }
    stage.scene.model.release("planning");
    let ended = stage.page.ended(&commanded).await?;
    ensure!(ended["status"] == "COMPLETED", "{ended}");
    Ok(())
}
