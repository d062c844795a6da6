use serde_json::json;

use crate::accounts::insert_identity;
use crate::store::entity::user::Role;
use crate::tests::{TestApp, TestClient};

/// Adds a second member to the owner's organization. Returns the user's id and a signed-in client.
async fn second(plane: &TestApp, role: Role) -> (String, TestClient) {
    let identity = insert_identity(plane.app.store.writer()).await.unwrap();
    let id = plane.join(plane.owner.organization_id, identity, "ben@example.org", role).await;
    (id.to_string(), plane.sign_in(id).await)
}

#[tokio::test]
async fn role_change_takes_effect_immediately() {
    let plane = TestApp::start().await;
    let (id, ben) = second(&plane, Role::Member).await;
    let admin = plane.owner().await;
    assert_eq!(ben.get("/invitations").await.status, 403);
    let changed = admin.patch(&format!("/members/{id}"), json!({"role": "org:admin"})).await;
    assert_eq!((changed.data("role"), changed.data("active")), (&json!("org:admin"), &json!(true)));
    assert_eq!(ben.get("/invitations").await.status, 200);
    let members = ben.get("/members").await;
    assert_eq!(members.json["data"][0]["email"], "ada@example.org");
    assert_eq!(members.json["data"][1]["id"], json!(id));
    assert_eq!(admin.patch(&format!("/members/{id}"), json!({})).await.status, 400);
    assert_eq!(
        admin.patch("/members/unknown", json!({"active": true})).await.refused(),
        (404, "Member not found")
    );
    let foreign = plane.stranger().await.patch(&format!("/members/{id}"), json!({"active": false})).await;
    assert_eq!(foreign.refused(), (404, "Member not found"));
}

#[tokio::test]
async fn deactivation_takes_effect_immediately() {
    let plane = TestApp::start().await;
    let (id, ben) = second(&plane, Role::Member).await;
    let created = ben.post("/api-keys", json!({"name": "x"})).await;
    let key = plane.anonymous().with_bearer(created.data("plaintext").as_str().unwrap());
    let stream = key.response("GET", "/compute-targets/status-stream", None).await;
    assert_eq!(stream.status(), 200);

    let admin = plane.owner().await;
    admin.patch(&format!("/members/{id}"), json!({"active": false})).await;
    http_body_util::BodyExt::collect(stream.into_body()).await.unwrap();
    assert_eq!(
        (key.get("/me").await.status, ben.get("/me").await.status.as_u16()),
        (http::StatusCode::UNAUTHORIZED, 401)
    );
    // API keys work again after reactivation. The sessions were revoked, so the member has to sign in again.
    admin.patch(&format!("/members/{id}"), json!({"active": true})).await;
    assert_eq!(
        (key.get("/me").await.status, ben.get("/me").await.status.as_u16()),
        (http::StatusCode::OK, 401)
    );
}

#[tokio::test]
async fn last_administrator_cannot_be_removed() {
    let plane = TestApp::start().await;
    let admin = plane.owner().await;
    let (id, ben) = second(&plane, Role::Admin).await;
    let (own, other) = (format!("/members/{}", plane.owner.user_id), format!("/members/{id}"));
    // Two administrators demote or deactivate each other concurrently: at most one request may succeed.
    let (first, last) = tokio::join!(
        admin.patch(&other, json!({"role": "org:member"})),
        ben.patch(&own, json!({"active": false})),
    );
    let mut statuses = [first.status.as_u16(), last.status.as_u16()];
    statuses.sort_unstable();
    assert!(matches!(statuses, [200, 401 | 403 | 409]), "{statuses:?}");
    let (survivor, path) = if first.status == 200 { (admin, own) } else { (ben, other) };
    for change in [json!({"role": "org:member"}), json!({"active": false})] {
        let refused = survivor.patch(&path, change).await;
        assert_eq!((refused.failure().0, refused.failure().2), (409, "last_administrator"));
    }
    assert_eq!(survivor.get("/me").await.data("role"), "org:admin");
}
