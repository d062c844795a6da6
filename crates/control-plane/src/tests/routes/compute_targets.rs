use serde_json::json;
use uuid::Uuid;

use crate::dispatch::presence;
use crate::store::now;
use crate::tests::TestApp;

fn registration(name: &str, gateway: Option<Uuid>) -> serde_json::Value {
    json!({"machineName": name, "platform": "linux", "supportedOperations": ["git_action"], "gatewayId": gateway})
}

#[tokio::test]
async fn desktop_keeps_its_row_when_its_name_or_gateway_id_changes() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let gateway = Uuid::new_v4();
    let path = "/compute-targets/register";
    let first = owner.post(path, registration("bench", None)).await;
    let second = owner.post(path, registration("bench", Some(gateway))).await;
    let third = owner.post(path, registration("renamed", Some(gateway))).await;
    assert_eq!(first.data("id"), second.data("id"));
    assert_eq!(second.data("id"), third.data("id"));
    let member = plane.member("ben@example.org").await;
    let stolen = member.post(path, registration("bench", Some(gateway))).await;
    assert_eq!(stolen.refused(), (409, "Desktop gateway identity is already bound to another target"));
    let listed = owner.get("/compute-targets").await;
    assert_eq!(listed.json["data"].as_array().unwrap().len(), 1);
    assert_eq!(listed.json["data"][0]["machineName"], "renamed");
    assert_eq!(listed.json["data"][0]["security"]["reason"], "NO_BOUND_MANAGED_KEY");
}

#[tokio::test]
async fn concurrent_registrations_create_one_row() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let gateway = Uuid::new_v4();
    // Concurrent registrations race for the unique indexes; the losers must update the winner's row.
    let registrations =
        (0..16).map(|_| owner.post("/compute-targets/register", registration("bench", Some(gateway))));
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
async fn duplicate_machine_name_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let register = async |name: &str, gateway: Uuid| {
        owner.post("/compute-targets/register", registration(name, Some(gateway))).await
    };
    let (one, other) = (Uuid::new_v4(), Uuid::new_v4());
    assert_eq!(register("one", one).await.status, 200);
    assert_eq!(register("other", other).await.status, 200);
    let taken = register("one", other).await;
    assert_eq!(taken.refused(), (409, "A compute target with that machine name already exists"));
}
