use ed25519_dalek::SigningKey;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::dispatch::presence;
use crate::store::now;
use crate::tests::desktop::{DesktopIdentity, claim_body};
use crate::tests::{ORIGIN, TestApp};

fn registration(name: &str, gateway: Option<Uuid>) -> serde_json::Value {
    json!({"machineName": name, "platform": "linux", "supportedOperations": ["git_action"], "gatewayId": gateway})
}

#[tokio::test]
async fn desktop_keeps_its_row_when_its_name_or_gateway_id_changes() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let gateway = Uuid::new_v4();
    let path = "/compute-targets/register";
    let identity = DesktopIdentity::claim_for(&plane, gateway).await;
    let bound = || identity.client(&plane, "POST", path, 0);
    let first = owner.post(path, registration("bench", None)).await;
    let second = bound().post(path, registration("bench", Some(gateway))).await;
    let third = bound().post(path, registration("renamed", Some(gateway))).await;
    assert_eq!(first.data("id"), second.data("id"));
    assert_eq!(second.data("id"), third.data("id"));
    let listed = owner.get("/compute-targets").await;
    assert_eq!(listed.json["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed.json["data"][0]["machineName"], "renamed");
    assert_eq!(listed.json["data"][0]["security"]["reason"], "BOUND_DESKTOP_MANAGED_KEY");
}

#[tokio::test]
async fn two_machines_with_one_host_name_are_two_desktops() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let names = async || {
        let listed = owner.get("/compute-targets").await;
        let rows = listed.json["data"].as_array().unwrap().clone();
        let mut names: Vec<(String, bool)> = rows
            .iter()
            .map(|row| (row["machineName"].as_str().unwrap().to_owned(), row["isOnline"] == true))
            .collect();
        names.sort();
        names
    };
    // Both say `workbench`, and each has a key of its own.
    let mut first = plane.desktop().await;
    let second = plane.desktop().await;
    assert_ne!(first.target_id, second.target_id);
    assert_eq!(names().await, [("workbench".to_owned(), true), ("workbench (2)".to_owned(), true)]);
    // The first connection still serves its desktop.
    let commands = format!("/compute-targets/{}/commands", first.target_id);
    owner.post(&commands, json!({"operationId": "x", "method": "GET", "path": "/api/gateway/version"})).await;
    assert_eq!(first.accept().await["path"], "/api/gateway/version");
    let (id, second) = (second.target_id, second.reconnect().await);
    assert_eq!(second.target_id, id);
    assert_eq!(names().await.len(), 2);

    // Two machines with one API key from the environment, which is bound to no gateway.
    let key = plane.key().await;
    let path = "/compute-targets/register";
    let unbound = [Uuid::new_v4(), Uuid::new_v4()];
    let mut ids = Vec::new();
    for gateway in [unbound[0], unbound[1], unbound[0], unbound[1]] {
        ids.push(key.post(path, registration("workbench", Some(gateway))).await.data("id").clone());
    }
    assert_eq!((&ids[0], &ids[1]), (&ids[2], &ids[3]));
    assert_ne!(ids[0], ids[1]);
    assert!(!ids.contains(&json!(first.target_id)), "a claim does not take over the desktop of a bound key");
    let expected = ["workbench", "workbench (2)", "workbench (3)", "workbench (4)"];
    assert_eq!(names().await.into_iter().map(|(name, _)| name).collect::<Vec<_>>(), expected);
    // Another host name is no number of this one.
    key.post(path, registration("desk", Some(unbound[1]))).await;
    assert_eq!(names().await[0].0, "desk");
}

#[tokio::test]
async fn gateway_id_of_another_user_does_not_exclude_its_owner() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let gateway = Uuid::new_v4();
    let path = "/compute-targets/register";
    // The member names the gateway id first, in every way that accepts one.
    let claimed = member.post(path, registration("claimed", Some(gateway))).await;
    assert_eq!(claimed.status, 200, "{}", claimed.text);
    let claimed = format!("/compute-targets/{}", claimed.data("id").as_str().unwrap());
    let renamed = member.put(&claimed, json!({"gatewayId": gateway})).await;
    assert_eq!(renamed.refused(), (403, "The API key is not bound to this gateway id"));
    let shown = member.get("/compute-targets").await;
    assert_eq!(shown.json["data"][0].get("gatewayId"), None, "a claim without a bound key does not count");

    let identity = DesktopIdentity::claim_for(&plane, gateway).await;
    let desktop = plane.desktop_as(identity).await;
    let listed = owner.get("/compute-targets").await;
    assert_eq!(listed.json["data"][0]["id"], json!(desktop.target_id));
    assert_eq!(listed.json["data"][0]["gatewayId"], json!(gateway));

    // The same installation also serves the member, with a key of the member.
    let attempt = json!({"webAppOrigin": ORIGIN});
    let attempt = member.post("/desktop/onboarding-attempt", attempt).await;
    let signing = SigningKey::from_bytes(&rand::random());
    let body = claim_body(attempt.json["onboardingAttemptId"].as_str().unwrap(), gateway, &signing);
    let key = plane.anonymous().post("/desktop/bootstrap/claim", body).await;
    let api_key = key.json["apiKey"].as_str().unwrap().to_owned();
    let identity = DesktopIdentity { gateway_id: gateway, signing, api_key };
    let second = plane.desktop_as(identity).await;
    assert_ne!(second.target_id, desktop.target_id);
}

#[tokio::test]
async fn shared_desktop_permits_commands_of_members_only_with_a_grant() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let mut desktop = plane.desktop().await;
    let target = format!("/compute-targets/{}", desktop.target_id);
    let commands = format!("{target}/commands");
    let share = async |body: Value| owner.patch(&format!("{target}/sharing"), body).await;
    let git = |action: &str| json!({"operationId": "x", "method": "POST", "path": "/api/gateway/git", "body": {"action": action}});
    let of_owner = owner.post(&commands, git("status")).await;
    let of_owner = format!("{commands}/{}", of_owner.data("commandId").as_str().unwrap());
    assert_eq!(desktop.accept().await.get("requester"), None, "the owner's own command");
    share(json!({"isSharedWithOrg": true})).await;

    let refusal =
        (403, "This machine is shared for loops only. Its owner can allow commands in Settings, Machines.");
    assert_eq!(member.post(&commands, git("diff")).await.refused(), refusal);
    assert_eq!(member.get(&commands).await.refused(), refusal);
    assert_eq!(member.get(&of_owner).await.refused(), refusal);
    assert_eq!(member.get(&format!("{of_owner}/events")).await.refused(), refusal);
    assert_eq!(member.post(&format!("{of_owner}/cancel"), json!({})).await.refused(), refusal);

    let without_sharing = share(json!({"isSharedWithOrg": false, "grantsCommands": true})).await;
    assert_eq!(without_sharing.refused(), (400, "grantsCommands requires isSharedWithOrg"));
    assert_eq!(
        share(json!({"isSharedWithOrg": true, "grantsCommands": true})).await.data("grantsCommands"),
        true
    );
    let sent = member.post(&commands, git("diff")).await;
    assert_eq!(sent.status, 200, "{}", sent.text);
    let received = desktop.accept().await;
    assert_eq!(received["requester"]["email"], "ben@example.org");
    let own = format!("{commands}/{}", sent.data("commandId").as_str().unwrap());
    assert_eq!(member.get(&own).await.status, 200);
    assert_eq!(member.get(&commands).await.json["data"].as_array().unwrap().len(), 1, "only the own command");
    assert_eq!(member.get(&of_owner).await.refused(), (404, "Desktop command not found"));
    assert_eq!(owner.get(&commands).await.json["data"].as_array().unwrap().len(), 2);
    let log = owner.get("/audit-log?action=command_sent&limit=1").await;
    let entry = &log.data("entries")[0]["details"];
    assert_eq!((&entry["requester"]["email"], &entry["action"]), (&json!("ben@example.org"), &json!("diff")));

    // Sharing again without the grant withdraws it, also for a command that the desktop has not received.
    plane.disconnect(desktop.target_id).await;
    let queued = member.post(&commands, git("diff")).await.data("commandId").as_str().unwrap().to_owned();
    share(json!({"isSharedWithOrg": true})).await;
    assert_eq!(member.get(&own).await.refused(), refusal);
    assert_eq!(owner.get(&format!("{commands}/{queued}")).await.data("status"), "expired");
    for body in [json!({"machineName": ""}), json!({"platform": "x".repeat(81)})] {
        assert_eq!(owner.put(&target, body).await.status, 400);
    }
}

#[tokio::test]
async fn loop_of_a_member_names_its_requester_to_the_desktop() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let mut desktop = plane.desktop().await;
    let target = format!("/compute-targets/{}", desktop.target_id);
    owner.patch(&format!("{target}/sharing"), json!({"isSharedWithOrg": true})).await;
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "x", "repo": {"fullName": "acme/shop", "branch": "main"}});
    let document = member.post("/documents", body).await;
    let run = format!("/documents/{}/run-loop", document.data("slug").as_str().unwrap());
    assert_eq!(member.post(&run, json!({"command": "plan"})).await.status, 200);
    let command = desktop.accept().await;
    assert_eq!(
        (&command["operationId"], &command["requester"]["email"]),
        (&json!("orchestrator_loop"), &json!("ben@example.org"))
    );
}

#[tokio::test]
async fn concurrent_registrations_create_one_row() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let gateway = Uuid::new_v4();
    // Concurrent registrations race for the unique indexes; the losers must update the winner's row.
    let identity = DesktopIdentity::claim_for(&plane, gateway).await;
    let path = "/compute-targets/register";
    let client = identity.client(&plane, "POST", path, 0);
    let registrations = (0..16).map(|_| client.post(path, registration("bench", Some(gateway))));
    let answers = futures_util::future::join_all(registrations).await;
    assert!(answers.iter().all(|answer| answer.data("id") == answers[0].data("id")));
    assert_eq!(owner.get("/compute-targets").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn shared_desktop_is_visible_to_members_and_changed_by_its_owner() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let member = plane.member("ben@example.org").await;
    let created = owner.post("/compute-targets/register", registration("bench", None)).await;
    let path = format!("/compute-targets/{}", created.data("id").as_str().unwrap());
    assert_eq!(member.get("/compute-targets").await.json["data"], json!([]));
    let share = Some(json!({"isSharedWithOrg": true}).to_string());
    assert_eq!(member.send("PATCH", &format!("{path}/sharing"), share.clone()).await.status, 404);
    assert_eq!(owner.send("PATCH", &format!("{path}/sharing"), share).await.data("isSharedWithOrg"), true);
    assert_eq!(member.get("/compute-targets").await.json["data"][0]["ownerName"], "Ada Lovelace");
    assert_eq!(member.delete(&path).await.refused(), (404, "Compute target not found"));
    let nothing = owner.send("PUT", &path, Some("{}".to_owned())).await;
    assert_eq!(nothing.refused(), (400, "At least one field must be provided"));
    let harness = owner.send("PUT", &path, Some(json!({"selectedHarness": "reviewer"}).to_string())).await;
    assert_eq!(harness.data("selectedHarness"), "reviewer");
    assert_eq!(owner.delete(&path).await.json["data"], json!({"deleted": true}));
    assert_eq!(owner.delete(&path).await.status, 404);
}

// CL-45
#[tokio::test]
async fn desktop_without_messages_is_marked_offline() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let created = owner.post("/compute-targets/register", registration("bench", None)).await;
    presence::sweep(&plane.app, now() - 90_000).await.unwrap();
    assert_eq!(owner.get("/compute-targets").await.json["data"][0]["isOnline"], true);
    // A cutoff in the future makes every desktop stale, without waiting 90 seconds.
    presence::sweep(&plane.app, now() + 1).await.unwrap();
    assert_eq!(owner.get("/compute-targets").await.json["data"][0]["isOnline"], false);
    let beat = format!("/compute-targets/{}/heartbeat", created.data("id").as_str().unwrap());
    assert_eq!(owner.post(&beat, json!({})).await.data("ok"), true);
    assert_eq!(owner.get("/compute-targets").await.json["data"][0]["isOnline"], true);
}

#[tokio::test]
async fn connected_desktop_is_online_and_protected() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let listed = owner.get("/compute-targets").await;
    let target = &listed.json["data"][0];
    assert_eq!((&target["isOnline"], &target["machineName"]), (&json!(true), &json!("workbench")));
    assert_eq!(target["security"]["status"], "protected");
    assert_eq!(target["capabilities"]["pluginVersion"], "1.9.3");
    let again = desktop.reconnect().await;
    assert_eq!(json!(again.target_id), target["id"], "the gateway id identifies the row");
}

#[tokio::test]
async fn shutdown_closes_connections_of_desktops() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let shutdown = tokio::spawn(async move { plane.plane.shutdown().await });
    // 1001 "going away": the desktop reconnects.
    assert_eq!(desktop.close_code().await, 1001);
    shutdown.await.unwrap().unwrap();
}

// CL-50
#[tokio::test]
async fn api_key_revocation_closes_the_connection() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let keys = owner.get("/api-keys").await;
    owner.delete(&format!("/api-keys/{}", keys.json["data"][0]["id"].as_str().unwrap())).await;
    // 4401: the desktop does not reconnect with this key.
    assert_eq!(desktop.close_code().await, 4401);
}

#[tokio::test]
async fn removed_desktop_is_disconnected_and_its_loops_remain() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let (id, _) = plane.running("PLAN").await;
    owner.delete(&format!("/compute-targets/{}", desktop.target_id)).await;
    assert_eq!(desktop.close_code().await, 1000);
    let key = desktop.identity.client(&plane, "GET", "/compute-targets", 0);
    assert_eq!(key.get("/compute-targets").await.status, 401, "the desktop cannot reconnect with its key");
    assert_eq!(owner.get(&format!("/loops/{id}")).await.status, 200);
}

#[tokio::test]
async fn renamed_machine_keeps_its_row_when_the_name_is_taken() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let path = "/compute-targets/register";
    let one = DesktopIdentity::claim(&plane).await;
    let register = async |name: &str| {
        let client = one.client(&plane, "POST", path, 0);
        client.post(path, registration(name, Some(one.gateway_id))).await
    };
    let first = register("one").await;
    assert_eq!(owner.post(path, registration("other", None)).await.status, 200);
    let renamed = register("other").await;
    assert_eq!((renamed.data("id"), renamed.data("machineName")), (first.data("id"), &json!("other (2)")));
    assert_eq!(register("other").await.data("machineName"), "other (2)");
    // The name can be changed, but not to that of another desktop.
    let target = format!("/compute-targets/{}", first.data("id").as_str().unwrap());
    let taken = owner.put(&target, json!({"machineName": "other"})).await;
    assert_eq!(taken.refused(), (409, "A compute target with that machine name already exists"));
}

#[tokio::test]
async fn user_has_a_limited_number_of_desktops() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let path = "/compute-targets/register";
    let mut ids = Vec::new();
    for number in 0..100 {
        let created = owner.post(path, registration(&format!("bench-{number}"), None)).await;
        ids.push(created.data("id").as_str().unwrap().to_owned());
    }
    let refused = owner.post(path, registration("another", None)).await;
    assert_eq!((refused.failure().0, refused.failure().2), (409, "too_many_desktops"));
    assert!(refused.text.contains("Remove machines"), "{}", refused.text);
    assert_eq!(owner.post(path, registration("bench-7", None)).await.data("id"), &json!(ids[7]));
    assert_eq!(member.post(path, registration("another", None)).await.status, 200);
    assert_eq!(owner.delete(&format!("/compute-targets/{}", ids[0])).await.status, 200);
    assert_eq!(owner.post(path, registration("another", None)).await.status, 200);
}
