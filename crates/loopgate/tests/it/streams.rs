//! Answers that come line by line: what they say of themselves, and how they end with the gateway.

use anyhow::{Context as _, Result, ensure};
use loopgate_testkit::model::{Conversation, Script, Step};
use loopgate_testkit::wait;
use reqwest::Method;
use serde_json::json;

use crate::bad_input::raw;
use crate::local::Local;
use crate::test_system::TestSystem;

const CHAT: &str = "/api/gateway/orchestrator/chat/SHOP-7";

// GC-50, OR-53
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chat_stream_is_ndjson_for_every_accept_header() -> Result<()> {
    let local = Local::new().await?;
    let repo = local.repository("shop", &[("README.md", "A shop\n")])?;
    local.home.script("claude", "#!/bin/sh\ncat > /dev/null\n")?;
    let body = json!({"message": "Why?", "repoPath": repo}).to_string();
    let (port, token) = (local.loopgate.ready().gateway_port, local.loopgate.gateway_token());
    // A connection that begins with a question for health is served by a thread of its own.
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

/// Nobody waits for the rest of an answer. What is made of it meanwhile is there after the next start.
// GC-38
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stop_ends_a_stream_at_once_and_the_chat_goes_on() -> Result<()> {
    let mut system = TestSystem::playing(Script::new([Conversation::when("halves", "Why two caches")
        .turn([Step::text("First."), Step::bash("true")])
        .turn([Step::hold("answering"), Step::text("Second.")])]))
    .await?;
    let body = json!({"message": "Why two caches?", "repoPath": system.clone});
    let mut answer = system.loopgate.gateway(Method::POST, CHAT).json(&body).send().await?;
    let mut seen = Vec::new();
    while !String::from_utf8_lossy(&seen).contains("First.") {
        seen.extend(answer.chunk().await?.context("the stream ended before anything was said")?);
    }
    system.testbed.model.held("answering").await?;
    let ended = system.loopgate.stop().await?;
    ensure!(ended.code() == Some(0), "{ended}: {}", system.loopgate.output());
    while let Ok(Some(piece)) = answer.chunk().await {
        seen.extend(piece);
    }
    let seen = String::from_utf8_lossy(&seen);
    ensure!(!seen.contains("Second.") && !seen.contains(r#""type":"done""#), "{seen}");

    system.testbed.model.release("answering");
    let system = system.restart().await?;
    let work = system.clone.join(".loopgate/work");
    let history = || std::fs::read_to_string(work.join("chat-history.json")).unwrap_or_default();
    let kept = wait::seen(&work, async || history().contains("First.\\n\\nSecond.").then_some(())).await;
    kept.with_context(history)?;
    wait::all_end(|| system.others().into_iter().map(|process| process.pid).collect()).await
}
