//! Chats in the terminal, about a ticket, and about a run. Both providers are scripts.

use anyhow::{Result, ensure};
use reqwest::Method;
use serde_json::{Value, json};

use crate::test_gateway::TestGateway;

/// Prints a session id and an answer, and appends its arguments and prompt to files.
const ASSISTANT: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/assistant-args"; cat >> "$HOME/assistant-prompt"
echo '{"type":"system","subtype":"init","session_id":"a-1"}'
echo '{"type":"assistant","message":{"content":[{"type":"text","text":"From the assistant."}]}}'
echo '{"type":"result","subtype":"success"}'
"#;
const REVIEWER: &str = r#"#!/bin/sh
echo "$@" >> "$HOME/reviewer-args"; cat >> "$HOME/reviewer-prompt"
echo '{"type":"thread.started","thread_id":"r-1"}'
printf '{"type":"item.completed","item":{"type":"agent_message","text":"From the reviewer."}}'
"#;

struct Chats(TestGateway);

impl Chats {
    async fn new() -> Result<Self> {
        let local = TestGateway::new().await?;
        local.home.script("claude", ASSISTANT)?;
        local.home.script("codex", REVIEWER)?;
        Ok(Self(local))
    }

    /// Sends a message and returns the events of the response.
    async fn send(&self, route: &str, body: Value) -> Result<Vec<Value>> {
        let request = self.0.loopgate.gateway(Method::POST, &format!("/api/gateway/{route}"));
        let answer = request.header("accept", "text/event-stream").json(&body).send().await?;
        let kind = answer.headers().get("content-type").cloned();
        let text = answer.text().await?;
        ensure!(kind.is_some_and(|kind| kind == "application/x-ndjson"), "{text}");
        Ok(text.lines().map(serde_json::from_str).collect::<Result<_, _>>()?)
    }

    fn recorded(&self, name: &str) -> String {
        std::fs::read_to_string(self.0.home.path().join(name)).unwrap_or_default()
    }
}

// RC-40, RC-41, RC-42, RC-52
#[tokio::test]
async fn terminal_chat_alternates_between_providers() -> Result<()> {
    let chats = Chats::new().await?;
    chats.0.get("terminal-chat", &[]).await?.is(200, &json!({"messages": []}))?;
    let events = chats.send("terminal-chat", json!({"message": "Which port?"})).await?;
    ensure!(events[0] == json!({"type": "status", "status": "spawning", "mode": "assistant"}), "{events:?}");
    ensure!(events.contains(&json!({"type": "result", "success": true})), "{events:?}");
    ensure!(events.last() == Some(&json!({"type": "done"})), "{events:?}");
    let events = chats.send("terminal-chat", json!({"message": "@reviewer  Is that right?"})).await?;
    ensure!(events[1]["mode"] == "reviewer" && events[1]["pid"].is_u64(), "{events:?}");
    ensure!(events.contains(&json!({"type": "status", "sessionId": "r-1"})), "{events:?}");
    ensure!(
        chats.recorded("reviewer-args").starts_with("exec --json "),
        "{}",
        chats.recorded("reviewer-args")
    );
    let prompt = chats.recorded("reviewer-prompt");
    ensure!(
        prompt.contains("Assistant: From the assistant.") && prompt.ends_with("Is that right?"),
        "{prompt}"
    );
    chats.send("terminal-chat", json!({"message": "And now?"})).await?;
    ensure!(chats.recorded("assistant-args").trim_end().ends_with("--resume a-1"));
    let prompt = chats.recorded("assistant-prompt");
    ensure!(prompt.contains("Reviewer: From the reviewer."), "{prompt}");
    ensure!(prompt.matches("Which port?").count() == 1, "a turn of the session was repeated: {prompt}");
    let history = chats.0.get("terminal-chat", &[]).await?.ok()?;
    ensure!(history["assistantSessionId"] == "a-1" && history["reviewerSessionId"] == "r-1", "{history}");
    let modes = history["messages"].as_array().into_iter().flatten().map(|message| &message["mode"]);
    let expected = ["assistant", "assistant", "reviewer", "reviewer", "assistant", "assistant"];
    ensure!(modes.eq(expected.map(|mode| json!(mode)).iter()), "{history}");
    chats.0.delete("terminal-chat", json!({})).await?.is(200, &json!({"success": true}))?;
    chats.0.get("terminal-chat", &[]).await?.is(200, &json!({"messages": []}))
}

// RC-43
#[tokio::test]
async fn ticket_chat_resumes_session_and_stores_history() -> Result<()> {
    let chats = Chats::new().await?;
    let ticket = json!({"identifier": "SHOP-7", "title": "Two caches", "url": "https://tickets.test/7"});
    let body_with = |context: Value| json!({"ticketId": "../x", "message": "Why?", "ticketContext": context});
    let required = "ticketId, message, and ticketContext are required";
    let without_url = body_with(json!({"identifier": "SHOP-7", "title": "t"}));
    chats.0.post("ticket-chat", without_url).await?.refused(400, required, "missing_field")?;
    let mut outside = body_with(ticket.clone());
    outside["repoPath"] = "/etc".into();
    let refused = chats.0.post("ticket-chat", outside).await?;
    refused.refused(403, "directory not allowed", "directory_not_allowed")?;
    let empty = json!({"messages": [], "ticketId": "../x"});
    chats.0.get("ticket-chat", &[("ticketId", "../x")]).await?.is(200, &empty)?;
    let no_ticket = chats.0.get("ticket-chat", &[]).await?;
    no_ticket.refused(400, "ticketId parameter is required", "missing_field")?;

    let events = chats.send("ticket-chat", body_with(ticket.clone())).await?;
    ensure!(events[0]["resuming"] == false, "{events:?}");
    ensure!(chats.recorded("assistant-args").contains("--allowedTools=WebSearch,WebFetch\n"));
    ensure!(chats.recorded("assistant-prompt").contains("Two caches"));
    let events = chats.send("ticket-chat", body_with(ticket)).await?;
    ensure!(events[0]["resuming"] == true, "{events:?}");
    ensure!(chats.recorded("assistant-prompt").matches("Two caches").count() == 1);
    let history = chats.0.get("ticket-chat", &[("ticketId", "../x")]).await?.ok()?;
    ensure!(history["sessionId"] == "a-1" && history["messages"].as_array().map(Vec::len) == Some(4));
    let file = chats.0.at(".loopgate/chats/___x/chat-history.json");
    ensure!(file.is_file(), "{} is missing", file.display());
    Ok(())
}

// RC-44
#[tokio::test]
async fn run_chat_includes_file_context() -> Result<()> {
    let chats = Chats::new().await?;
    chats.0.post("run-viewer-chat", json!({})).await?.refused(400, "message is required", "missing_field")?;
    let outside = chats.0.post("run-viewer-chat", json!({"message": "Why?", "runDir": "/etc"})).await?;
    outside.refused(403, "directory not allowed", "directory_not_allowed")?;
    let run = chats.0.at("run");
    std::fs::create_dir_all(&run)?;
    let file = json!({"path": "plan.md", "contentPreview": "# The plan"});
    let body = json!({"message": "Why?", "runDir": run, "fileContext": file});
    let events = chats.send("run-viewer-chat", body).await?;
    ensure!(events[0]["mode"] == "assistant", "{events:?}");
    let prompt = chats.recorded("assistant-prompt");
    ensure!(prompt.contains("# The plan") && prompt.ends_with("Why?"), "{prompt}");
    ensure!(chats.recorded("assistant-args").contains("--allowedTools=Read,Grep,Glob,WebSearch,WebFetch"));
    let history = chats.0.get("run-viewer-chat", &[]).await?.ok()?;
    ensure!(history["assistantSessionId"] == "a-1", "{history}");
    Ok(())
}

// RC-45
#[tokio::test]
async fn session_chats_need_a_base_directory() -> Result<()> {
    let local = TestGateway::with(|setup| setup.without_sandbox()).await?;
    let ticket = json!({"identifier": "SHOP-7", "title": "t", "url": "https://tickets.test/7"});
    let about_ticket = json!({"ticketId": "SHOP-7", "message": "Why?", "ticketContext": ticket});
    for (route, body) in [
        ("terminal-chat", json!({"message": "Why?"})),
        ("ticket-chat?ticketId=SHOP-7", about_ticket),
        ("run-viewer-chat", json!({"message": "Why?"})),
    ] {
        for (method, body) in
            [(Method::GET, String::new()), (Method::POST, body.to_string()), (Method::DELETE, String::new())]
        {
            let answer = local.send(method, route, body).await?;
            answer.refused(503, "Server not configured — complete onboarding", "not_configured")?;
        }
    }
    Ok(())
}

#[tokio::test]
async fn answer_is_not_stored_after_chat_was_deleted() -> Result<()> {
    let chats = Chats::new().await?;
    let gate = chats.0.home.path().join("gate");
    // The provider blocks on the FIFO until the chat was deleted, then completes its answer.
    let blocking =
        format!("#!/bin/sh\nmkfifo '{0}'; cat '{0}' > /dev/null\n{1}", gate.display(), &ASSISTANT[10..]);
    chats.0.home.script("claude", &blocking)?;
    let request = chats.0.loopgate.gateway(Method::POST, "/api/gateway/terminal-chat");
    let mut answer = request.json(&json!({"message": "Which port?"})).send().await?;
    let mut text = Vec::new();
    while !String::from_utf8_lossy(&text).contains("running") {
        text.extend(answer.chunk().await?.unwrap_or_default());
    }
    chats.0.delete("terminal-chat", json!({})).await?.ok()?;
    loopgate_testkit::wait::until(chats.0.home.path(), async || gate.exists().then_some(())).await?;
    tokio::task::spawn_blocking(move || std::fs::write(gate, "go")).await??;
    while answer.chunk().await?.is_some() {}
    chats.0.get("terminal-chat", &[]).await?.is(200, &json!({"messages": []}))
}
