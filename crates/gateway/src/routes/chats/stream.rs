//! Streams the events of a chat as newline-delimited JSON.

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
use crate::extract::RequestOrigin;

const NDJSON: HeaderValue = HeaderValue::from_static("application/x-ndjson");
const NO_CACHE: HeaderValue = HeaderValue::from_static("no-cache");

/// Tools for chats that work on a repository.
pub(in crate::routes) const ENGINEER_TOOLS: &str =
    "Bash,Grep,Glob,Read,Edit,Write,Task,TodoWrite,WebSearch,WebFetch";
/// Tools for questions about files; read-only.
pub(super) const READ_TOOLS: &str = "Read,Grep,Glob,WebSearch,WebFetch";
/// Tools for questions that involve no local files.
pub(super) const WEB_TOOLS: &str = "WebSearch,WebFetch";

/// Returns the tools of a chat: `names`, and those of the MCP server at `expected_mcp_url` or, without a URL,
/// of the most recently detected one.
pub(in crate::routes) fn tools(app: &App, names: &str, expected_mcp_url: Option<&str>) -> String {
    app.mcp.cached(McpHost::Assistant, expected_mcp_url).added_to(names)
}

/// Stores the user's message, starts the provider and streams its events.
///
/// # Errors
/// 500 when the message cannot be stored.
pub(in crate::routes) async fn send(
    app: &App,
    agents: &Agents,
    requester: RequestOrigin,
    request: ChatRequest,
) -> Result<Response, HttpError> {
    // The message is stored before the provider starts, so that a failing provider does not lose it.
    let chat = agents.conversations.send(request).await;
    let chat = chat.map_err(|error| HttpError::operation("Failed to save chat history", &error))?;
    Ok(answer(app, requester, chat))
}

pub(in crate::routes) fn answer(
    app: &App,
    requester: RequestOrigin,
    chat: impl EventStream + 'static,
) -> Response {
    // Over the link each line is stored as an event, so keepalives would be stored too. The relay keeps the
    // connection alive instead.
    let keepalive = (!requester.over_link).then_some(app.limits.stream_silence);
    // Dropping the body when the client disconnects only ends this subscription, not the provider's run.
    let chunks = stream::unfold(chat, move |mut chat| async move {
        let events = chat.next(keepalive).await?;
        let events = if requester.over_link { merge_texts(events) } else { events };
        Some((lines(&events), chat))
    });
    let headers = [(CONTENT_TYPE, NDJSON), (CACHE_CONTROL, NO_CACHE)];
    (headers, Body::from_stream(chunks)).into_response()
}

fn lines(events: &[ChatEvent]) -> Result<Bytes, serde_json::Error> {
    let mut lines = Vec::new();
    for event in events {
        serde_json::to_writer(&mut lines, event)?;
        lines.push(b'\n');
    }
    Ok(lines.into())
}

/// Merges consecutive text events, so that the link stores fewer events.
fn merge_texts(events: Vec<ChatEvent>) -> Vec<ChatEvent> {
    let mut merged: Vec<ChatEvent> = Vec::with_capacity(events.len());
    for event in events {
        match (merged.last_mut(), event) {
            (Some(ChatEvent::Text { content }), ChatEvent::Text { content: more }) => content.push_str(&more),
            (_, event) => merged.push(event),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn consecutive_texts_are_merged() {
        let text = |content: &str| ChatEvent::Text { content: content.to_owned() };
        let events = vec![text("a"), text("b"), ChatEvent::Keepalive, text("c"), ChatEvent::DONE];
        assert_eq!(merge_texts(events), [text("ab"), ChatEvent::Keepalive, text("c"), ChatEvent::DONE]);
    }
}
