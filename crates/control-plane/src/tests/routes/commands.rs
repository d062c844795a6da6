use loopgate_api::link::event;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tests::TestApp;

fn git() -> Value {
    json!({"operationId": "anything", "method": "POST", "path": "/api/gateway/git", "body": {"action": "status"}})
}

#[tokio::test]
async fn command_is_delivered_and_its_events_are_stored() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let created = owner.post(&commands, git()).await;
    assert_eq!(created.data("status"), "queued", "{}", created.text);
    let path = format!("{commands}/{}", created.data("commandId").as_str().unwrap());

    let command = desktop.accept().await;
    assert_eq!(command["operationId"], "git_action", "the operation is derived from the path");
    assert_eq!(command["body"], json!({"action": "status"}));
    desktop.report(&command, 1, "status", json!({"type": "status", "status": "running"})).await;
    assert_eq!(owner.get(&path).await.data("status"), "running");
    desktop
        .report(
            &command,
            2,
            "result",
            json!({"type": "result", "statusCode": 200, "success": true, "data": {}}),
        )
        .await;
    // The desktop repeats sequence 2; the control plane acknowledges it again without storing it twice.
    desktop.report(&command, 2, "chunk", json!({"again": true})).await;
    desktop.report(&command, 3, "done", json!({"type": "done"})).await;
    let shown = owner.get(&path).await;
    assert_eq!((shown.data("status"), shown.data("lastSequenceAcked")), (&json!("done"), &json!(3)));

    let events = owner.get(&format!("{path}/events?afterSequence=1")).await;
    let kinds: Vec<&Value> =
        events.json["data"].as_array().unwrap().iter().map(|event| &event["eventType"]).collect();
    assert_eq!(kinds, ["result", "done"]);
    let stream = owner.get(&format!("{path}/events?stream=true")).await;
    assert_eq!(stream.text.matches("data: ").count(), 3, "{}", stream.text);
}

#[tokio::test]
async fn command_is_redelivered_on_reconnect_and_sequence_gap_is_rejected() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let created = owner.post(&commands, git()).await;
    let id = created.data("commandId").as_str().unwrap().to_owned();

    let mut desktop = desktop.reconnect().await;
    assert_eq!(desktop.hello_ack["resumeFromSequence"], json!({&id: 0}));
    let command = desktop.accept().await;
    assert_eq!(command["commandId"], id.as_str());
    // Sequence 3 before 1: the control plane rejects the gap and states which sequence it expects next.
    let ahead = json!({"commandId": id, "sequence": 3, "eventType": "chunk", "data": {}});
    desktop.send(event::COMMAND_EVENT, &ahead).await;
    let gap = desktop.expect(event::HELLO_ACK).await;
    assert_eq!(gap["resumeFromSequence"], json!({&id: 0}));
    desktop.report(&command, 1, "done", json!({"type": "done", "cancelled": true})).await;
    assert_eq!(owner.get(&format!("{commands}/{id}")).await.data("status"), "cancelled");
}

#[tokio::test]
async fn cancellation_is_resent_until_the_command_finishes() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let created = owner.post(&commands, git()).await;
    let path = format!("{commands}/{}", created.data("commandId").as_str().unwrap());
    let command = desktop.accept().await;
    desktop.report(&command, 1, "status", json!({"type": "status"})).await;

    let cancelled = owner.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(cancelled.json["data"], json!({"cancelRequested": true, "status": "running"}));
    // Two connections end before the cancellation is read: it is sent on every connection until the command
    // ends.
    for _ in 0..2 {
        desktop = desktop.reconnect().await;
        assert_eq!(
            desktop.hello_ack["resumeFromSequence"],
            json!({command["commandId"].as_str().unwrap(): 1})
        );
    }
    let cancel = desktop.expect(event::CANCEL).await;
    assert_eq!(cancel["commandId"], command["commandId"]);
    let end = json!({"type": "done", "cancelled": true, "reason": "cancelled"});
    desktop.report(&command, 2, "done", end).await;
    let again = owner.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(again.json["data"], json!({"cancelRequested": false, "status": "cancelled"}));
    let desktop = desktop.reconnect().await;
    assert_eq!(desktop.hello_ack["resumeFromSequence"], Value::Null, "no command is open");
}

#[tokio::test]
async fn command_cancelled_while_desktop_is_offline_is_not_delivered() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let (owner, target) = (plane.owner().await, desktop.target_id);
    let commands = format!("/compute-targets/{target}/commands");
    let identity = desktop.identity;
    plane.disconnect(target).await;
    let created = owner.post(&commands, git()).await;
    let path = format!("{commands}/{}", created.data("commandId").as_str().unwrap());
    let cancelled = owner.post(&format!("{path}/cancel"), json!({})).await;
    assert_eq!(cancelled.json["data"], json!({"cancelRequested": true, "status": "queued"}));
    // A command after the cancelled one: if the cancelled command were delivered, it would arrive first.
    let later = owner.post(&commands, git()).await;

    let mut desktop = plane.desktop_as(identity).await;
    let cancel = desktop.expect(event::CANCEL).await;
    assert_eq!(&cancel["commandId"], created.data("commandId"));
    assert_eq!(&desktop.accept().await["commandId"], later.data("commandId"));
}

#[tokio::test]
async fn command_rejected_by_its_desktop_as_expired_is_expired() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let created = owner.post(&commands, git()).await;
    let path = format!("{commands}/{}", created.data("commandId").as_str().unwrap());
    let command = desktop.reject_with(json!({"reason": "command expired", "code": "expired"})).await;
    let moment = |name: &str| command[name].as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
    assert_eq!(moment("expiresAt").duration_since(moment("queuedAt")).as_mins(), 15);
    let stream = owner.get(&format!("{path}/events?stream=true")).await;
    assert!(stream.text.contains("\"rejectionCode\":\"expired\""), "{}", stream.text);
    let shown = owner.get(&path).await;
    assert_eq!((shown.data("status"), shown.data("error")), (&json!("expired"), &json!("command expired")));
}

#[tokio::test]
async fn open_commands_per_desktop_are_limited() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    plane.disconnect(desktop.target_id).await;
    let mut keyed = git();
    keyed["idempotencyKey"] = json!("first");
    let first = owner.post(&commands, keyed.clone()).await;
    // 500 is the limit of open commands; the desktop is offline, so none of them ends.
    for _ in 1..500 {
        assert_eq!(owner.post(&commands, git()).await.status, 200);
    }
    let refused = owner.post(&commands, git()).await;
    assert_eq!(refused.refused(), (429, "Too many queued commands for this compute target; retry later"));
    assert_eq!(refused.json["code"], "too_many_commands");
    let again = owner.post(&commands, keyed).await;
    assert_eq!(again.data("commandId"), first.data("commandId"), "a known idempotency key needs no slot");
    // A finished command frees a slot.
    let mut desktop = desktop.reconnect().await;
    let command = desktop.accept().await;
    desktop.report(&command, 1, "done", json!({"type": "done"})).await;
    assert_eq!(owner.post(&commands, git()).await.status, 200);
}

#[tokio::test]
async fn bytes_of_open_commands_per_desktop_are_limited() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    plane.disconnect(desktop.target_id).await;
    let mut large = git();
    large["body"]["message"] = json!("x".repeat(1_000_000));
    // The limit is 32 MiB.
    for _ in 0..34 {
        assert_eq!(owner.post(&commands, large.clone()).await.status, 200);
    }
    assert_eq!(owner.post(&commands, large).await.failure().2, "too_many_commands");
    let listed = owner.get(&commands).await;
    assert_eq!(listed.json["data"].as_array().unwrap().len(), 34, "the list does not contain the requests");
    assert!(listed.text.len() < 20_000, "{}", listed.text.len());
    let mut small_values = git();
    small_values["body"] = json!(vec![json!({"a": 0}); 10_000]);
    assert_eq!(owner.post(&commands, small_values).await.failure().2, "too_many_values");
}

#[tokio::test]
async fn idempotency_key_deduplicates_commands() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let mut body = git();
    // Surrounding whitespace is not part of the key.
    body["idempotencyKey"] = json!(" k ");
    let first = owner.post(&commands, body.clone()).await;
    let second = owner.post(&commands, body.clone()).await;
    assert_eq!((first.data("commandId"), second.data("deduped")), (second.data("commandId"), &json!(true)));
    body["body"] = json!({"action": "push"});
    let other = owner.post(&commands, body).await;
    assert_eq!(other.refused(), (409, "Idempotency key collision with different payload"));
}

#[tokio::test]
async fn invalid_commands_are_rejected() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let commands = format!("/compute-targets/{}/commands", desktop.target_id);
    let with = |changes: Value| {
        let mut body = git();
        body.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        body
    };
    let id = Uuid::now_v7();
    let signature = json!({"signature": "s", "signaturePayload": "p", "publicKeyFingerprint": "lg:aaaaaaaaaaaaaaaaaaaaaa"});
    let mut signed = signature.clone();
    signed["commandId"] = json!(id);
    let cases = [
        (json!({"path": "/etc"}), 400, "path: Path must target /api/gateway/*"),
        (json!({"commandId": id}), 400, "Client command IDs require browser command signing fields"),
        (signature, 400, "Signed browser commands require a client command ID"),
        (
            json!({"signature": "s"}),
            400,
            "signature, signaturePayload, and publicKeyFingerprint must be provided together",
        ),
        (signed, 403, "browser_key_unregistered"),
        (json!({"operationId": "browser_key_revoke"}), 403, "Browser key internal commands are internal"),
        (
            json!({"path": "/api/gateway/internal/browser-key/revoke"}),
            403,
            "Browser key internal commands are internal",
        ),
    ];
    for (changes, status, text) in cases {
        assert_eq!(owner.post(&commands, with(changes)).await.refused(), (status, text));
    }
    let unknown = format!("/compute-targets/{}/commands", Uuid::new_v4());
    assert_eq!(owner.post(&unknown, git()).await.refused(), (404, "Compute target not found"));
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.post(&commands, git()).await.refused(), (404, "Compute target not found"));
    let none = owner.get(&format!("{commands}/{id}")).await;
    assert_eq!(none.refused(), (404, "Desktop command not found"));
}
