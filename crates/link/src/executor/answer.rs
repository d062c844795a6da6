//! Converts the gateway's response into events: a stream line by line, any other body into one result.

use http::HeaderMap;
use http::header::CONTENT_TYPE;
use loopgate_api::link::{CommandFailure, EventType, GatewayError};
use serde_json::{Value, json};

/// Bytes of text in one chunk event; longer texts are split.
const MAX_CHUNK_BYTES: usize = 256 * 1024;
/// Bytes of a stream's line and of a whole body: the message limit, above which no event could carry it.
pub(crate) const MAX_ANSWER_BYTES: usize = 10 * 1024 * 1024;

/// Type and data of an event without its sequence.
pub(crate) type EventBody = (EventType, Value);

/// Framing of a streamed response.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamKind {
    /// Newline-delimited JSON (`application/x-ndjson`).
    Lines,
    /// Server-sent events, that is `text/event-stream`.
    ServerSent,
}

/// Returns an event with its approximate size in bytes.
pub(crate) fn weighed(event: EventBody) -> (EventBody, usize) {
    let bytes = weight(&event.1);
    (event, bytes)
}

/// Estimates the serialized size of a value without serializing it.
fn weight(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len() + 2,
        Value::Array(items) => items.iter().map(|item| weight(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(name, value)| name.len() + weight(value) + 4).sum::<usize>() + 2
        }
        _ => 8,
    }
}

/// Returns the framing of a streamed response, whatever its status; `None` if it is not a stream.
pub(crate) fn stream_kind(headers: &HeaderMap) -> Option<StreamKind> {
    let value = headers.get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.as_str() {
        "application/x-ndjson" => Some(StreamKind::Lines),
        "text/event-stream" => Some(StreamKind::ServerSent),
        _ => None,
    }
}

/// Creates the terminal event of a failed command.
pub(crate) fn failure(code: CommandFailure, error: &str) -> EventBody {
    (EventType::Error, json!({"type": "error", "terminal": true, "error": error, "code": code}))
}

/// Creates the terminal event of a command whose request the gateway rejected. It has no `code` member:
/// control planes up to 0.13 interpret a code as a failure of the command only, and would not fail the loop
/// that it launches.
fn gateway_error(status: u16, body: &[u8]) -> EventBody {
    let text = format!("gateway returned {status}: {}", String::from_utf8_lossy(body));
    let error = GatewayError::new(status, &serde_json::from_slice(body).unwrap_or_default());
    (EventType::Error, json!({"type": "error", "terminal": true, "error": text, "gatewayError": error}))
}

/// Creates the terminal event for a response that exceeds the message limit.
pub(crate) fn too_large() -> EventBody {
    failure(CommandFailure::ResultTooLarge, "the result is too large for the connection")
}

/// Creates the terminal event of a cancelled command.
pub(crate) fn cancelled(reason: &str) -> EventBody {
    (EventType::Done, json!({"type": "done", "cancelled": true, "reason": reason}))
}

/// Creates the terminal event of a successful command.
pub(crate) fn done() -> EventBody {
    (EventType::Done, json!({"type": "done"}))
}

/// Converts a response that is not a stream.
pub(crate) fn whole(status: u16, body: &[u8]) -> Vec<EventBody> {
    if !(200..300).contains(&status) {
        return vec![gateway_error(status, body)];
    }
    let data = match serde_json::from_slice(body) {
        Ok(json) => json,
        Err(_) if body.is_empty() => Value::Null,
        Err(_) => Value::from(String::from_utf8_lossy(body)),
    };
    let result = json!({"type": "result", "statusCode": status, "success": true, "data": data});
    vec![(EventType::Result, result), done()]
}

/// A line of a stream exceeds [`MAX_ANSWER_BYTES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LineTooLong;

/// Splits a stream into lines and converts them into events.
pub(crate) struct StreamParser {
    kind: StreamKind,
    partial_line: Vec<u8>,
}

impl StreamParser {
    pub(crate) const fn new(kind: StreamKind) -> Self {
        Self { kind, partial_line: Vec::new() }
    }

    /// Appends bytes of the stream and returns the events of all complete lines.
    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<Vec<EventBody>, LineTooLong> {
        let mut events = Vec::new();
        let mut pieces = bytes.split(|byte| *byte == b'\n').peekable();
        while let Some(piece) = pieces.next() {
            if self.partial_line.len() + piece.len() > MAX_ANSWER_BYTES {
                return Err(LineTooLong);
            }
            self.partial_line.extend_from_slice(piece);
            if pieces.peek().is_some() {
                self.line(&mut events);
            }
        }
        Ok(events)
    }

    /// Ends the stream and returns the event of its last line, which needs no line break.
    pub(crate) fn finish(mut self) -> Vec<EventBody> {
        let mut events = Vec::new();
        self.line(&mut events);
        events
    }

    fn line(&mut self, events: &mut Vec<EventBody>) {
        let bytes = std::mem::take(&mut self.partial_line);
        let text = String::from_utf8_lossy(&bytes);
        if let Some(line) = content(self.kind, text.trim()) {
            read_line(line, events);
        }
    }
}

fn content(kind: StreamKind, line: &str) -> Option<&str> {
    if kind == StreamKind::Lines {
        return (!line.is_empty()).then_some(line);
    }
    // Per the SSE format, a line that starts with a colon is a comment.
    match line.split_once(':') {
        Some(("data", value)) => Some(value.trim()).filter(|value| !value.is_empty()),
        Some(("" | "event" | "id" | "retry", _)) => None,
        _ => (!line.is_empty()).then_some(line),
    }
}

fn read_line(line: &str, events: &mut Vec<EventBody>) {
    let Ok(json) = serde_json::from_str::<Value>(line) else {
        events.extend(split(line).map(|piece| (EventType::Chunk, json!({"type": "text", "content": piece}))));
        return;
    };
    let kind = match json.get("type").and_then(Value::as_str) {
        Some("status") => EventType::Status,
        Some("error") => EventType::Error,
        Some("result") => EventType::Result,
        Some("done") => EventType::Done,
        Some("text") if line.len() > MAX_CHUNK_BYTES => return split_text(json, events),
        _ => EventType::Chunk,
    };
    events.push((kind, json));
}

/// Splits a long text chunk. Each piece keeps the other members of the object.
fn split_text(json: Value, events: &mut Vec<EventBody>) {
    match json.get("content").and_then(Value::as_str) {
        Some(content) => events.extend(split(content).map(|piece| {
            let mut part = json.clone();
            part["content"] = piece.into();
            (EventType::Chunk, part)
        })),
        None => events.push((EventType::Chunk, json)),
    }
}

/// Splits a text into pieces of at most [`MAX_CHUNK_BYTES`], at character boundaries.
fn split(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let mut end = text.len().min(MAX_CHUNK_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, rest) = text.split_at(end);
        text = rest;
        (!piece.is_empty()).then_some(piece)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(kind: StreamKind, text: &str, piece: usize) -> Vec<EventBody> {
        let mut reader = StreamParser::new(kind);
        let mut events = Vec::new();
        for bytes in text.as_bytes().chunks(piece) {
            events.extend(reader.feed(bytes).unwrap());
        }
        events.extend(reader.finish());
        events
    }

    #[test]
    fn lines_keep_their_type_and_order() {
        let text = "{\"type\":\"status\"}\r\n\n {\"type\":\"text\",\"content\":\"a\"}\nplain\n[1]\n{\"type\":\"error\",\"terminal\":true}";
        let kinds: Vec<EventType> = read(StreamKind::Lines, text, 7).iter().map(|event| event.0).collect();
        use EventType::{Chunk, Error, Status};
        assert_eq!(kinds, [Status, Chunk, Chunk, Chunk, Error]);
        let plain = &read(StreamKind::Lines, text, 3)[2].1;
        assert_eq!(plain, &json!({"type": "text", "content": "plain"}));
    }

    #[test]
    fn server_sent_events_are_unwrapped() {
        let text =
            ": keep-alive\nevent: x\nid: 1\ndata: {\"type\":\"result\"}\n\ndata:\ndata:{\"a\":1}\nodd\n";
        let events = read(StreamKind::ServerSent, text, 5);
        assert_eq!(events.len(), 3);
        assert_eq!(events[0].0, EventType::Result);
        assert_eq!(events[1].1, json!({"a": 1}));
        assert_eq!(events[2].1["content"], "odd");
    }

    #[test]
    fn long_texts_are_split_and_long_lines_rejected() {
        let content = "ä".repeat(300 * 1024);
        let line = json!({"type": "text", "content": content, "of": "x"}).to_string();
        let events = read(StreamKind::Lines, &line, 64 * 1024);
        assert_eq!(events.len(), 3);
        let joined: String = events.iter().map(|event| event.1["content"].as_str().unwrap()).collect();
        assert_eq!(joined, content);
        assert!(events.iter().all(|event| event.1["of"] == "x"));
        let mut reader = StreamParser::new(StreamKind::Lines);
        assert_eq!(reader.feed(&vec![b'x'; MAX_ANSWER_BYTES + 1]), Err(LineTooLong));
    }

    // CL-20
    #[test]
    fn complete_response_is_a_result_or_an_error() {
        let good = whole(200, b"{\"a\":1}");
        assert_eq!(
            good[0].1,
            json!({"type": "result", "statusCode": 200, "success": true, "data": {"a": 1}})
        );
        assert_eq!(good[1].0, EventType::Done);
        assert_eq!(whole(204, b"")[0].1["data"], Value::Null);
        assert_eq!(whole(200, b"text")[0].1["data"], "text");
        let bad = whole(404, b"{\"error\":\"gone\",\"code\":\"not_found\"}");
        assert_eq!(bad[0].1["error"], "gateway returned 404: {\"error\":\"gone\",\"code\":\"not_found\"}");
        assert_eq!(
            bad[0].1["gatewayError"],
            json!({"statusCode": 404, "error": "gone", "code": "not_found"})
        );
        assert_eq!(bad.len(), 1);
        assert_eq!(whole(502, b"<html>")[0].1["gatewayError"], json!({"statusCode": 502}));
    }

    proptest! {
        #[test]
        fn events_do_not_depend_on_the_chunking(text in "(\\PC|\n){0,200}", piece in 1_usize..20) {
            for kind in [StreamKind::Lines, StreamKind::ServerSent] {
                prop_assert_eq!(read(kind, &text, piece), read(kind, &text, text.len().max(1)));
            }
        }
    }
}
