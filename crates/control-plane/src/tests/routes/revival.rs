//! Resuming loops that the reaper timed out while their desktop was silent.

use loopgate_api::job::LoopStatus;
use loopgate_api::link::event;
use secrecy::ExposeSecret as _;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::loops::reaper;
use crate::store::now;
use crate::tests::desktop::DesktopIdentity;
use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient};

const DAY: i64 = 24 * 3_600_000;

/// Launches a loop on the desktop, and returns its id with a client that uses its runner token.
async fn running_on(plane: &TestApp, desktop: &mut LinkedDesktop) -> (Uuid, TestClient) {
    let owner = plane.owner().await;
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "A cart.", "repo": shop()});
    let document = owner.post("/documents", body).await;
    let path = format!("/documents/{}/run-loop", document.data("slug").as_str().unwrap());
    owner.post(&path, json!({"command": "plan"})).await;
    let command = desktop.accept().await;
    let id = command["body"]["loopId"].as_str().unwrap().parse().unwrap();
    let runner = plane.anonymous().with_bearer(command["body"]["loopgateAuthToken"].as_str().unwrap());
    runner.event(id, json!({"type": "started"})).await;
    desktop.report(&command, 1, "done", json!({"type": "done"})).await;
    (id, runner)
}

async fn beat(client: &TestClient, id: Uuid) -> crate::tests::client::TestResponse {
    client.post(&format!("/loops/{id}/heartbeat"), json!({})).await
}

fn signed(plane: &TestApp, identity: &DesktopIdentity, id: Uuid) -> TestClient {
    identity.client(plane, "POST", &format!("/loops/{id}/heartbeat"), 0)
}

async fn kinds(plane: &TestApp, id: Uuid) -> Vec<String> {
    let events = plane.owner().await.get(&format!("/loops/{id}/events?limit=100")).await;
    let list = events.json["data"]["data"].as_array().unwrap().clone();
    list.iter().map(|event| event["type"].as_str().unwrap().to_owned()).collect()
}

fn completed() -> Value {
    json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 5, "output": 5}})
}

#[tokio::test]
async fn loop_resumes_after_its_desktop_slept_for_a_day() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (id, _) = running_on(&plane, &mut desktop).await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let before = plane.owner().await.get(&commands).await.json;

    // The laptop sleeps for a day. Silence counts from the start of the process: if that is the time at which
    // the desktop wakes, the loop is not overdue.
    let wake_time = now() + DAY;
    assert_eq!(
        reaper::reap(&plane.app, wake_time, wake_time).await.unwrap(),
        0,
        "silence counts from the start of the process"
    );
    assert_eq!(reaper::reap(&plane.app, wake_time, 0).await.unwrap(), 1);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::TimedOut);
    // A shutdown waits for background tasks, so a command sent by the reaper would be stored now.
    let plane = plane.restart().await;
    assert_eq!(plane.owner().await.get(&commands).await.json, before, "a timeout sends no command");

    // The runner token has expired during the sleep, so only the desktop's own key authenticates.
    let old = plane.app.runner_tokens.issue(id, plane.owner.organization_id, now() - DAY).unwrap();
    let old = plane.anonymous().with_bearer(old.token.expose_secret());
    assert_eq!(beat(&old, id).await.refused(), (401, "Invalid or expired runner token"));
    let revived = beat(&signed(&plane, &desktop.identity, id), id).await;
    assert_eq!((revived.data("bumped"), revived.data("revived")), (&json!(true), &json!(true)));
    let row = plane.row(id).await;
    assert_eq!((row.status.0, row.completed_at, row.error), (LoopStatus::Running, None, None));

    let runner = plane.anonymous().with_bearer(revived.data("token").as_str().unwrap());
    assert_eq!(
        runner.event(id, json!({"type": "output", "chunk": "x"})).await.json["data"],
        json!({"received": true})
    );
    assert_eq!(runner.event(id, completed()).await.status, 200);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Completed);
    assert!(kinds(&plane, id).await.contains(&"reap_reversed".to_owned()));
}

#[tokio::test]
async fn any_runner_request_resumes_a_timed_out_loop() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (id, runner) = running_on(&plane, &mut desktop).await;
    reaper::reap(&plane.app, now() + DAY, 0).await.unwrap();
    let output = json!({"type": "output", "chunk": "still here"});
    assert_eq!(runner.event(id, output).await.json["data"], json!({"received": true}));
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);

    reaper::reap(&plane.app, now() + DAY, 0).await.unwrap();
    let revived = beat(&runner, id).await;
    assert_eq!(revived.data("revived"), true, "{}", revived.text);
    let runner = plane.anonymous().with_bearer(revived.data("token").as_str().unwrap());

    // A terminal event resumes the loop as well, and its outcome replaces the timeout.
    reaper::reap(&plane.app, now() + DAY, 0).await.unwrap();
    let failed = json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"});
    assert_eq!(runner.event(id, failed).await.json["data"], json!({"received": true}));
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Failed);
    assert_eq!(beat(&signed(&plane, &desktop.identity, id), id).await.failure().2, "TERMINAL_LOOP");
}

#[tokio::test]
async fn only_the_desktop_of_a_loop_receives_a_new_token() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (id, lost) = running_on(&plane, &mut desktop).await;
    let stranger = DesktopIdentity::claim(&plane).await;
    assert_eq!(
        beat(&signed(&plane, &stranger, id), id).await.failure(),
        (403, "Forbidden", "LOOP_NOT_FOUND")
    );
    assert_eq!(beat(&plane.key().await, id).await.failure().2, "LOOP_NOT_FOUND", "a key without a gateway");
    let unsigned = plane.anonymous().with_bearer(&desktop.identity.api_key);
    assert_eq!(beat(&unsigned, id).await.refused(), (401, "Desktop managed PoP verification failed"));

    // The loop is running and its desktop has lost the runner token; the new token replaces it.
    let renewed = beat(&signed(&plane, &desktop.identity, id), id).await;
    let runner = plane.anonymous().with_bearer(renewed.data("token").as_str().unwrap());
    assert_eq!(beat(&runner, id).await.data("bumped"), false);
    assert_eq!(beat(&lost, id).await.refused().0, 401, "the previous token is invalid");
    let cancelled = plane.owner().await.post(&format!("/loops/{id}/cancel"), json!({})).await;
    assert_eq!(cancelled.status, 200);
    assert_eq!(beat(&signed(&plane, &desktop.identity, id), id).await.failure().2, "TERMINAL_LOOP");
    // The cancellation sends a kill command, which proves that the desktop is still connected.
    desktop.expect(event::COMMAND).await;
}

#[tokio::test]
async fn repeated_refresh_returns_the_same_token_until_the_next_refresh() {
    let plane = TestApp::start().await;
    let (id, first) = plane.running("PLAN").await;
    first.event(id, json!({"type": "started"})).await;
    let refresh = async |client: &TestClient, key: &str| {
        client
            .with_header("idempotency-key", key)
            .post(&format!("/loops/{id}/refresh-token"), json!({}))
            .await
    };
    let lost = refresh(&first, "k1").await;
    // Retries with the same idempotency key return the stored response instead of a new token.
    for _ in 0..7 {
        assert_eq!(refresh(&first, "k1").await.json["data"], lost.json["data"]);
    }
    assert_eq!(refresh(&first, "k2").await.failure().2, "JTI_ALREADY_USED");
    let second = plane.anonymous().with_bearer(lost.data("token").as_str().unwrap());
    let next = refresh(&second, "k1").await;
    assert_ne!(next.data("token"), lost.data("token"), "the idempotency key is scoped to the token");
    assert_eq!(refresh(&first, "k1").await.failure().2, "JTI_ALREADY_USED");
    let output = json!({"type": "output", "chunk": "x"});
    let third = plane.anonymous().with_bearer(next.data("token").as_str().unwrap());
    assert_eq!(third.event(id, output).await.status, 200);
}

#[tokio::test]
async fn timeout_reported_by_the_runner_is_final() {
    let plane = TestApp::start().await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    runner.event(id, json!({"type": "error", "code": "TIMED_OUT", "message": "too long"})).await;
    assert_eq!(beat(&runner, id).await.failure(), (410, "Loop is no longer running", "TERMINAL_LOOP"));
    // Only a timeout by the reaper is reversible; the runner's own process has ended.
    assert_eq!(runner.event(id, json!({"type": "started"})).await.data("ignored"), true);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::TimedOut);
}
