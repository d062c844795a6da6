//! The log of a loop: its tail, ranges before it, searches, and complete values.

use loopgate_api::event_body::{EventBody, ToolCallEvent};
use serde_json::{Value, json};
use uuid::Uuid;

use super::{TestApp, TestClient, TestResponse};

fn call(id: &str, tool: &str, category: &str, input: Value) -> Value {
    json!({"type": "tool_call", "status": "start", "tool": tool, "callId": id, "category": category, "input": input})
}

fn end(id: &str, tool: &str, category: &str, output: &str, code: i64) -> Value {
    json!({"type": "tool_call", "status": "end", "tool": tool, "callId": id, "category": category,
        "output": output, "exitCode": code, "isError": code != 0, "durationMs": 40, "size": output.len()})
}

/// Starts a loop with the output of a runner: event 1 is its start.
async fn logged(plane: &TestApp, parts: Vec<Value>) -> Uuid {
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    let output = json!({"type": "output", "data": {"chunk": "summary", "parts": parts}});
    assert_eq!(runner.event(id, output).await.status, 200);
    id
}

fn sequences(reply: &TestResponse) -> Vec<i64> {
    let events = reply.data("events").as_array().unwrap_or_else(|| panic!("{}", reply.text));
    events.iter().map(|event| event["sequence"].as_i64().unwrap()).collect()
}

async fn range(owner: &TestClient, id: Uuid, query: &str) -> TestResponse {
    owner.get(&format!("/loops/{id}/events?{query}")).await
}

#[tokio::test]
async fn tail_and_the_ranges_before_it_are_the_whole_log() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let lines = (1..=11).map(|n| json!({"type": "output", "role": "note", "chunk": n.to_string()})).collect();
    let id = logged(&plane, lines).await;

    let tail = range(&owner, id, "tail=5").await;
    assert_eq!(sequences(&tail), [8, 9, 10, 11, 12]);
    assert_eq!((tail.data("lastSequence"), tail.data("before")), (&json!(12), &json!(8)));
    let middle = range(&owner, id, "before=8&limit=5").await;
    assert_eq!(sequences(&middle), [3, 4, 5, 6, 7]);
    let start = range(&owner, id, "before=3&limit=5").await;
    assert_eq!((sequences(&start), start.json["data"].get("before")), (vec![1, 2], None));
    let everything = range(&owner, id, "tail=500").await;
    assert_eq!((sequences(&everything).len(), everything.json["data"].get("before")), (12, None));
    for query in ["tail=0", "tail=501", "before=x", "about=everything"] {
        assert_eq!(range(&owner, id, query).await.status, 400, "{query}");
    }
}

#[tokio::test]
async fn tail_of_a_loop_without_events_is_empty() {
    let plane = TestApp::start().await;
    let (id, _) = plane.running("EXECUTE").await;
    let tail = range(&plane.owner().await, id, "tail=500").await;
    assert_eq!(tail.json["data"], json!({"events": [], "lastSequence": 0}));
}

// A page that opens the log transfers less than 300 KB, whatever runners have sent.
#[tokio::test]
async fn ranges_are_limited_in_bytes() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    for _ in 0..20 {
        let lines = "a line of the log of an earlier runner\n".repeat(800);
        assert_eq!(runner.event(id, json!({"type": "output", "chunk": lines})).await.status, 200);
    }
    let (mut before, mut events) = (String::new(), 0);
    loop {
        let page = range(&owner, id, &format!("tail=500{before}")).await;
        assert!(page.text.len() < 300_000, "{} bytes", page.text.len());
        events += sequences(&page).len();
        match page.json["data"]["before"].as_i64() {
            Some(sequence) => before = format!("&before={sequence}"),
            None => break,
        }
    }
    assert_eq!(events, 21);
}

#[tokio::test]
async fn complete_values_are_returned_for_one_event_only() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let long = format!("{}the end", "line\n".repeat(40_000));
    let content = json!({"file_path": "a.txt", "content": long});
    let parts = vec![call("1", "Write", "file", content.clone()), end("2", "Bash", "command", &long, 0)];
    let id = logged(&plane, parts).await;
    for query in ["", "?tail=500", "?limit=10", "?after=1"] {
        let list = owner.get(&format!("/loops/{id}/events{query}")).await;
        assert!(list.status == 200 && list.text.len() < 4_000, "{query}: {} bytes", list.text.len());
        assert!(list.text.contains("a.txt") && !list.text.contains("the end"), "{query}");
    }
    let event = owner.get(&format!("/loops/{id}/events/2")).await;
    assert_eq!((event.data("input"), event.data("sequence")), (&content, &json!(2)));
    let event = owner.get(&format!("/loops/{id}/events/3")).await;
    assert_eq!((event.data("output"), event.data("size")), (&json!(long), &json!(200_007)));
    assert_eq!(event.json["data"].get("isShortened"), None);
    for path in [format!("/loops/{id}/events/9"), format!("/loops/{}/events/1", Uuid::now_v7())] {
        assert_eq!(owner.get(&path).await.status, 404, "{path}");
    }
}

#[tokio::test]
async fn search_ignores_case_and_reads_complete_values() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let hidden = format!("{}Needle Ünder \"hay\"", "x".repeat(5_000));
    let id = logged(
        &plane,
        vec![
            json!({"type": "output", "role": "assistant", "chunk": "A NEEDLE in prose"}),
            call("1", "Bash", "command", json!({"command": "grep needle ."})),
            end("1", "Bash", "command", &hidden, 0),
            json!({"type": "output", "role": "note", "chunk": "nothing"}),
        ],
    )
    .await;
    assert_eq!(sequences(&range(&owner, id, "text=needle").await), [2, 3, 4]);
    assert_eq!(sequences(&range(&owner, id, "text=%C3%BCnder%20%22hay").await), [4]);
    assert_eq!(sequences(&range(&owner, id, "text=assistant").await), [0_i64; 0], "only what users see");
    let newest = range(&owner, id, "text=needle&limit=1").await;
    assert_eq!((sequences(&newest), newest.data("before")), (vec![4], &json!(4)));
    assert_eq!(sequences(&range(&owner, id, "text=needle&before=4").await), [2, 3]);
}

#[tokio::test]
async fn events_are_filtered_by_their_subject() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let id = logged(
        &plane,
        vec![
            call("1", "Bash", "command", json!({"command": "npm test"})),
            end("1", "Bash", "command", "Exit code 1", 1),
            call("2", "Read", "file", json!({"file_path": "a"})),
            end("2", "Read", "file", "text", 0),
            json!({"type": "output", "role": "error", "chunk": "API error"}),
        ],
    )
    .await;
    assert_eq!(sequences(&range(&owner, id, "about=errors").await), [3, 6]);
    assert_eq!(sequences(&range(&owner, id, "about=commands").await), [2, 3]);
    assert_eq!(sequences(&range(&owner, id, "about=files").await), [4, 5]);
    assert_eq!(sequences(&range(&owner, id, "about=commands&text=exit").await), [3]);
}

#[tokio::test]
async fn replayed_output_stores_no_part_twice() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("EXECUTE").await;
    runner.event(id, json!({"type": "started"})).await;
    let parts = vec![json!({"type": "output", "role": "note", "chunk": "one"}); 3];
    let output = json!({"type": "output", "data": {"chunk": "one", "parts": parts,
        "tokenUsage": {"inputTokens": 5, "outputTokens": 1}}});
    let nonce = Uuid::new_v4();
    assert_eq!(runner.event_with(id, nonce, output.clone()).await.status, 200);
    assert_eq!(runner.event_with(id, nonce, output).await.status, 409);
    let owner = plane.owner().await;
    assert_eq!(sequences(&range(&owner, id, "tail=500").await), [1, 2, 3, 4, 5]);
    assert_eq!(owner.get(&format!("/loops/{id}")).await.data("tokensInput"), &json!(5));
}

/// Events as earlier versions stored them.
#[tokio::test]
async fn stored_events_of_earlier_versions_are_typed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, _) = plane.running("EXECUTE").await;
    let stored = [
        ("output", json!({"chunk": "Tool: Read(a)", "tokenUsage": {"inputTokens": 1, "outputTokens": 1}})),
        ("output", json!({"chunk": "queued", "queue": {"place": 1, "waiting": 2}})),
        ("output", json!({"chunk": "stuck", "stillness": {"state": "stuck"}})),
        ("tool_call", json!({"tool": "Read", "status": "end", "output": {"any": true}})),
        ("teleported", json!({"chunk": "of a later version"})),
        ("error", json!({"code": "X", "message": "m", "type": "output", "sequence": 99})),
    ];
    let tx = plane.app.store.begin().await.unwrap();
    for (kind, data) in stored {
        let event = crate::loop_state::NewEvent::internal(kind, Uuid::now_v7(), data);
        crate::loop_state::append(&tx, id, event).await.unwrap();
    }
    tx.commit().await.unwrap();
    let tail = range(&owner, id, "tail=500").await;
    let events = tail.data("events").as_array().unwrap();
    let kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["output", "queue", "stall", "tool_call", "unreadable", "error"]);
    assert_eq!((&events[4]["kind"], &events[5]["sequence"]), (&json!("teleported"), &json!(6)));
    let read = serde_json::from_value::<EventBody>(events[3].clone()).unwrap();
    assert!(matches!(read, EventBody::ToolCall(ToolCallEvent::End(_))), "{read:?}");
}
