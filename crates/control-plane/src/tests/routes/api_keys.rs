use serde_json::{Value, json};

use crate::tests::TestApp;

// CP-47
#[tokio::test]
async fn api_key_is_shown_once_and_works_until_revoked() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let created = owner.post("/api-keys", json!({"name": "ci"})).await;
    let plaintext = created.data("plaintext").as_str().unwrap();
    let digits = plaintext.strip_prefix("lgk_live_").unwrap();
    assert!(digits.len() == 64 && digits.chars().all(|c| c.is_ascii_hexdigit()));
    assert_eq!(created.data("scopes"), &json!(["read", "write", "delete"]));

    let key = plane.anonymous().with_bearer(plaintext);
    assert_eq!(key.get("/me").await.data("email"), "ada@example.org");
    let listed = owner.get("/api-keys").await;
    assert!(!listed.text.contains(digits));
    assert_eq!(listed.json["data"][0]["keyPrefix"], "lgk_live_");

    let path = format!("/api-keys/{}", created.data("id").as_str().unwrap());
    assert_eq!(owner.delete(&path).await.json, json!({"success": true, "data": {"deleted": true}}));
    assert_eq!(owner.delete(&path).await.refused(), (404, "API key not found"));
    assert_eq!(key.get("/me").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn api_keys_cannot_manage_keys_and_members_list_only_their_own() {
    let plane = TestApp::start().await;
    let key = plane.key().await;
    assert_eq!(key.get("/api-keys").await.refused(), (401, "Unauthorized"));
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.get("/api-keys").await.json["data"], json!([]));
    let owners = plane.owner().await.get("/api-keys").await;
    let id = owners.json["data"][0]["id"].as_str().unwrap();
    assert_eq!(member.delete(&format!("/api-keys/{id}")).await.status, 404);
}

#[tokio::test]
async fn invalid_api_key_request_names_the_member() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    assert_eq!(owner.post("/api-keys", json!({"name": ""})).await.refused(), (400, "name: Name is required"));
    let broken = owner.send("POST", "/api-keys", Some("{".to_owned())).await;
    assert_eq!(broken.failure(), (400, "Invalid JSON body", "invalid_json_body"));
    let wrong = owner.post("/api-keys", json!({"name": 5})).await;
    assert!(wrong.refused().1.starts_with("name: "), "{}", wrong.text);
    assert_eq!(wrong.json["details"]["issues"][0]["path"], "name");
    let late = owner.post("/api-keys", json!({"name": "x", "expiresAt": "tomorrow"})).await;
    assert_eq!(late.refused(), (400, "expiresAt: must be an ISO 8601 instant"));
}

#[tokio::test]
async fn api_key_has_exactly_the_requested_scopes() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let create = async |scopes: Value| owner.post("/api-keys", json!({"name": "x", "scopes": scopes})).await;
    for scopes in [json!(["read"]), json!(["delete"]), json!(["read", "write"]), json!(["write", "admin"])] {
        assert_eq!(create(scopes.clone()).await.data("scopes"), &scopes);
    }
    assert_eq!(create(json!(["write", "read", "write"])).await.data("scopes"), &json!(["read", "write"]));
    assert_eq!(create(json!([])).await.refused(), (400, "scopes: must name at least one scope"));
    for (scopes, path) in
        [(json!(["read", "root"]), "scopes[1]"), (json!(["READ"]), "scopes[0]"), (json!("read"), "scopes")]
    {
        let reply = create(scopes).await;
        assert_eq!((reply.failure().0, reply.failure().2), (400, "invalid_request"), "{}", reply.text);
        assert_eq!(reply.json["details"]["issues"][0]["path"], path);
    }
    let member = plane.member("ben@example.org").await;
    let more = member.post("/api-keys", json!({"name": "x", "scopes": ["read", "admin"]})).await;
    assert_eq!(more.refused(), (403, "Forbidden"), "users cannot grant scopes that they lack");
}

// CP-47
#[tokio::test]
async fn expired_api_key_is_rejected() {
    let plane = TestApp::start().await;
    let body = json!({"name": "old", "expiresAt": "2020-01-01T00:00:00Z"});
    let created = plane.owner().await.post("/api-keys", body).await;
    let key = plane.anonymous().with_bearer(created.data("plaintext").as_str().unwrap());
    assert_eq!(key.get("/me").await.status, 401);
    assert_eq!(plane.anonymous().with_bearer("sk_live_x").get("/me").await.status, 401);
}
