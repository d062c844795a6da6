//! Plays one turn: finds it, takes its steps in order, and streams what they say.
//!
//! Steps before the first words are taken before the headers go out, so that an error there is an
//! HTTP status; after that an error is an event and a drop breaks the connection.

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
use super::script::{Failure, Step, Usage};
use super::wire::{EventWriter, error_body};

/// Streamed pieces that may wait for a slow reader.
const PIECES_AHEAD: usize = 16;
/// Said when a conversation is asked for more turns than its script has.
const OUT_OF_TURNS: &str = "Done.";
/// Said to side requests when the script has no sentence of its own for them.
const SIDE_ANSWER: &str = "Loopgate";

type BodySender = mpsc::Sender<Result<Bytes, std::io::Error>>;

pub(super) async fn answer(api: Api, shared: &Arc<Shared>, body: Value) -> Response {
    let streams = api == Api::Responses || body["stream"] == true;
    let (request, steps, pace) = shared.change(|inner| {
        let (request, found) = ModelRequest::read(api, body, &inner.script);
        let steps = match found {
            Some(index) => {
                let attempt = inner.attempts.entry((index, request.turn)).or_default();
                *attempt += 1;
                let turn = inner.script.conversations[index].turns.get(request.turn);
                due(turn.map_or(&[], |turn| turn.0.as_slice()), *attempt, &request)
            }
            None => vec![Step::text(inner.script.otherwise.as_deref().unwrap_or(SIDE_ANSWER))],
        };
        inner.requests.push(request.clone());
        (request, steps, Duration::from_millis(inner.script.pace_ms))
    });
    let mut steps = steps.into_iter().peekable();
    let mut writer = EventWriter::new(api, request.model());
    while let Some(step) = steps.next_if(|step| !matches!(step, Step::Text(_) | Step::Tool { .. })) {
        match step {
            Step::Delay(ms) => pause(Duration::from_millis(ms)).await,
            Step::Hold(gate) => shared.pass(&gate).await,
            Step::Usage(usage) => writer.usage = usage,
            Step::Error(failure) => return refused(api, &failure),
            Step::Drop { .. } => return broken(),
            Step::Text(_) | Step::Tool { .. } => {}
        }
    }
    let steps: Vec<Step> = steps.collect();
    if let Some(usage) = usage_of(&steps) {
        writer.usage = usage;
    }
    if !streams {
        return whole(shared, writer, steps).await;
    }
    let (pieces, stream) = mpsc::channel(PIECES_AHEAD);
    tokio::spawn(stream_steps(Arc::clone(shared), writer, steps, pieces, pace));
    let headers = [(header::CONTENT_TYPE, "text/event-stream"), (header::CACHE_CONTROL, "no-cache")];
    (headers, Body::from_stream(ReceiverStream::new(stream))).into_response()
}

/// The steps of this attempt, with captures filled in: failures that are over are left out.
fn due(steps: &[Step], attempt: u32, request: &ModelRequest) -> Vec<Step> {
    if steps.is_empty() {
        return vec![Step::text(OUT_OF_TURNS)];
    }
    let over = |times: Option<u32>| times.is_some_and(|times| attempt > times);
    steps
        .iter()
        .filter(|step| match step {
            Step::Error(failure) => !over(failure.times),
            Step::Drop { times } => !over(*times),
            _ => true,
        })
        .map(|step| match step {
            Step::Text(text) => Step::Text(filled(text, request)),
            Step::Tool { name, input } => {
                Step::Tool { name: name.clone(), input: filled_value(input, request) }
            }
            other => other.clone(),
        })
        .collect()
}

fn filled(text: &str, request: &ModelRequest) -> String {
    let mut text = text.to_owned();
    for (name, value) in &request.captures {
        text = text.replace(&format!("{{{{{name}}}}}"), value);
    }
    text
}

fn filled_value(value: &Value, request: &ModelRequest) -> Value {
    match value {
        Value::String(text) => json!(filled(text, request)),
        Value::Array(items) => items.iter().map(|item| filled_value(item, request)).collect(),
        Value::Object(members) => {
            members.iter().map(|(name, value)| (name.clone(), filled_value(value, request))).collect()
        }
        other => other.clone(),
    }
}

async fn stream_steps(
    shared: Arc<Shared>,
    mut writer: EventWriter,
    steps: Vec<Step>,
    pieces: BodySender,
    pace: Duration,
) {
    if !send(&pieces, writer.start()).await {
        return;
    }
    for step in steps {
        let events = match step {
            Step::Text(text) => writer.text(&text),
            Step::Tool { name, input } => writer.tool(&name, &input),
            Step::Error(failure) => {
                send(&pieces, writer.failure(&failure)).await;
                return;
            }
            Step::Drop { .. } => {
                let _ = pieces.send(Err(std::io::ErrorKind::ConnectionAborted.into())).await;
                return;
            }
            Step::Delay(ms) => {
                pause(Duration::from_millis(ms)).await;
                continue;
            }
            Step::Hold(gate) => {
                shared.pass(&gate).await;
                continue;
            }
            Step::Usage(_) => continue,
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

async fn whole(shared: &Shared, mut writer: EventWriter, steps: Vec<Step>) -> Response {
    let mut content = Vec::new();
    for step in steps {
        match step {
            Step::Text(text) => content.push(json!({"type": "text", "text": text})),
            Step::Tool { name, input } => {
                let id = writer.note_tool();
                content.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            }
            Step::Error(failure) => return refused(Api::Messages, &failure),
            Step::Drop { .. } => return broken(),
            Step::Delay(ms) => pause(Duration::from_millis(ms)).await,
            Step::Hold(gate) => shared.pass(&gate).await,
            Step::Usage(_) => {}
        }
    }
    axum::Json(writer.whole(content)).into_response()
}

fn usage_of(steps: &[Step]) -> Option<Usage> {
    steps.iter().rev().find_map(|step| if let Step::Usage(usage) = step { Some(*usage) } else { None })
}

fn refused(api: Api, failure: &Failure) -> Response {
    let status = StatusCode::from_u16(failure.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, axum::Json(error_body(api, failure))).into_response();
    if let Some(seconds) = failure.limit_seconds {
        let reset = jiff::Timestamp::now().as_second() + seconds;
        let headers = response.headers_mut();
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

/// An answer whose connection breaks before its first byte of content.
fn broken() -> Response {
    let error: Result<Bytes, std::io::Error> = Err(std::io::ErrorKind::ConnectionAborted.into());
    Body::from_stream(tokio_stream::once(error)).into_response()
}

async fn send(pieces: &BodySender, event: String) -> bool {
    pieces.send(Ok(Bytes::from(event))).await.is_ok()
}

async fn pause(duration: Duration) {
    if !duration.is_zero() {
        tokio::time::sleep(duration).await;
    }
}
