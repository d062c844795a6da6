//! Which commands are taken, when each has its turn, and how it is ended.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::link::LinkCommand;
use serde_json::json;
use tokio::time::Instant;

use super::{ExecutorFixture, JSON, command, in_repo};
use crate::executor::InMemoryCommandLog;
use crate::executor::state::MAX_QUEUED;

// CL-12, CL-34, CL-36
#[tokio::test(start_paused = true)]
async fn refusals_come_in_their_order() {
    let bench = ExecutorFixture::with(Arc::new(InMemoryCommandLog::default()), false);
    assert_eq!(
        bench.refuse(LinkCommand { path: "/other".into(), ..command("a") }).await,
        "onboarding not completed"
    );
    let mut bench = ExecutorFixture::online();
    for path in ["/other", "/api/gateway/nope", "/api/gateway/internal/browser-key/revoke", ""] {
        let odd = LinkCommand { path: path.into(), ..command("a") };
        assert_eq!(bench.refuse(odd).await, "operationId/path mismatch", "{path}");
    }
    assert_eq!(bench.refuse(command("")).await, "commandId is required");
    assert_eq!(
        bench.refuse(LinkCommand { method: "TRACE".into(), ..command("a") }).await,
        "unsupported method"
    );
    bench.executor.set_paused(true);
    assert_eq!(bench.refuse(command("")).await, "cloud commands paused by user");
    bench.executor.set_gateway_lost(Some("the listener was lost".to_owned()));
    assert_eq!(bench.refuse(command("a")).await, "gateway recovering: the listener was lost");
    assert!(bench.no_call());
}

// CL-13, CL-14
#[tokio::test(start_paused = true)]
async fn one_id_runs_once() {
    let mut bench = ExecutorFixture::online();
    bench.accept(command("a")).await;
    let call = bench.call().await;
    bench.accept(command("a")).await;
    call.answer(200, JSON, "{}");
    let first = bench.events().await;
    for event in &first {
        bench.ack(event);
    }
    bench.quiet().await;
    // What an ended command still has is sent again from the start.
    bench.accept(command("a")).await;
    assert_eq!(bench.events().await, first);
    assert!(bench.no_call());
}

// CL-16
#[tokio::test(start_paused = true)]
async fn two_run_and_the_others_wait_in_order() {
    let mut bench = ExecutorFixture::online();
    for id in ["a", "b", "c", "d"] {
        bench.accept(command(id)).await;
    }
    assert_eq!(bench.stats(), (2, 2));
    let (first, second) = (bench.call().await, bench.call().await);
    assert!(bench.no_call());
    second.answer(200, JSON, "{}");
    let third = bench.call().await;
    assert_eq!(third.request.headers()["x-desktop-operation-id"], "git_action");
    assert_eq!(bench.stats(), (2, 1));
    first.answer(200, JSON, "{}");
    third.answer(200, JSON, "{}");
    bench.call().await.answer(200, JSON, "{}");
    let mut ended = Vec::new();
    while ended.len() < 4 {
        let event = bench.event().await;
        if event.is_terminal() {
            ended.push(event.command_id);
        }
    }
    assert_eq!(ended.last().map(String::as_str), Some("d"));
}

// CL-15
#[tokio::test(start_paused = true)]
async fn locked_key_does_not_block_other_keys() {
    let mut bench = ExecutorFixture::online();
    bench.accept(in_repo("a", "/no/such/repo")).await;
    bench.accept(in_repo("b", "/no/such/repo/")).await;
    bench.accept(command("c")).await;
    let (first, other) = (bench.call().await, bench.call().await);
    assert!(!first.request.body().is_empty() && other.request.body().is_empty(), "the third one overtook");
    assert_eq!(bench.stats(), (2, 1));
    other.answer(200, JSON, "{}");
    bench.events().await;
    assert!(bench.no_call(), "there is room, but not for this lock");
    first.answer(200, JSON, "{}");
    assert!(!bench.call().await.request.body().is_empty());
}

// CL-17
#[tokio::test(start_paused = true)]
async fn cancelling_ends_what_waits_and_what_runs() {
    let mut bench = ExecutorFixture::online();
    bench.accept(in_repo("a", "/no/such/repo")).await;
    bench.accept(in_repo("b", "/no/such/repo")).await;
    let call = bench.call().await;
    bench.cancel("b", None).await;
    bench.cancel("a", Some("changed my mind")).await;
    bench.cancel("unknown", None).await;
    call.given_up().await;
    let mut ends = BTreeMap::new();
    while ends.len() < 3 {
        let event = bench.event().await;
        if event.is_terminal() {
            ends.insert(event.command_id.clone(), event);
        }
    }
    assert_eq!(ends["a"].data, json!({"type": "done", "cancelled": true, "reason": "changed my mind"}));
    assert_eq!(ends["b"].data, json!({"type": "done", "cancelled": true, "reason": "cancelled"}));
    assert_eq!(ends["b"].sequence, 1, "it never ran");
    assert_eq!(ends["unknown"].data, json!({"type": "done", "cancelled": true, "reason": "cancelled"}));
    bench.accept(command("unknown")).await;
    assert!(bench.no_call(), "what comes after its cancellation does not run");
    bench.cancel("a", None).await;
    loop {
        let event = bench.event().await;
        if event.command_id == "a" && event.is_terminal() {
            assert_eq!(event, ends["a"], "what has ended says so again");
            break;
        }
    }
}

// CL-18
#[tokio::test(start_paused = true)]
async fn command_ends_at_its_own_limit() {
    let mut bench = ExecutorFixture::online();
    bench.accept(LinkCommand { timeout_ms: Some(50), ..command("a") }).await;
    let call = bench.call().await;
    let start = Instant::now();
    let last = bench.events().await.pop().unwrap();
    assert_eq!(
        last.data,
        json!({"type": "error", "terminal": true, "error": "command timed out", "code": "timeout"})
    );
    assert_eq!(start.elapsed(), Duration::from_millis(50));
    call.given_up().await;
}

// CL-19, CL-52
#[tokio::test(start_paused = true)]
async fn silent_gateway_frees_its_slot() {
    for (path, wait) in [
        ("git", 60),
        ("orchestrator/loop", 600),
        ("orchestrator/loop/kill", 600),
        ("reviewer/review/T-1", 600),
        ("reviewer/available", 60),
        ("deploy", 600),
    ] {
        let mut bench = ExecutorFixture::online();
        let start = Instant::now();
        bench.accept(LinkCommand { path: format!("/api/gateway/{path}"), ..command("a") }).await;
        let call = bench.call().await;
        let last = bench.events().await.pop().unwrap();
        assert_eq!(last.data["error"], "gateway response timeout");
        assert_eq!(start.elapsed().as_secs(), wait, "{path}");
        call.given_up().await;
        assert_eq!(bench.stats(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn queue_is_bounded() {
    let bench = ExecutorFixture::new();
    for n in 0..MAX_QUEUED {
        bench.accept(command(&n.to_string())).await;
    }
    assert_eq!(bench.refuse(command("one more")).await, "queue full");
}
