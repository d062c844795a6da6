//! Reading the events of a loop: pages, increments, and the event stream.

use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use uuid::Uuid;

use super::{TestApp, TestClient};

/// An SSE response and the text that was read but not yet parsed.
struct EventStreamReader(Body, String);

impl EventStreamReader {
    async fn open(client: &TestClient, id: Uuid) -> Self {
        let response = client.response("GET", &format!("/loops/{id}/stream"), None).await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Self(response.into_body(), String::new())
    }

    /// Returns the next event with its id, or `None` at the end of the stream.
    async fn next(&mut self) -> Option<(String, Value)> {
        loop {
            if let Some((event, rest)) = self.1.split_once("\n\n") {
                let (event, rest) = (event.to_owned(), rest.to_owned());
                self.1 = rest;
                let field =
                    |name: &str| event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
                // A keep-alive comment has no data.
                let Some(data) = field("data: ") else { continue };
                return Some((field("id: ")?, serde_json::from_str(&data).unwrap()));
            }
            // A frame may contain several events, or part of one.
            let frame = tokio::time::timeout(Duration::from_secs(10), self.0.frame()).await.unwrap()?;
            let bytes = frame.unwrap().into_data().unwrap();
            self.1.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }

    async fn kinds(mut self) -> Vec<String> {
        let mut kinds = Vec::new();
        while let Some((_, event)) = self.next().await {
            kinds.push(event["type"].as_str().unwrap().to_owned());
        }
        kinds
    }
}

#[tokio::test]
async fn stream_replays_events_follows_new_ones_and_ends_with_the_loop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let mut stream = EventStreamReader::open(&owner, id).await;
    assert_eq!(stream.next().await.unwrap().1["type"], "started");

    runner.event(id, json!({"type": "output", "chunk": "one"})).await;
    let (seen, event) = stream.next().await.unwrap();
    assert_eq!((&event["chunk"], &event["sequence"], &event["id"]), (&json!("one"), &json!(2), &json!(seen)));
    drop(stream);

    // Events that are stored while no stream is open are delivered after `Last-Event-ID`.
    runner.event(id, json!({"type": "output", "chunk": "two"})).await;
    let mut resumed = EventStreamReader::open(&owner.with_header("last-event-id", &seen), id).await;
    assert_eq!(resumed.next().await.unwrap().1["chunk"], "two");
    runner.event(id, json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"})).await;
    assert_eq!(resumed.kinds().await, ["tokens_cleared", "error"]);
    assert_eq!(
        EventStreamReader::open(&owner, id).await.kinds().await,
        ["started", "output", "output", "tokens_cleared", "error"]
    );
}

#[tokio::test]
async fn stream_replays_more_events_than_one_batch() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    // More events than the stream reads from the database at once.
    for n in 0..1_050 {
        assert_eq!(runner.event(id, json!({"type": "output", "chunk": n.to_string()})).await.status, 200);
    }
    plane.owner().await.post(&format!("/loops/{id}/cancel"), json!({})).await;
    let kinds = EventStreamReader::open(&plane.owner().await, id).await.kinds().await;
    assert_eq!(kinds.len(), 1_053);
    assert_eq!(kinds.last().unwrap(), "cancelled");
}

// Each event has 3 MB, and a response ends at 8 MiB.
#[tokio::test]
async fn large_events_are_read_in_smaller_pages() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    for kind in ["started", "output", "output", "output", "output", "output"] {
        let chunk = "x".repeat(3_000_000);
        assert_eq!(runner.event(id, json!({"type": kind, "chunk": chunk})).await.status, 200);
    }
    let first = owner.get(&format!("/loops/{id}/events")).await;
    assert_eq!(first.json["data"].as_array().map(Vec::len), Some(3), "{:.300}", first.text);
    let next = owner.get(&format!("/loops/{id}/events?after=3")).await;
    assert_eq!(next.json["data"][0]["sequence"], 4);
    let page = owner.get(&format!("/loops/{id}/events?limit=10")).await;
    let page = &page.json["data"];
    assert_eq!((page["data"].as_array().map(Vec::len), &page["total"]), (Some(3), &json!(6)));
    owner.post(&format!("/loops/{id}/cancel"), json!({})).await;
    assert_eq!(
        EventStreamReader::open(&owner, id).await.kinds().await.len(),
        8,
        "the stream has all of them"
    );
}

#[tokio::test]
async fn stream_errors_are_plain_text() {
    let plane = TestApp::start().await;
    let (id, _) = plane.running("PLAN").await;
    let anonymous = plane.anonymous().get(&format!("/loops/{id}/stream")).await;
    assert_eq!((anonymous.status.as_u16(), anonymous.text.as_str()), (401, "Unauthorized"));
    let unknown = plane.owner().await.get(&format!("/loops/{}/stream", Uuid::new_v4())).await;
    assert_eq!((unknown.status.as_u16(), unknown.text.as_str()), (404, "Loop not found"));
}

#[tokio::test]
async fn events_are_paginated_and_read_incrementally() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    for chunk in ["a", "b", "c"] {
        runner.event(id, json!({"type": "output", "chunk": chunk})).await;
    }
    let path = format!("/loops/{id}/events");
    let all = owner.get(&path).await;
    let all = all.json["data"].as_array().unwrap();
    assert_eq!(all.len(), 4);
    let page = owner.get(&format!("{path}?type=output&limit=2&offset=1&sort=desc")).await;
    let chunks: Vec<&Value> =
        page.data("data").as_array().unwrap().iter().map(|event| &event["chunk"]).collect();
    assert_eq!((chunks, page.data("total")), (vec![&json!("b"), &json!("a")], &json!(3)));

    let (since, since_id) = (all[1]["storedAt"].as_str().unwrap(), all[1]["id"].as_str().unwrap());
    let rest = owner.get(&format!("{path}?since={since}&sinceId={since_id}")).await;
    assert_eq!(rest.json["data"], json!(all[2..]));
    for query in ["since=yesterday", "limit=501", "sort=up", "sinceId=x"] {
        assert_eq!(owner.get(&format!("{path}?{query}")).await.status, 400, "{query}");
    }
    assert_eq!(
        owner.get(&format!("/loops/{}/events", Uuid::new_v4())).await.refused(),
        (404, "Loop not found")
    );
}

#[tokio::test]
async fn desktop_presence_is_streamed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let body = json!({"machineName": "bench", "platform": "linux", "supportedOperations": []});
    let created = owner.post("/compute-targets/register", body).await;
    let response = owner.response("GET", "/compute-targets/status-stream", None).await;
    let mut stream = response.into_body();
    let mut next = async || {
        let frame = tokio::time::timeout(Duration::from_secs(10), stream.frame()).await.unwrap().unwrap();
        String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap()
    };
    assert!(next().await.contains("\"isOnline\":true"));
    // A cutoff in the future makes every desktop stale, without waiting 90 seconds.
    crate::dispatch::presence::sweep(&plane.app, crate::store::now() + 1).await.unwrap();
    let change = next().await;
    assert!(change.contains("\"isOnline\":false") && change.contains(created.data("id").as_str().unwrap()));
}

#[tokio::test]
async fn streams_of_one_person_are_limited() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let path = "/compute-targets/status-stream";
    let mut open = Vec::new();
    for _ in 0..64 {
        let response = owner.response("GET", path, None).await;
        assert_eq!(response.status(), 200);
        open.push(response);
    }
    let refused = owner.get(path).await;
    assert_eq!(
        (refused.status.as_u16(), refused.text.as_str()),
        (429, "Too many open streams; close some of them")
    );
    assert_eq!(
        member.response("GET", path, None).await.status(),
        200,
        "the streams of others are not limited"
    );
    assert_eq!(owner.get("/compute-targets").await.status, 200);
    // The end of a stream makes room. Its task notices the end on its own, hence the loop.
    open.clear();
    tokio::time::timeout(std::time::Duration::from_secs(20), async {
        while owner.response("GET", path, None).await.status() != 200 {
            tokio::task::yield_now().await;
        }
    })
    .await
    .unwrap();
}
