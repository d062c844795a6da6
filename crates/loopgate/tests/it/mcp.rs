//! MCP servers: a loop may call the tools of the server that its request expects, and of no other.

use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context as _, Result, ensure};
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use axum::routing::post;
use axum::{Json, Router};
use loopgate_testkit::model::{Conversation, ModelStep};
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::commands::TestDesktop;

const WORDS: &str = "The gate squeaks when it rains";

/// MCP server with one tool, `read_ticket`.
struct McpServer {
    url: String,
    calls: Arc<Mutex<usize>>,
    _serving: AbortOnDropHandle<()>,
}

impl McpServer {
    async fn start() -> Result<Self> {
        let calls = Arc::new(Mutex::new(0));
        let counter = calls.clone();
        let answer = async move |Json(request): Json<Value>| answer(&request, &counter);
        let router = Router::new().route("/mcp", post(answer));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let serving = tokio::spawn(async move { drop(axum::serve(listener, router).await) });
        Ok(Self { url, calls, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Returns how often the tool was called.
    fn calls(&self) -> usize {
        *self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the server to the user-level configuration of the assistant.
    fn register(&self, desktop: &TestDesktop) -> Result<()> {
        let file = desktop.testbed.home.path().join(".claude.json");
        let mut settings: Value = match std::fs::read(&file) {
            Ok(text) => serde_json::from_slice(&text)?,
            Err(_) => json!({}),
        };
        settings["mcpServers"] = json!({"tickets": {"type": "http", "url": self.url}});
        std::fs::write(file, settings.to_string()).context("register the server")
    }
}

fn answer(request: &Value, calls: &Mutex<usize>) -> Response {
    let result = match request["method"].as_str().unwrap_or_default() {
        "initialize" => json!({"protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "tickets", "version": "1"}}),
        "tools/list" => json!({"tools": [{"name": "read_ticket", "description": "Reads the ticket",
            "inputSchema": {"type": "object", "properties": {}}}]}),
        "tools/call" => {
            *calls.lock().unwrap_or_else(PoisonError::into_inner) += 1;
            json!({"content": [{"type": "text", "text": WORDS}]})
        }
        method if method.starts_with("notifications/") => return StatusCode::ACCEPTED.into_response(),
        _ => json!({}),
    };
    Json(json!({"jsonrpc": "2.0", "id": request["id"], "result": result})).into_response()
}

/// Returns a conversation that calls the tool and ends with `last`.
fn reads_ticket(name: &str, prompt: &str, last: &str) -> Conversation {
    Conversation::when(name, prompt)
        .turn([ModelStep::tool("mcp__tickets__read_ticket", json!({}))])
        .says(last)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn loop_uses_only_expected_mcp_server() -> Result<()> {
    let server = McpServer::start().await?;
    let desktop = TestDesktop::playing([
        reads_ticket("split", "# Split requirements", "Read."),
        reads_ticket("coding", "# Coding loop", "Read.\n<promise>COMPLETE</promise>"),
    ])
    .await?;
    // The server is configured for the assistant in every case; only the permission differs. Port 9 (discard)
    // represents a server with another URL.
    server.register(&desktop)?;
    let documents = json!([{"id": "1", "type": "PRD", "title": "", "content": "The gate is to be silent"}]);
    for (command, conversation) in [("DECOMPOSE", "split"), ("PLAN", "coding")] {
        for expected in [None, Some("http://127.0.0.1:9/mcp"), Some(server.url.as_str())] {
            let allowed = expected == Some(server.url.as_str());
            let before = server.calls();
            let run = desktop
                .run(json!({"command": command, "prompt": "Oil the gate", "artifacts": documents,
                    "expectedMcpUrl": expected}))
                .await?;
            ensure!(run.last["type"] == "completed", "{command} {}", run.last);
            let request = desktop.testbed.model.requests_of(conversation).pop().context("no request")?;
            let results = request.tool_results();
            ensure!(results.contains(WORDS) == allowed, "{command} {expected:?}: {results}");
            ensure!(server.calls() - before == usize::from(allowed), "{command} {expected:?}");
        }
    }
    Ok(())
}
