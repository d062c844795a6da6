//! Plays one turn of a conversation and streams it as the response.
//!
//! Steps before the first content are executed before the response headers are sent, so that an error there
//! becomes an HTTP status. Later errors become error events of the stream, and a drop aborts the connection.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;

use super::Shared;
use super::request::{Api, ModelRequest};
use super::script::{Failure, ModelStep, ModelUsage};
use super::wire::{EventWriter, error_body};

/// Buffered pieces of a stream; the writer waits when the client reads more slowly.
const PIECES_AHEAD: usize = 16;
/// Text of turns beyond the end of a conversation's script.
const TURN_AFTER_END: &str = "Done.";
/// Text for side requests when the script defines none.
const SIDE_ANSWER: &str = "Loopgate";

type BodySender = mpsc::Sender<Result<Bytes, std::io::Error>>;

pub(super) async fn answer(api: Api, shared: &Arc<Shared>, body: Value) -> Response {
    // The Responses API is implemented as a stream only; the reviewer never requests anything else.
    let streams = api == Api::Responses || body["stream"] == true;
    let (request, steps, pace) = shared.change(|inner| {
        let (request, conversation) = ModelRequest::read(api, body, &inner.script);
        let steps = match conversation {
            Some(index) => {
                let attempt = inner.attempts.entry((index, request.turn)).or_default();
                // Counted per turn: a client's retry repeats the request, so it matches the same turn.
                *attempt += 1;
                let turn = inner.script.conversations[index].turns.get(request.turn);
                steps_of_attempt(turn.map_or(&[], |turn| turn.0.as_slice()), *attempt, &request)
            }
            None => vec![ModelStep::text(inner.script.otherwise.as_deref().unwrap_or(SIDE_ANSWER))],
        };
        inner.requests.push(request.clone());
        (request, steps, Duration::from_millis(inner.script.pace_ms))
    });
    let mut steps = steps.into_iter().peekable();
    let mut writer = EventWriter::new(api, request.model());
    while let Some(step) = steps.next_if(|step| !matches!(step, ModelStep::Text(_) | ModelStep::Tool { .. }))
    {
        match step {
            ModelStep::Delay(ms) => pause(Duration::from_millis(ms)).await,
            ModelStep::Hold(gate) => shared.pass(&gate).await,
            ModelStep::Usage(usage) => writer.usage = usage,
            ModelStep::Error(failure) => return error_response(api, &failure),
            ModelStep::Drop { .. } => return aborted_response(),
            // The loop condition excludes these.
            ModelStep::Text(_) | ModelStep::Tool { .. } => {}
        }
    }
    let steps: Vec<ModelStep> = steps.collect();
    // The stream reports usage in its first event, so a usage step later in the turn is applied up front.
    if let Some(usage) = usage_of(&steps) {
        writer.usage = usage;
    }
    if !streams {
        return whole(shared, writer, steps).await;
    }
    let (pieces, stream) = mpsc::channel(PIECES_AHEAD);
    // A separate task: the response headers are sent while it still produces events.
    tokio::spawn(stream_steps(Arc::clone(shared), writer, steps, pieces, pace));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(ReceiverStream::new(stream))).into_response()
}

/// Returns the steps to execute in this attempt, with captures filled in. Failures that are limited to
/// earlier attempts are skipped.
fn steps_of_attempt(steps: &[ModelStep], attempt: u32, request: &ModelRequest) -> Vec<ModelStep> {
    if steps.is_empty() {
        return vec![ModelStep::text(TURN_AFTER_END)];
    }
    let is_exhausted = |times: Option<u32>| times.is_some_and(|times| attempt > times);
    steps
        .iter()
        .filter(|step| match step {
            ModelStep::Error(failure) => !is_exhausted(failure.times),
            ModelStep::Drop { times } => !is_exhausted(*times),
            _ => true,
        })
        .map(|step| match step {
            ModelStep::Text(text) => ModelStep::Text(fill(text, request)),
            ModelStep::Tool { name, input } => {
                ModelStep::Tool { name: name.clone(), input: fill_value(input, request) }
            }
            other => other.clone(),
        })
        .collect()
}

fn fill(text: &str, request: &ModelRequest) -> String {
    let mut text = text.to_owned();
    for (name, value) in &request.captures {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}

fn fill_value(value: &Value, request: &ModelRequest) -> Value {
    match value {
        Value::String(text) => json!(fill(text, request)),
        Value::Array(items) => items.iter().map(|item| fill_value(item, request)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), fill_value(value, request))).collect()
        }
        other => other.clone(),
    }
}

async fn stream_steps(
    shared: Arc<Shared>,
    mut writer: EventWriter,
    steps: Vec<ModelStep>,
    pieces: BodySender,
    pace: Duration,
) {
    if !send(&pieces, writer.start()).await {
        return;
    }
    for step in steps {
        let events = match step {
            ModelStep::Text(text) => writer.text(&text),
            ModelStep::Tool { name, input } => writer.tool(&name, &input),
            ModelStep::Error(failure) => {
                send(&pieces, writer.failure(&failure)).await;
                return;
            }
            ModelStep::Drop { .. } => {
                // The client may have closed the connection first.
                let _ = pieces.send(Err(std::io::ErrorKind::ConnectionAborted.into())).await;
                return;
            }
            ModelStep::Delay(ms) => {
                pause(Duration::from_millis(ms)).await;
                continue;
            }
            ModelStep::Hold(gate) => {
                shared.pass(&gate).await;
                continue;
            }
            ModelStep::Usage(_) => continue,
        };
        for event in events {
            if !send(&pieces, event).await {
                return;
            }
            pause(pace).await;
        }
    }
    for event in writer.end() {
        send(&pieces, event).await;
    }
}

async fn whole(shared: &Shared, mut writer: EventWriter, steps: Vec<ModelStep>) -> Response {
    let mut content = Vec::new();
    for step in steps {
        match step {
            ModelStep::Text(text) => content.push(json!({"type": "text", "text": text})),
            ModelStep::Tool { name, input } => {
                let id = writer.add_tool_call();
                content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            }
            ModelStep::Error(failure) => return error_response(Api::Messages, &failure),
            ModelStep::Drop { .. } => return aborted_response(),
            ModelStep::Delay(ms) => pause(Duration::from_millis(ms)).await,
            ModelStep::Hold(gate) => shared.pass(&gate).await,
            ModelStep::Usage(_) => {}
        }
    }
    axum::Json(writer.whole(content)).into_response()
}

fn usage_of(steps: &[ModelStep]) -> Option<ModelUsage> {
    steps.iter().rev().find_map(|step| if let ModelStep::Usage(usage) = step { Some(*usage) } else { None })
}

fn error_response(api: Api, failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(error_body(api, failure))).into_response();
    if let Some(seconds) = failure.limit_seconds {
        let reset = jiff::Timestamp::now().as_second() + seconds;
        let headers = response.headers_mut();
        // Without it, the assistant's SDK would retry on its own instead of reporting the limit.
        headers.insert("x-should-retry", HeaderValue::from_static("false"));
        headers.insert("anthropic-ratelimit-unified-status", HeaderValue::from_static("rejected"));
        headers.insert("anthropic-ratelimit-unified-reset", HeaderValue::from(reset));
        headers.insert(
            "anthropic-ratelimit-unified-representative-claim",
            HeaderValue::from_static("five_hour"),
        );
    }
    response
}

/// Returns a response whose connection is aborted before the first byte of the body.
fn aborted_response() -> Response {
    let error: Result<Bytes, std::io::Error> = Err(std::io::ErrorKind::ConnectionAborted.into());
    Body::from_stream(tokio_stream::once(error)).into_response()
}

// The receiver is dropped when the client disconnects: the caller stops the turn then.
async fn send(pieces: &BodySender, event: String) -> bool {
    pieces.send(Ok(Bytes::from(event))).await.is_ok()
}

async fn pause(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}
