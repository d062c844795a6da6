//! The events of a chat as an answer: one JSON object a line, as they come.

use axum::body::Body;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use loopgate_agents::{Agents, ChatRequest, EventStream};
use loopgate_api::chat_event::ChatEvent;
use loopgate_tools::mcp::McpHost;

use crate::app::App;
use crate::error::HttpError;
use crate::extract::Requester;

const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");

/// Tools for work on a repository.
pub(in crate::routes) const ENGINEER_TOOLS: &str =
    "Bash,Grep,Glob,Read,Edit,Write,Task,TodoWrite,WebSearch,WebFetch";
/// Tools for questions about files.
pub(super) const READ_TOOLS: &str = "Read,Grep,Glob,WebSearch,WebFetch";
/// Tools for questions about nothing on this machine.
pub(super) const WEB_TOOLS: &str = "WebSearch,WebFetch";

/// Tools of a chat, with those of the MCP server that the client expects, or that was found lately.
pub(in crate::routes) fn tools(app: &App, names: &str, expected_mcp_url: Option<&str>) -> String {
    app.mcp.known(McpHost::Assistant, expected_mcp_url).added_to(names)
}

/// Stores the person's message, asks the provider, and answers with the events.
pub(in crate::routes) async fn send(
    app: &App,
    agents: &Agents,
    requester: Requester,
    request: ChatRequest,
) -> Result<Response, HttpError> {
    let chat = agents.conversations.send(request).await;
    let chat = chat.map_err(|error| HttpError::operation("Failed to save chat history", &error))?;
    Ok(answer(app, requester, chat))
}

pub(in crate::routes) fn answer(
    app: &App,
    requester: Requester,
    chat: impl EventStream + 'static,
) -> Response {
    // Over the link each line is stored as an event, and silence is filled by the relay.
    let silence = (!requester.over_link).then_some(app.limits.stream_silence);
    let pieces = stream::unfold(chat, move |mut chat| async move {
        let events = chat.next(silence).await?;
        let events = if requester.over_link { joined(events) } else { events };
        Some((lines(&events), chat))
    });
    let headers = [(CONTENT_TYPE, NDJSON), (CACHE_CONTROL, NO_CACHE)];
    (headers, Body::from_stream(pieces)).into_response()
}

fn lines(events: &[ChatEvent]) -> Result<Bytes, serde_json::Error> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, event)?;
        lines.push(b'\n');
    }
    Ok(lines.into())
}

/// Texts that follow one another become one.
fn joined(events: Vec<ChatEvent>) -> Vec<ChatEvent> {
    let mut all: Vec<ChatEvent> = Vec::with_capacity(events.len());
    for event in events {
        match (all.last_mut(), event) {
            (Some(ChatEvent::Text { content }), ChatEvent::Text { content: more }) => content.push_str(&more),
            (_, event) => all.push(event),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_that_wait_together_travel_together() {
        let text = |content: &str| ChatEvent::Text { content: content.to_owned() };
        let events = vec![text("a"), text("b"), ChatEvent::Keepalive, text("c"), ChatEvent::DONE];
        assert_eq!(joined(events), [text("ab"), ChatEvent::Keepalive, text("c"), ChatEvent::DONE]);
    }
}
