use serde_json::json;

use crate::accounts::insert_user;
use crate::auth::session;
use crate::store::entity::organization;
use crate::store::entity::user::Role;
use crate::store::now;
use crate::tests::Plane;
use sea_orm::ActiveValue::Set;
use sea_orm::EntityTrait;
use uuid::Uuid;

#[tokio::test]
async fn a_link_signs_in_once() {
    let plane = Plane::start().await;
    let url = plane.plane.sign_in_link(&plane.owner).await.unwrap();
    let (page, token) = url.split_once("?token=").unwrap();
    assert_eq!(page, "http://127.0.0.1:19440/sign-in");

    let first = plane.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    assert_eq!(first.status, 200);
    let cookie = first.header("set-cookie").unwrap();
    for part in ["HttpOnly", "SameSite=Lax", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    assert!(!cookie.contains("Secure"), "plain http on this machine: {cookie}");
    assert_eq!(first.data("email"), "ada@example.org");

    let second = plane.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    assert_eq!(second.failure().2, "sign_in_link_invalid");
}

#[tokio::test]
async fn signing_out_ends_the_session() {
    let plane = Plane::start().await;
    let owner = plane.owner().await;
    let me = owner.get("/me").await;
    assert_eq!((me.data("firstName"), me.data("role")), (&json!("Ada"), &json!("org:admin")));
    assert_eq!(me.json["data"]["organization"]["slug"], "home");

    assert_eq!(owner.post("/auth/sign-out", json!({})).await.status, 200);
    assert_eq!(owner.get("/me").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn a_cookie_changes_nothing_without_a_trusted_page() {
    let plane = Plane::start().await;
    let owner = plane.owner().await;
    let body = json!({"name": "x"});
    assert_eq!(owner.without("origin").post("/api-keys", body.clone()).await.refused(), (403, "Forbidden"));
    let evil = owner.with_header("origin", "http://evil.example");
    assert_eq!(evil.post("/api-keys", body.clone()).await.refused(), (403, "Forbidden"));
    assert_eq!(evil.get("/me").await.refused(), (403, "Forbidden"));
    assert_eq!(owner.post("/api-keys", body).await.status, 200);
}

#[tokio::test]
async fn a_foreign_host_name_gets_nothing() {
    let plane = Plane::start().await;
    for path in ["/health", "/me", "/", "/loops", "/nowhere"] {
        let reply = plane.anonymous().with_header("host", "evil.example:19440").get(path).await;
        assert_eq!(reply.failure(), (403, "host not allowed", "host_not_allowed"), "{path}");
    }
}

#[tokio::test]
async fn a_session_reaches_the_other_organizations_of_its_person() {
    let plane = Plane::start().await;
    let tx = plane.app.store.begin().await.unwrap();
    for (slug, email) in [("second", "ada@example.org"), ("foreign", "eve@example.org")] {
        let id = Uuid::now_v7();
        let row = organization::ActiveModel {
            id: Set(id),
            name: Set(slug.to_owned()),
            slug: Set(slug.to_owned()),
            active: Set(true),
            settings: Set(json!({})),
            created_at: Set(now()),
        };
        organization::Entity::insert(row).exec_without_returning(&tx).await.unwrap();
        insert_user(&tx, id, "x", email, Role::Member).await.unwrap();
    }
    tx.commit().await.unwrap();

    let owner = plane.owner().await;
    let slug = |reply: crate::tests::Reply| reply.json["data"]["organization"]["slug"].clone();
    assert_eq!(slug(owner.with_header("x-org-slug", "second").get("/me").await), "second");
    assert_eq!(owner.with_header("x-org-slug", "foreign").get("/me").await.status, 403);
    assert_eq!(owner.with_header("x-org-slug", "nowhere").get("/me").await.status, 403);
    assert_eq!(slug(owner.with_header("x-organization-id", "second").get("/me").await), "home");
    let key = plane.key().await;
    assert_eq!(key.with_header("x-org-slug", "second").get("/me").await.status, 403);
    assert_eq!(key.with_header("x-org-slug", "home").get("/me").await.status, 200);
}

#[tokio::test]
async fn a_session_survives_a_restart() {
    let plane = Plane::start().await;
    let token = session::create_link(&plane.app.store, plane.owner.user_id).await.unwrap();
    let reply = plane.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    let cookie = reply.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let owner = plane.owner.clone();
    let plane = plane.restart().await;
    assert_eq!(plane.owner, owner, "the owner is made once");
    assert_eq!(plane.anonymous().with_header("cookie", &cookie).get("/me").await.status, 200);
}
