use serde_json::json;

use crate::accounts::insert_identity;
use crate::credentials::session;
use crate::router::{Access, all_routes};
use crate::store::entity::session as entity;
use crate::store::entity::user::Role;
use crate::store::now;
use crate::tests::{ORIGIN, TestApp};
use futures_util::FutureExt;
use http::StatusCode;
use http_body_util::BodyExt;
use sea_orm::EntityTrait;
use sea_orm::sea_query::Expr;

#[tokio::test]
async fn sign_in_link_works_once() {
    let plane = TestApp::start().await;
    let url = plane.plane.sign_in_link(&plane.owner).await.unwrap();
    let (page, token) = url.split_once("?token=").unwrap();
    assert_eq!(page, "http://127.0.0.1:19440/sign-in");

    let first = plane.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    assert_eq!(first.status, 200);
    let cookie = first.header("set-cookie").unwrap();
    assert!(cookie.starts_with("loopgate_session_"), "{cookie}");
    assert!(cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict; Max-Age=43200"), "{cookie}");
    assert_eq!(first.header("cache-control"), Some("no-store"));
    let key = first.data("sessionKey").as_str().unwrap();
    assert!(key.len() == 43 && !cookie.contains(key), "the cookie does not contain the session key");
    assert_eq!(first.data("email"), "ada@example.org");

    let second = plane.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    assert_eq!(second.failure().2, "sign_in_link_invalid");
}

#[tokio::test]
async fn sign_out_ends_session() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let me = owner.get("/me").await;
    assert_eq!((me.data("firstName"), me.data("role")), (&json!("Ada"), &json!("org:admin")));
    assert_eq!(me.json["data"]["organization"]["slug"], "home");
    assert_eq!(me.data("codeHostUrl"), "http://127.0.0.1:8080", "configured value");

    assert_eq!(owner.post("/auth/sign-out", json!({})).await.status, 200);
    assert_eq!(owner.get("/me").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn session_request_without_a_trusted_origin_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let body = json!({"name": "x"});
    assert_eq!(owner.without("origin").post("/api-keys", body.clone()).await.refused(), (403, "Forbidden"));
    let evil = owner.with_header("origin", "http://evil.example");
    assert_eq!(evil.post("/api-keys", body.clone()).await.refused(), (403, "Forbidden"));
    assert_eq!(evil.get("/me").await.refused(), (403, "Forbidden"));
    assert_eq!(owner.post("/api-keys", body).await.status, 200);
}

#[tokio::test]
async fn foreign_host_name_is_rejected() {
    let plane = TestApp::start().await;
    for path in ["/health", "/me", "/", "/loops", "/nowhere"] {
        let reply = plane.anonymous().with_header("host", "evil.example:19440").get(path).await;
        assert_eq!(reply.failure(), (403, "host not allowed", "host_not_allowed"), "{path}");
    }
}

// CP-46
#[tokio::test]
async fn session_selects_another_organization_of_its_user() {
    let plane = TestApp::start().await;
    let (second, foreign) = (plane.organization("second").await, plane.organization("foreign").await);
    let ada = plane.identity(plane.owner.user_id).await;
    plane.join(second, ada, "ada@second.example.org", Role::Member).await;
    // A user with the same e-mail address but another identity.
    let eve = insert_identity(plane.app.store.writer()).await.unwrap();
    plane.join(foreign, eve, "ada@example.org", Role::Member).await;

    let owner = plane.owner().await;
    let slug = |reply: crate::tests::TestResponse| reply.json["data"]["organization"]["slug"].clone();
    assert_eq!(slug(owner.with_header("x-org-slug", "second").get("/me").await), "second");
    assert_eq!(owner.with_header("x-org-slug", "foreign").get("/me").await.status, 403);
    assert_eq!(owner.with_header("x-org-slug", "nowhere").get("/me").await.status, 403);
    assert_eq!(slug(owner.with_header("x-organization-id", "second").get("/me").await), "home");
    let key = plane.key().await;
    assert_eq!(key.with_header("x-org-slug", "second").get("/me").await.status, 403);
    assert_eq!(key.with_header("x-org-slug", "home").get("/me").await.status, 200);
}

#[tokio::test]
async fn session_survives_a_restart() {
    let plane = TestApp::start().await;
    let credentials = plane.owner().await;
    let owner = plane.owner.clone();
    let plane = plane.restart().await;
    assert_eq!(plane.owner, owner, "the owner is created once");
    assert_eq!(credentials.at(&plane.anonymous()).get("/me").await.status, 200);
}

/// All ports of a host share cookies, so another program on this host can receive the session cookie. Without
/// the session key it authenticates nothing, with any method, origin or header.
#[tokio::test]
async fn cookie_without_session_key_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let cookie = owner.header("cookie").to_owned();
    let id = cookie.split_once('=').unwrap().1.to_owned();
    let mut attackers = Vec::new();
    for origin in [None, Some(ORIGIN), Some("http://127.0.0.1:3000")] {
        let client = plane.anonymous();
        let client = origin.map_or(client.clone(), |origin| client.with_header("origin", origin));
        let with_cookie = client.with_header("cookie", &cookie);
        attackers.extend([
            with_cookie.with_header("x-session-key", &id),
            with_cookie.with_header("x-session-key", ""),
            with_cookie.with_bearer(&id),
            with_cookie,
            client.with_header("x-session-key", &id),
            client.with_bearer(&format!("lgk_live_{id}")),
            client.with_bearer(&id),
        ]);
    }
    for (method, path, access) in all_routes() {
        if access == Access::Public {
            continue;
        }
        for attacker in &attackers {
            let reply = attacker.send(method, &path.replace(['{', '}'], ""), Some("{}".to_owned())).await;
            assert!(matches!(reply.status.as_u16(), 401 | 403), "{method} {path}: {}", reply.text);
        }
    }
    assert_eq!(owner.get("/me").await.status, 200, "the session is still valid");
}

#[tokio::test]
async fn cookie_and_token_must_belong_to_one_session() {
    let plane = TestApp::start().await;
    let (one, other) = (plane.owner().await, plane.member("ben@example.org").await);
    let mixed = one.with_header("cookie", other.header("cookie"));
    assert_eq!(mixed.get("/me").await.refused(), (401, "Unauthorized"));
    let foreign_bearer = one.with_bearer("of-another-user");
    assert_eq!(foreign_bearer.get("/me").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn installations_on_one_host_use_different_cookies() {
    let (one, other) = (TestApp::start().await, TestApp::start().await);
    let (first, second) = (one.owner().await, other.owner().await);
    let name =
        |client: &crate::tests::TestClient| client.header("cookie").split_once('=').unwrap().0.to_owned();
    assert_ne!(name(&first), name(&second));
    // The browser sends the cookies of both ports to both.
    let jar = format!("{}; {}", first.header("cookie"), second.header("cookie"));
    for client in [first, second] {
        assert_eq!(client.with_header("cookie", &jar).get("/me").await.status, 200);
    }
    let secure = TestApp::start_at("https://loopgate.example.org").await;
    let token = session::create_link(&secure.app.store, secure.owner.user_id, "link", None).await.unwrap();
    let reply = secure.anonymous().post("/auth/sign-in-link", json!({"token": token})).await;
    let cookie = reply.header("set-cookie").unwrap();
    assert!(cookie.starts_with("__Host-loopgate_session_") && cookie.contains("; Secure"), "{cookie}");
}

#[tokio::test]
async fn session_is_extended_by_use_and_ends_after_thirty_days() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    assert_eq!(owner.get("/me").await.header("set-cookie"), None, "a fresh session is not extended");
    let set = async |column: entity::Column, at: i64| {
        let update = entity::Entity::update_many().col_expr(column, Expr::value(at));
        update.exec(plane.app.store.writer()).await.unwrap();
    };
    // Near its expiry a session is extended; a recently used one is not, to avoid a write on every request.
    set(entity::Column::ExpiresAt, now() + 60_000).await;
    let cookie = owner.get("/me").await.header("set-cookie").unwrap().to_owned();
    assert!(cookie.starts_with(owner.header("cookie")) && cookie.ends_with("Max-Age=43200"), "{cookie}");
    assert_eq!(owner.get("/me").await.header("set-cookie"), None);

    let row = entity::Entity::find().one(plane.app.store.reader()).await.unwrap().unwrap();
    assert_eq!(row.absolute_expires_at - row.created_at, 30 * 24 * 3600 * 1000);
    set(entity::Column::ExpiresAt, now() + 60_000).await;
    set(entity::Column::AbsoluteExpiresAt, now() + 600_000).await;
    let cookie = owner.get("/me").await.header("set-cookie").unwrap().to_owned();
    let seconds: i64 = cookie.rsplit_once("Max-Age=").unwrap().1.parse().unwrap();
    assert!(seconds <= 600, "a session is not extended beyond its absolute expiry: {cookie}");
    set(entity::Column::ExpiresAt, now()).await;
    assert_eq!(owner.get("/me").await.refused(), (401, "Unauthorized"));
}

#[tokio::test]
async fn sign_out_closes_the_streams_of_the_session() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (id, _runner) = plane.running("CHAT").await;
    let path = format!("/loops/{id}/stream");
    let stream = owner.response("GET", &path, None).await;
    let other = plane.owner().await.response("GET", "/compute-targets/status-stream", None).await;
    assert_eq!((stream.status(), other.status()), (StatusCode::OK, StatusCode::OK));
    owner.post("/auth/sign-out", json!({})).await;
    stream.into_body().collect().await.unwrap();
    // No frame is pending, and the stream has not ended.
    let mut other = other.into_body();
    assert!(other.frame().now_or_never().is_none(), "the stream of another session stays open");
}
