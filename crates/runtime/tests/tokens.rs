//! Runner tokens: rejected, refreshed once for all callers, and retried with the same key after an
//! interruption.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod support;

use loopgate_api::job::JobStatus;
use serde_json::json;
use support::{Desktop, new_id, request, start};

const REJECTED: &str = "Invalid or expired runner token";

// LR-47
#[tokio::test(flavor = "multi_thread")]
async fn rejected_token_is_renewed_and_the_event_keeps_its_nonce() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("wait_for_signal go\n{}", support::PLANS));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop
        .eventually("the first heartbeat", || async {
            desktop.cloud.requests().iter().any(|h| h.route == "heartbeat").then_some(())
        })
        .await;
    desktop.cloud.answer_once("events", 401, json!({"success": false, "error": REJECTED}));
    desktop.signal("go");
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Completed);
    let received = desktop.cloud.requests();
    assert_eq!(received.iter().filter(|h| h.route == "refresh-token").count(), 1);
    let rejected = received.iter().find(|h| h.status == 401).unwrap();
    let retried = received.iter().find(|h| h.nonce == rejected.nonce && h.status == 200).unwrap();
    assert_eq!((rejected.token.as_str(), retried.token.as_str()), ("token-1", "token-2"));
    assert_eq!(rejected.body, retried.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_refresh_race_is_retried_with_a_new_key() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    let lost = || json!({"success": false, "error": "race", "code": "RACE_LOST"});
    desktop.driver("wait_for_signal go");
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.cloud.answer_always("refresh-token", 409, lost());
    desktop.cloud.answer_always("events", 401, json!({"success": false, "error": REJECTED}));
    desktop.signal("go");
    let keys = desktop
        .eventually("two refresh requests", || async {
            let received = desktop.cloud.requests();
            let keys: Vec<String> =
                received.into_iter().filter(|h| h.route == "refresh-token").map(|h| h.nonce).collect();
            (keys.len() >= 2).then_some(keys)
        })
        .await;
    assert_ne!(keys[0], keys[1]);
    desktop.cloud.answer_successfully();
    desktop.reported(&runtime, id).await;
}

// LR-63
#[tokio::test(flavor = "multi_thread")]
async fn lost_response_counts_as_delivered() {
    let desktop = Desktop::new().await;
    // It prints nothing, so the final event is the only message to send.
    desktop.driver("wait_for_signal go\nprintf '{\"content\":\"# Plan\"}' > \"$W/plan.json\"");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    desktop.has_reported_all().await;
    // The control plane records the event, but its response is lost; the retry is a replay.
    let lost = json!({"success": false, "error": "Failed to record loop event"});
    let replay = json!({"success": false, "error": "Replay detected"});
    desktop.cloud.answer_once("events", 500, lost);
    desktop.cloud.answer_once("events", 409, replay);
    desktop.signal("go");
    let job = desktop.reported(&runtime, id).await;
    assert!(job.report.completed_event_posted_at.is_some() && job.warnings().is_empty(), "{job:?}");
    let received = desktop.cloud.requests();
    let failed = received.iter().find(|h| h.status == 500).unwrap();
    let tries: Vec<u16> = received.iter().filter(|h| h.nonce == failed.nonce).map(|h| h.status).collect();
    assert_eq!(tries, [500, 409]);
    assert_eq!(failed.body["type"], "completed");
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_event_does_not_block_others() {
    let desktop = Desktop::new().await;
    desktop.driver(&format!("wait_for_signal go\n{}", support::PLANS));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &request(id, "PLAN")).await.unwrap();
    // Three rejections are the limit, after which the message is dropped from the queue.
    for _ in 0..3 {
        desktop.cloud.answer_once("events", 400, json!({"success": false, "error": "chunk: too odd"}));
    }
    desktop.signal("go");
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Completed);
    assert_eq!(job.warnings(), ["EVENT_POST_FAILED"]);
    assert_eq!(desktop.cloud.events(id, "completed").len(), 1);
}
