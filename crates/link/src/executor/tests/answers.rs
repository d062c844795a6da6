//! Conversion of the gateway's responses into events.

use axum::body::Body;
use bytes::Bytes;
use http::{Request, StatusCode};
use loopgate_api::link::{EventType, LinkCommand};
use serde_json::json;
use tokio::sync::mpsc;

use super::{ExecutorFixture, JSON, NDJSON, command, kinds, sequences};
use crate::executor::state::MAX_UNACKNOWLEDGED;
use crate::executor::{CommandHandler as _, InProcess};

fn tokio_stream<T>(mut receiver: mpsc::UnboundedReceiver<T>) -> impl futures_util::Stream<Item = T> {
    futures_util::stream::poll_fn(move |context| receiver.poll_recv(context))
}

#[tokio::test(start_paused = true)]
async fn response_becomes_status_result_and_done() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    assert_eq!(call.request.headers()["x-desktop-gateway-token"], "gateway-token");
    call.answer(200, JSON, "{\"ok\":true}");
    let events = bench.events().await;
    assert_eq!(kinds(&events), [EventType::Status, EventType::Result, EventType::Done]);
    assert_eq!(sequences(&events), [1, 2, 3]);
    let running = json!({"type": "status", "status": "running", "operationId": "git_action"});
    assert_eq!(events[0].data, running);
    assert_eq!(events[1].data["data"], json!({"ok": true}));
}

// CL-20
#[tokio::test(start_paused = true)]
async fn gateway_error_ends_the_command() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    bench.call().await.answer(404, JSON, "{\"error\":\"route not found\"}");
    let last = bench.events().await.pop().unwrap();
    assert_eq!(last.data["error"], "gateway returned 404: {\"error\":\"route not found\"}");
}

// CL-21, CL-22
#[tokio::test(start_paused = true)]
async fn stream_events_keep_their_order_and_end_once() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let lines = "{\"type\":\"status\"}\n{\"type\":\"text\",\"content\":\"x\"}\n{\"type\":\"error\",\"terminal\":true}\n{\"type\":\"text\"}\n";
    bench.call().await.answer(500, NDJSON, lines);
    let events = bench.events().await;
    use EventType::{Chunk, Error, Status};
    assert_eq!(kinds(&events), [Status, Status, Chunk, Error]);
    bench.quiet().await;

    bench.accept(command("b")).await;
    bench.call().await.answer(200, NDJSON, "{\"type\":\"text\",\"content\":\"x\"}");
    assert_eq!(kinds(&bench.events().await), [Status, Chunk, EventType::Done]);
}

#[tokio::test(start_paused = true)]
async fn interrupted_stream_and_panic_end_the_command() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let broken = futures_util::stream::iter([
        Ok(Bytes::from("{\"type\":\"text\"}\n")),
        Err(std::io::Error::other("cut")),
    ]);
    bench.call().await.answer(200, NDJSON, Body::from_stream(broken));
    assert_eq!(
        bench.events().await.pop().unwrap().data["error"],
        "the gateway's response stream was interrupted"
    );
    bench.accept(LinkCommand { path: "/api/gateway/git/panic".into(), ..command("b") }).await;
    assert_eq!(bench.events().await.pop().unwrap().data["error"], "internal error");
    assert_eq!(bench.stats(), (0, 0));
}

// CL-30
#[tokio::test(start_paused = true)]
async fn too_many_unacknowledged_events_end_the_command() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    let (lines, body) = mpsc::unbounded_channel::<Result<Bytes, std::io::Error>>();
    let body = tokio_stream(body);
    call.answer(200, NDJSON, Body::from_stream(body));
    for _ in 0..MAX_UNACKNOWLEDGED {
        let _ = lines.send(Ok("{\"type\":\"text\"}\n".into()));
    }
    // The executor drops the response body when the command is ended.
    lines.closed().await;
    let events = bench.events().await;
    assert_eq!(events.len() as u64, MAX_UNACKNOWLEDGED + 1);
    let last = &events[events.len() - 1].data;
    assert_eq!(last["code"], "buffer_overflow");
    assert_eq!(last["error"], "command event buffer exceeded 10000 unacknowledged events");
}

// CL-30
#[tokio::test(start_paused = true)]
async fn terminal_event_is_accepted_at_the_limit() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let lines = "{\"type\":\"text\"}\n".repeat(usize::try_from(MAX_UNACKNOWLEDGED).unwrap() - 1);
    bench.call().await.answer(200, NDJSON, lines);
    let events = bench.events().await;
    assert_eq!(events.len() as u64, MAX_UNACKNOWLEDGED + 1);
    assert_eq!(events[events.len() - 1].data, json!({"type": "done"}));
}

#[tokio::test(start_paused = true)]
async fn result_above_the_message_limit_is_an_error() {
    let mut bench = ExecutorFixture::online();
    for (id, size) in [("a", 11), ("b", 10)] {
        bench.accept(command(id)).await;
        // JSON escaping doubles each quote, so 10 MiB of quotes exceed the limit as well.
        bench.call().await.answer(200, "text/plain", "\"".repeat(size * 1024 * 1024));
        assert_eq!(bench.events().await.pop().unwrap().data["code"], "result_too_large");
    }
}

#[tokio::test]
async fn in_process_calls_a_tower_service() {
    let router =
        axum::Router::new().route("/x", axum::routing::post(|body: String| async move { body + "!" }));
    let request = Request::post("/x").body(Bytes::from("hi")).unwrap();
    let response = InProcess(router.into_service::<Body>()).call(request).await;
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(axum::body::to_bytes(response.into_body(), 10).await.unwrap(), "hi!");
}
