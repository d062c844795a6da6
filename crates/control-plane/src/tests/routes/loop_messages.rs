//! Messages of a user to a running loop.

use futures_util::future::join_all;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{feature, launched};
use crate::tests::{LinkedDesktop, TestApp, TestClient};

/// A running PLAN of the owner on a connected desktop.
async fn running(plane: &TestApp, desktop: &mut LinkedDesktop) -> (Uuid, TestClient) {
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (_, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    (id, runner)
}

/// Returns the events of a loop with one of these types.
async fn events(owner: &TestClient, id: Uuid) -> Vec<Value> {
    let listed = owner.get(&format!("/loops/{id}/events")).await;
    let all = listed.json["data"].as_array().unwrap().clone();
    all.into_iter()
        .filter(|event| event["type"].as_str().is_some_and(|kind| kind.starts_with("message")))
        .collect()
}

fn path(id: Uuid) -> String {
    format!("/loops/{id}/messages")
}

#[tokio::test]
async fn message_is_stored_sent_and_its_delivery_recorded() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = running(&plane, &mut desktop).await;
    let form = owner.with_header("idempotency-key", "form-1");
    let route = path(id);
    let sent = join_all((0..4).map(|_| form.post(&route, json!({"text": "Use tabs."})))).await;
    let message_id = sent[0].data("messageId").clone();
    for reply in &sent {
        assert_eq!((reply.status.as_u16(), reply.data("messageId")), (200, &message_id), "{}", reply.text);
    }
    let other = form.post(&path(id), json!({"text": "Use spaces."})).await;
    assert_eq!(other.failure().0, 409, "{}", other.text);

    let command = desktop.accept().await;
    assert_eq!(
        (&command["commandId"], &command["operationId"]),
        (&message_id, &json!("orchestrator_loop_message"))
    );
    assert_eq!(command["body"], json!({"loopId": id, "text": "Use tabs."}));
    assert!(command["expiresAt"].is_null(), "{command}");

    let delivery = json!({"type": "message_delivery", "messageId": message_id, "isDelivered": true,
        "deliveredAt": "2031-04-02T10:00:00.000Z"});
    assert_eq!(runner.event(id, delivery.clone()).await.status, 200);
    let foreign = json!({"type": "message_delivery", "messageId": Uuid::now_v7(), "isDelivered": true});
    assert_eq!(runner.event(id, foreign).await.data("ignored"), &json!(true));
    assert_eq!(runner.event(id, json!({"type": "message_delivery"})).await.status, 400);
    let events = events(&owner, id).await;
    let kinds: Vec<&Value> = events.iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["message", "message_delivery"], "{events:?}");
    assert_eq!((&events[0]["text"], &events[0]["messageId"]), (&json!("Use tabs."), &message_id));
    let me = owner.get("/me").await;
    assert_eq!(&events[0]["userId"], me.data("id"));
    assert_eq!(events[1]["deliveredAt"], "2031-04-02T10:00:00.000Z");

    let history = owner.get("/change-requests/feature-1/history").await;
    let entries = history.json["data"].as_array().unwrap();
    let entry = entries.iter().find(|entry| entry["kind"] == "message").unwrap();
    assert_eq!((&entry["text"], &entry["user"]["email"]), (&json!("Use tabs."), me.data("email")), "{entry}");
    assert_eq!(
        (&entry["delivery"], &entry["deliveredAt"]),
        (&json!("delivered"), &json!("2031-04-02T10:00:00.000Z"))
    );
}

#[tokio::test]
async fn message_waits_for_a_machine_that_is_offline_and_survives_a_restart() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, _) = running(&plane, &mut desktop).await;
    plane.disconnect(desktop.target_id).await;
    let sent = owner.post(&path(id), json!({"text": "Use tabs."})).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let plane = plane.restart().await;
    let mut desktop = plane.desktop_as(desktop.identity).await;
    let command = loop {
        let command = desktop.accept().await;
        if command["operationId"] == "orchestrator_loop_message" {
            break command;
        }
    };
    assert_eq!(&command["commandId"], sent.data("messageId"));
}

#[tokio::test]
async fn message_that_the_machine_refuses_is_reported_with_the_reason() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = running(&plane, &mut desktop).await;
    owner.post(&path(id), json!({"text": "One"})).await;
    let command = desktop.accept().await;
    let reason = "The assistant has ended, and the work of the loop is being delivered.";
    let refused = json!({"type": "error", "terminal": true, "error": "gateway returned 409",
        "gatewayError": {"statusCode": 409, "error": reason}});
    desktop.report(&command, 1, "error", refused).await;
    owner.post(&path(id), json!({"text": "Two"})).await;
    desktop.reject("queue full").await;
    owner.post(&path(id), json!({"text": "Three"})).await;
    desktop.accept().await;
    runner.event(id, json!({"type": "error", "code": "X", "message": "failed"})).await;
    let events = events(&owner, id).await;
    let failed = |event: &&Value| event["type"] == "message_delivery" && event["isDelivered"] == false;
    let reasons: Vec<&Value> = events.iter().filter(failed).map(|event| &event["reason"]).collect();
    assert_eq!(reasons, [reason, "The machine rejected the message: queue full"]);
    let history = owner.get("/change-requests/feature-1/history").await;
    let entries = history.json["data"].as_array().unwrap().iter().filter(|entry| entry["kind"] == "message");
    let states: Vec<_> =
        entries.map(|entry| (&entry["text"], &entry["delivery"], &entry["reason"])).collect();
    let not_delivered = json!("not_delivered");
    assert_eq!(
        states,
        [
            (&json!("Three"), &not_delivered, &Value::Null),
            (&json!("Two"), &not_delivered, reasons[1]),
            (&json!("One"), &not_delivered, reasons[0])
        ]
    );
}

#[tokio::test]
async fn delivery_before_the_cancellation_is_recorded_after_it() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, runner) = running(&plane, &mut desktop).await;
    let sent = owner.post(&path(id), json!({"text": "Use tabs."})).await;
    assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    let delivery =
        json!({"type": "message_delivery", "messageId": sent.data("messageId"), "isDelivered": true});
    let received = runner.event(id, delivery).await;
    assert!(received.data("ignored").is_null(), "{}", received.text);
    assert_eq!(events(&owner, id).await.len(), 2);
}

#[tokio::test]
async fn messages_are_refused_without_a_running_assistant_and_permission() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    let message = || json!({"text": "Use tabs."});
    let early = owner.post(&path(id), message()).await;
    assert_eq!(early.refused(), (409, "The loop has not started yet. Send the message when it runs."));
    runner.event(id, json!({"type": "started"})).await;
    let foreign = member.post(&path(id), message()).await;
    assert_eq!(foreign.refused(), (403, "You can only send messages to your own loops"));
    assert_eq!(plane.stranger().await.post(&path(id), message()).await.status, 404);
    assert_eq!(plane.anonymous().post(&path(id), message()).await.status, 401);
    for text in [String::new(), " \n".to_owned(), "x".repeat(10_001), "ä".repeat(5_001)] {
        assert_eq!(owner.post(&path(id), json!({"text": text})).await.status, 400);
    }
    runner.event(id, json!({"type": "error", "code": "X", "message": "failed"})).await;
    let late = owner.post(&path(id), message()).await;
    assert_eq!(late.status, 409);
    assert!(late.text.contains("The loop has ended and receives no messages."), "{}", late.text);
    assert!(events(&owner, id).await.is_empty());
}
