//! Streamed responses (NDJSON): their headers, and how they end at shutdown.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, ModelStep, Script};
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::json;

use crate::bad_input::raw;
use crate::test_gateway::TestGateway;
use crate::test_system::TestSystem;

const CHAT: &str = "/api/gateway/orchestrator/chat/SHOP-7";

// GC-50, OR-53
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_stream_is_ndjson_for_every_accept_header() -> Result<()> {
    let local = TestGateway::new().await?;
    let repo = local.repository("shop", &[("README.md", "A shop\n")])?;
    local.home.script("claude", "#!/bin/sh\ncat > /dev/null\n")?;
    let body = json!({"message": "Why?", "repoPath": repo}).to_string();
    let (port, token) = (local.loopgate.ready().gateway_port, local.loopgate.gateway_token());
    // A connection whose first request is a health check is served by a separate thread.
    let health = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    for (before, accept) in
        [("", "Accept: text/event-stream\r\n"), ("", "Accept: */*\r\n"), ("", ""), (&*health, "")]
    {
        let request = format!(
            "{before}POST {CHAT} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\
             X-Desktop-Gateway-Token: {token}\r\n{accept}\
             Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
            body.len()
        );
        let answer = raw(&local.loopgate, &request).await?;
        let (_, answer) = answer.rsplit_once("HTTP/1.1 ").context("an answer")?;
        let (head, lines) = answer.split_once("\r\n\r\n").context("a head and a body")?;
        let head = head.to_lowercase();
        ensure!(head.starts_with("200 "), "{accept:?}: {answer}");
        ensure!(head.lines().any(|line| line == "content-type: application/x-ndjson"), "{accept:?}: {head}");
        ensure!(lines.contains(r#""type":"done""#), "{accept:?}: {lines}");
    }
    Ok(())
}

/// Shutdown does not wait for open streams. The assistant continues, and its answer is stored at the next
/// start.
// GC-38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shutdown_closes_streams_and_chat_continues() -> Result<()> {
    let mut system = TestSystem::playing(Script::new([Conversation::when("halves", "Why two caches")
        .turn([ModelStep::text("First."), ModelStep::bash("true")])
        .turn([ModelStep::hold("answering"), ModelStep::text("Second.")])]))
    .await?;
    let body = json!({"message": "Why two caches?", "repoPath": system.clone});
    let mut answer = system.loopgate.gateway(Method::POST, CHAT).json(&body).send().await?;
    let mut received = Vec::new();
    while !String::from_utf8_lossy(&received).contains("First.") {
        received.extend(answer.chunk().await?.context("the stream ended before the first text")?);
    }
    system.testbed.model.held("answering").await?;
    let ended = system.loopgate.stop().await?;
    ensure!(ended.code() == Some(0), "{ended}: {}", system.loopgate.output());
    while let Ok(Some(piece)) = answer.chunk().await {
        received.extend(piece);
    }
    let received = String::from_utf8_lossy(&received);
    ensure!(!received.contains("Second.") && !received.contains(r#""type":"done""#), "{received}");

    system.testbed.model.release("answering");
    let system = system.restart().await?;
    let work = system.clone.join(".loopgate/work");
    let history = || std::fs::read_to_string(work.join("chat-history.json")).unwrap_or_default();
    let stored = wait::until(&work, async || history().contains("First.\\n\\nSecond.").then_some(())).await;
    stored.with_context(history)?;
    wait::all_end(|| system.other_processes().into_iter().map(|process| process.pid).collect()).await
}
