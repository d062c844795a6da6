//! Admission, queue order, locks, cancellation and timeouts.

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
async fn rejections_are_checked_in_order() {
    let bench = ExecutorFixture::with(Arc::new(InMemoryCommandLog::default()), false);
    assert_eq!(
        bench.reject(LinkCommand { path: "/other".into(), ..command("a") }).await,
        "onboarding not completed"
    );
    let mut bench = ExecutorFixture::online();
    for path in ["/other", "/api/gateway/nope", "/api/gateway/internal/browser-key/revoke", ""] {
        let odd = LinkCommand { path: path.into(), ..command("a") };
        assert_eq!(bench.reject(odd).await, "operationId/path mismatch", "{path}");
    }
    assert_eq!(bench.reject(command("")).await, "commandId is required");
    assert_eq!(
        bench.reject(LinkCommand { method: "TRACE".into(), ..command("a") }).await,
        "unsupported method"
    );
    bench.executor.set_paused(true);
    assert_eq!(bench.reject(command("")).await, "cloud commands paused by user");
    bench.executor.set_gateway_unreachable(Some("the listener was lost".to_owned()));
    assert_eq!(bench.reject(command("a")).await, "gateway recovering: the listener was lost");
    assert!(bench.no_call());
}

// CL-13, CL-14
#[tokio::test(start_paused = true)]
async fn repeated_command_runs_once() {
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
    // A repeated command after the end replays all retained events, including acknowledged ones.
    bench.accept(command("a")).await;
    assert_eq!(bench.events().await, first);
    assert!(bench.no_call());
}

// CL-16
#[tokio::test(start_paused = true)]
async fn two_commands_run_and_the_others_are_queued_in_order() {
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
    assert!(
        !first.request.body().is_empty() && other.request.body().is_empty(),
        "the third command does not wait for the lock"
    );
    assert_eq!(bench.stats(), (2, 1));
    other.answer(200, JSON, "{}");
    bench.events().await;
    assert!(bench.no_call(), "a slot is free, but the lock is held");
    first.answer(200, JSON, "{}");
    assert!(!bench.call().await.request.body().is_empty());
}

// CL-17
#[tokio::test(start_paused = true)]
async fn cancel_ends_queued_running_and_unknown_commands() {
    let mut bench = ExecutorFixture::online();
    bench.accept(in_repo("a", "/no/such/repo")).await;
    bench.accept(in_repo("b", "/no/such/repo")).await;
    let call = bench.call().await;
    bench.cancel("b", None).await;
    bench.cancel("a", Some("changed my mind")).await;
    bench.cancel("unknown", None).await;
    call.cancelled().await;
    let mut ends = BTreeMap::new();
    while ends.len() < 3 {
        let event = bench.event().await;
        if event.is_terminal() {
            ends.insert(event.command_id.clone(), event);
        }
    }
    assert_eq!(ends["a"].data, json!({"type": "done", "cancelled": true, "reason": "changed my mind"}));
    assert_eq!(ends["b"].data, json!({"type": "done", "cancelled": true, "reason": "cancelled"}));
    assert_eq!(ends["b"].sequence, 1, "the queued command never ran");
    assert_eq!(ends["unknown"].data, json!({"type": "done", "cancelled": true, "reason": "cancelled"}));
    bench.accept(command("unknown")).await;
    assert!(bench.no_call(), "a command that arrives after its cancellation does not run");
    // The server repeats a cancellation until it has the terminal event.
    bench.cancel("a", None).await;
    loop {
        let event = bench.event().await;
        if event.command_id == "a" && event.is_terminal() {
            assert_eq!(event, ends["a"], "an ended command replays its terminal event");
            break;
        }
    }
}

// CL-18
#[tokio::test(start_paused = true)]
async fn command_ends_at_its_timeout() {
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
    call.cancelled().await;
}

// CL-19, CL-52
#[tokio::test(start_paused = true)]
async fn gateway_timeout_frees_the_slot() {
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
        call.cancelled().await;
        assert_eq!(bench.stats(), (0, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn queue_is_bounded() {
    let bench = ExecutorFixture::new();
    for n in 0..MAX_QUEUED {
        bench.accept(command(&n.to_string())).await;
    }
    assert_eq!(bench.reject(command("one more")).await, "queue full");
}
