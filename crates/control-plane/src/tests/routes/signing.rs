//! Commands that a browser signs. The control plane forwards signatures without verifying them; the desktop
//! verifies them, and the tests of the link cover that.

use ed25519_dalek::SigningKey;
use loopgate_api::job::LoopStatus;
use loopgate_api::launch::launch_digests;
use loopgate_api::link::{BrowserPublicKey, CommandAck, event};
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};

use super::documents::{feature, reached};
use crate::store::entity::{agent_loop, compute_target};
use crate::tests::{LinkedDesktop, TestApp, TestClient};

fn browser_key(seed: u8) -> BrowserPublicKey {
    SigningKey::from_bytes(&[seed; 32]).verifying_key().to_bytes().into()
}

async fn register(client: &TestClient, key: &BrowserPublicKey) -> Value {
    let body = json!({"publicKeyBase64": key, "fingerprint": key.fingerprint()});
    let created = client.post("/public-keys", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.json["data"].clone()
}

/// Returns a signed command. The signature is arbitrary text, because the control plane does not verify it.
fn signed(key: &BrowserPublicKey) -> Value {
    json!({"operationId": "git_action", "method": "POST", "path": "/api/gateway/git", "body": {"action": "status"},
        "commandId": Uuid::now_v7(), "signature": "c2lnbmF0dXJl", "signaturePayload": "{\"nonce\":\"1\"}",
        "publicKeyFingerprint": key.fingerprint()})
}

fn intent(key: &BrowserPublicKey, body: Value) -> Value {
    json!({"commandId": Uuid::now_v7(), "signature": "c2lnbmF0dXJl", "signaturePayload": "{\"nonce\":\"1\"}",
        "publicKeyFingerprint": key.fingerprint(), "body": body})
}

/// Stores that the desktop requires signatures, as its hello would report.
async fn demand_signatures(plane: &TestApp, desktop: &LinkedDesktop) {
    let capabilities = json!({"commandSigning": true, "commandSigningRequired": true});
    compute_target::Entity::update_many()
        .col_expr(compute_target::Column::Capabilities, Expr::value(capabilities))
        .filter(compute_target::Column::Id.eq(desktop.target_id))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
}

#[tokio::test]
async fn desktops_are_notified_when_a_browser_key_is_registered_or_removed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    assert_eq!(desktop.hello_ack["serverCapabilities"], json!({"computeTargetSigning": true}));
    let key = browser_key(1);
    let created = register(&owner, &key).await;
    let approval = desktop.expect(event::COMMAND).await;
    assert_eq!(approval["operationId"], "browser_key_approval_request");
    assert_eq!(approval["path"], "/api/gateway/internal/browser-key/approval-request");
    assert_eq!(approval["body"]["fingerprint"], json!(key.fingerprint()));
    assert_eq!(approval["body"]["computeTargetId"], json!(desktop.target_id));
    assert_eq!(register(&owner, &key).await["id"], created["id"], "registration is idempotent");
    desktop.expect(event::COMMAND).await;

    let own = owner.get("/public-keys").await;
    assert_eq!(own.json["data"][0]["ownerEmail"], "ada@example.org");
    assert_eq!(own.json["data"][0].get("targetContext"), None);
    let gateway = desktop.identity.gateway_id;
    let path = format!("/public-keys?computeTargetId={}&gatewayId={gateway}", desktop.target_id);
    let listed = desktop.identity.client(&plane, "GET", "/public-keys", 0).get(&path).await;
    assert_eq!(listed.json["data"][0]["targetContext"]["access"], "owned_target", "{}", listed.text);
    assert_eq!(listed.json["data"][0]["publicKeyBase64"], json!(key));

    // A shared desktop accepts commands of its organization's members, so it needs their keys too.
    let ben = plane.member("ben@example.org").await;
    register(&ben, &browser_key(2)).await;
    assert_eq!(owner.get(&path).await.json["data"].as_array().unwrap().len(), 1);
    owner
        .patch(&format!("/compute-targets/{}/sharing", desktop.target_id), json!({"isSharedWithOrg": true}))
        .await;
    assert_eq!(owner.get(&path).await.json["data"].as_array().unwrap().len(), 2);
    assert_eq!(ben.get(&path).await.refused(), (404, "Compute target not found"));

    let name = key.fingerprint();
    let removed = owner.delete(&format!("/public-keys?fingerprint={name}")).await;
    assert_eq!(removed.data("deleted"), &json!(true));
    let revoked = desktop.expect(event::COMMAND).await;
    assert_eq!(
        (&revoked["operationId"], &revoked["body"]["fingerprint"]),
        (&json!("browser_key_revoke"), &json!(name))
    );
    let again = owner.delete(&format!("/public-keys?fingerprint={name}")).await;
    assert_eq!(again.data("deleted"), &json!(false));
    let log = owner.get("/audit-log").await.text;
    assert!(log.contains("browser_key_registered") && log.contains("browser_key_removed"), "{log}");
}

#[tokio::test]
async fn invalid_browser_key_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (key, other) = (browser_key(1), browser_key(2));
    let refuse = async |key: &str, fingerprint: String| {
        let body = json!({"publicKeyBase64": key, "fingerprint": fingerprint});
        let reply = owner.post("/public-keys", body).await;
        (reply.status.as_u16(), reply.json["error"].as_str().unwrap().to_owned())
    };
    let text = |text: &str| (400, text.to_owned());
    let name = key.fingerprint().to_string();
    assert_eq!(refuse("no key", name.clone()).await, text("Malformed public key"));
    assert_eq!(refuse("AAAA", name.clone()).await, text("Public key must be a raw Ed25519 public key"));
    // 32 bytes that are not a point on the curve.
    let no_point = BrowserPublicKey::from([2; 32]);
    assert_eq!(
        refuse(&no_point.to_string(), no_point.fingerprint().to_string()).await,
        text("Public key must be a raw Ed25519 public key")
    );
    assert_eq!(refuse(&other.to_string(), name).await, text("Fingerprint does not match public key"));
    let malformed = owner.delete("/public-keys?fingerprint=Ada").await;
    assert_eq!(malformed.refused(), (400, "Malformed public key fingerprint"));
    let id = Uuid::now_v7();
    for query in [
        "computeTargetId=x".to_owned(),
        format!("computeTargetId={id}&computeTargetId={id}"),
        format!("gatewayId={id}"),
    ] {
        let reply = owner.get(&format!("/public-keys?{query}")).await;
        assert_eq!(reply.refused(), (400, "Malformed public key target query"), "{query}");
    }
    assert_eq!(owner.get(&format!("/public-keys?computeTargetId={id}")).await.status, 404);
}

#[tokio::test]
async fn partially_signed_command_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let key = browser_key(1);
    let path = format!("/compute-targets/{}/commands", desktop.target_id);
    let without = |members: &[&str]| {
        let mut body = signed(&key);
        for member in members {
            body.as_object_mut().unwrap().remove(*member);
        }
        body
    };
    let together = "signature, signaturePayload, and publicKeyFingerprint must be provided together";
    for (body, expected) in [
        (without(&["signature"]), (400, together)),
        (without(&["commandId"]), (400, "Signed browser commands require a client command ID")),
        (
            without(&["signature", "signaturePayload", "publicKeyFingerprint"]),
            (400, "Client command IDs require browser command signing fields"),
        ),
        (signed(&key), (403, "browser_key_unregistered")),
    ] {
        assert_eq!(owner.post(&path, body).await.refused(), expected);
    }
    register(&owner, &key).await;
    desktop.expect(event::COMMAND).await;
    let mut random = signed(&key);
    random["commandId"] = json!(Uuid::new_v4());
    assert_eq!(owner.post(&path, random).await.status, 400, "the id must be a UUIDv7");

    let body = signed(&key);
    let sent = owner.post(&path, body.clone()).await;
    assert_eq!((sent.data("commandId"), sent.data("status")), (&body["commandId"], &json!("queued")));
    let command = desktop.expect(event::COMMAND).await;
    for member in ["commandId", "signature", "signaturePayload", "publicKeyFingerprint"] {
        assert_eq!(command[member], body[member], "{member}");
    }
    assert_eq!(owner.post(&path, body).await.refused(), (409, "Command ID already exists"));
    let ben = plane.member("ben@example.org").await;
    owner
        .patch(
            &format!("/compute-targets/{}/sharing", desktop.target_id),
            json!({"isSharedWithOrg": true, "grantsCommands": true}),
        )
        .await;
    assert_eq!(
        ben.post(&path, signed(&key)).await.refused(),
        (403, "browser_key_unregistered"),
        "the key is registered for Ada"
    );

    demand_signatures(&plane, &desktop).await;
    let plain = without(&["commandId", "signature", "signaturePayload", "publicKeyFingerprint"]);
    let refused = owner.post(&path, plain).await;
    assert_eq!(refused.refused(), (400, "Command signing is required for this compute target"));
}

// CL-42
#[tokio::test]
async fn signed_command_expires_when_its_desktop_is_offline() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let key = browser_key(1);
    register(&owner, &key).await;
    let approval = desktop.accept().await;
    desktop.report(&approval, 1, "done", json!({"type": "done"})).await;
    plane.disconnect(desktop.target_id).await;
    let path = format!("/compute-targets/{}/commands", desktop.target_id);
    let sent = owner.post(&path, signed(&key)).await;
    assert_eq!(sent.data("status"), "expired");
    let shown = owner.get(&format!("{path}/{}", sent.data("commandId").as_str().unwrap())).await;
    // A signed command is delivered immediately or expires: the user signed it for this moment.
    assert_eq!(shown.data("error"), "signed_command_delivery_failed:target_not_connected");
    let desktop = desktop.reconnect().await;
    assert_eq!(desktop.hello_ack.get("resumeFromSequence"), None, "an expired command is not resumed");
}

/// Starts a signed loop. Returns its id and the command that the desktop received.
async fn start(owner: &TestClient, desktop: &mut LinkedDesktop, key: &BrowserPublicKey) -> (Uuid, Value) {
    let signed_request = json!({"command": "plan", "prompt": "Small", "documentId": "feature-1"});
    let body =
        json!({"command": "plan", "prompt": "Small", "userIntentSignature": intent(key, signed_request)});
    let started = owner.post("/documents/feature-1/run-loop", body).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let id = started.data("loopId").as_str().unwrap().parse().unwrap();
    (id, desktop.accept().await)
}

// CL-33
#[tokio::test]
async fn execution_credentials_of_a_signed_loop_are_issued_once() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    demand_signatures(&plane, &desktop).await;
    feature(&owner).await;
    let key = browser_key(1);
    register(&owner, &key).await;
    desktop.expect(event::COMMAND).await;
    let unsigned = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(unsigned.refused(), (400, "Command signing is required for this compute target"));
    let other = intent(&key, json!({"command": "execute", "documentId": "feature-1"}));
    let body = json!({"command": "plan", "userIntentSignature": other});
    let mismatched = owner.post("/documents/feature-1/run-loop", body).await;
    assert_eq!(mismatched.refused(), (400, "Signed run-loop intent does not match request"));

    let (id, command) = start(&owner, &mut desktop, &key).await;
    assert_eq!(command["body"]["userIntent"]["prompt"], "Small");
    assert_eq!(command["body"].get("loopgateAuthToken"), None, "the token is not in the command");
    assert_eq!(command["signature"], "c2lnbmF0dXJl");
    let path = format!("/compute-targets/{}/loops/{id}/execution-credentials", desktop.target_id);
    let request = json!({"commandId": command["commandId"]});
    let fetch = async |desktop: &LinkedDesktop, body: &Value| {
        desktop.identity.client(&plane, "POST", &path, 0).post(&path, body.clone()).await
    };
    assert_eq!(owner.post(&path, request.clone()).await.refused(), (401, "Unauthorized"));
    let user_key = plane.key().await.post(&path, request.clone()).await;
    assert_eq!(user_key.refused(), (401, "Unauthorized"), "a key without a gateway");
    let unproven =
        plane.anonymous().with_bearer(&desktop.identity.api_key).post(&path, request.clone()).await;
    assert_eq!(unproven.status, 401);
    let unknown = fetch(&desktop, &json!({"commandId": Uuid::now_v7()})).await;
    assert_eq!(unknown.refused(), (404, "Loop execution credentials not found"));
    let fetched = fetch(&desktop, &request).await;
    assert_eq!(fetched.data("loopId"), &json!(id), "{}", fetched.text);
    assert_eq!(fetched.data("prompt"), "Small");
    assert_eq!(fetched.data("artifacts")[0]["type"], "FEATURE");
    let runner = plane.anonymous().with_bearer(fetched.data("loopgateAuthToken").as_str().unwrap());
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200, "the token is valid");
    assert_eq!(
        fetch(&desktop, &request).await.refused(),
        (409, "Loop execution credentials already consumed")
    );

    // The signed intent names one loop, so that it cannot be replayed to cancel another.
    let foreign = json!({"userIntentSignature": intent(&key, json!({"loopId": Uuid::now_v7()}))});
    let cancel = format!("/loops/{id}/cancel");
    let refused = owner.post(&cancel, foreign).await;
    assert_eq!(refused.refused(), (400, "Signed cancel intent does not match loop"));
    let signed_request = json!({"userIntentSignature": intent(&key, json!({"loopId": id}))});
    assert_eq!(owner.post(&cancel, signed_request).await.data("status"), "CANCELLED");
    let kill = desktop.accept().await;
    assert_eq!(kill["body"], json!({"loopId": id, "userIntent": {"loopId": id}}));
    assert_eq!(kill["publicKeyFingerprint"], json!(key.fingerprint()));
    let fetched = fetch(&desktop, &json!({"commandId": kill["commandId"]})).await;
    assert_eq!(fetched.json["data"], json!({"loopId": id}));
}

#[tokio::test]
async fn signed_start_is_refused_when_it_would_run_something_else() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    demand_signatures(&plane, &desktop).await;
    feature(&owner).await;
    let key = browser_key(1);
    register(&owner, &key).await;
    desktop.expect(event::COMMAND).await;
    let request = json!({"command": "plan", "prompt": "Small", "version": 1});
    let preview = owner.post("/documents/feature-1/run-loop/preview", request.clone()).await;
    assert_eq!(preview.data("version"), 1, "{}", preview.text);
    let launch = preview.data("launch");
    assert_eq!((&launch["command"], &launch["prompt"]), (&json!("PLAN"), &json!("Small")));
    assert_eq!(launch["artifactSlug"], "plan-1");
    assert!(launch.get("loopgateAuthToken").is_none());
    let signed = json!({"digests": launch_digests(launch.as_object().unwrap())});
    let start = async |version: i64| {
        let mut body = request.clone();
        body["version"] = json!(version);
        body["launch"] = signed.clone();
        let mut signed_request = body.clone();
        signed_request["documentId"] = json!("feature-1");
        body["userIntentSignature"] = intent(&key, signed_request);
        owner.post("/documents/feature-1/run-loop", body).await
    };
    let agent = json!({"name": "Tester", "role": "tester", "prompt": "Test."});
    let agent = owner.post("/agents", agent).await;
    assert_eq!(agent.status, 200, "{}", agent.text);
    let refused = start(1).await;
    assert_eq!(refused.status, 409);
    assert_eq!(refused.data("error"), "launch_changed");
    assert_eq!(refused.data("changed"), &json!(["agents"]));
    let disabled = owner.patch("/agents/tester", json!({"enabled": false})).await;
    assert_eq!(disabled.status, 200, "{}", disabled.text);
    let started = start(1).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let command = desktop.accept().await;
    assert_eq!(command["body"]["userIntent"]["launch"], signed);
    // The credentials contain exactly what was signed.
    let id = started.data("loopId").as_str().unwrap();
    let path = format!("/compute-targets/{}/loops/{id}/execution-credentials", desktop.target_id);
    let client = desktop.identity.client(&plane, "POST", &path, 0);
    let fetched = client.post(&path, json!({"commandId": command["commandId"]})).await;
    let fetched = launch_digests(fetched.json["data"].as_object().unwrap());
    assert_eq!(json!(fetched), signed["digests"]);
}

#[tokio::test]
async fn loop_fails_with_the_reason_when_the_desktop_rejects_its_signature() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    demand_signatures(&plane, &desktop).await;
    feature(&owner).await;
    let key = browser_key(1);
    register(&owner, &key).await;
    desktop.expect(event::COMMAND).await;
    let signed_request = json!({"command": "plan", "documentId": "feature-1"});
    let body = json!({"command": "plan", "userIntentSignature": intent(&key, signed_request)});
    let started = owner.post("/documents/feature-1/run-loop", body).await;
    let id: Uuid = started.data("loopId").as_str().unwrap().parse().unwrap();
    let refusal =
        json!({"reason": "unauthorized: no keys authorized", "code": CommandAck::NO_KEYS_AUTHORIZED});
    desktop.reject_with(refusal).await;
    reached(&plane, id, LoopStatus::Failed).await;
    let shown = owner.get(&format!("/loops/{id}")).await;
    let message = shown.data("error")["message"].as_str().unwrap();
    assert!(message.contains("loopgate keys"), "{message}");
}

#[tokio::test]
async fn signed_message_is_forwarded_as_signed_and_not_kept_for_an_offline_machine() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let key = browser_key(1);
    register(&owner, &key).await;
    desktop.expect(event::COMMAND).await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    plane.set_column(id, agent_loop::Column::ComputeTargetId, desktop.target_id).await;
    demand_signatures(&plane, &desktop).await;
    let route = format!("/loops/{id}/messages");
    let unsigned = owner.post(&route, json!({"text": "Use tabs."})).await;
    assert_ne!(unsigned.status, 200, "{}", unsigned.text);
    let body = json!({"loopId": id, "text": "Use tabs."});
    let other = json!({"text": "Use spaces.", "userIntentSignature": intent(&key, body.clone())});
    let mismatch = owner.post(&route, other).await;
    assert_eq!(mismatch.refused(), (400, "Signed message does not match the request"));

    let signature = intent(&key, body.clone());
    let sent = owner.post(&route, json!({"text": "Use tabs.", "userIntentSignature": signature})).await;
    assert_eq!(
        (sent.status.as_u16(), sent.data("messageId")),
        (200, &signature["commandId"]),
        "{}",
        sent.text
    );
    let command = desktop.accept().await;
    assert_eq!((&command["body"], &command["signature"]), (&body, &signature["signature"]));

    plane.disconnect(desktop.target_id).await;
    let signature = intent(&key, body);
    let late = owner.post(&route, json!({"text": "Use tabs.", "userIntentSignature": signature})).await;
    assert_eq!(late.status, 200, "{}", late.text);
    let events = owner.get(&format!("/loops/{id}/events?type=message_delivery")).await;
    let delivery = &events.json["data"]["data"][0];
    assert_eq!(
        (&delivery["messageId"], &delivery["isDelivered"]),
        (&signature["commandId"], &json!(false)),
        "{}",
        events.text
    );
    assert!(delivery["reason"].as_str().unwrap().contains("not connected"), "{delivery}");
}
