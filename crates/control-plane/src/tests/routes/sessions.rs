use futures_util::FutureExt;
use http_body_util::BodyExt;
use serde_json::json;

use crate::store::entity::user::Role;
use crate::tests::TestApp;

#[tokio::test]
async fn user_lists_and_revokes_own_sessions() {
    let plane = TestApp::start().await;
    let phone = plane.owner().await;
    let token = crate::credentials::session::create_link(&plane.app.store, plane.owner.user_id, "link", None)
        .await
        .unwrap();
    let laptop = plane.anonymous().with_header("origin", crate::tests::ORIGIN);
    let laptop = laptop.with_header("user-agent", "Firefox").with_address("192.0.2.7");
    let laptop = laptop.signed_in(&laptop.post("/auth/sign-in-link", json!({"token": token})).await);

    let listed = laptop.get("/sessions").await;
    let [newest, oldest] = listed.json["data"].as_array().unwrap().as_slice() else {
        panic!("{}", listed.text)
    };
    assert_eq!((&newest["current"], &oldest["current"]), (&json!(true), &json!(false)));
    assert_eq!((&newest["address"], &newest["userAgent"]), (&json!("192.0.2.7"), &json!("Firefox")));
    // The list must contain neither of the two secrets of a session.
    for client in [&phone, &laptop] {
        let (cookie, key) = (client.header("cookie"), client.header("x-session-key"));
        assert!(!listed.text.contains(key) && !listed.text.contains(cookie.split_once('=').unwrap().1));
    }

    let stream = phone.response("GET", "/compute-targets/status-stream", None).await.into_body();
    let mut other = laptop.response("GET", "/compute-targets/status-stream", None).await.into_body();
    let path = format!("/sessions/{}", oldest["id"].as_str().unwrap());
    assert_eq!(
        plane.member("ben@example.org").await.delete(&path).await.refused(),
        (404, "Session not found")
    );
    assert_eq!(laptop.delete(&path).await.data("deleted"), true);
    stream.collect().await.unwrap();
    assert_eq!(phone.get("/me").await.status, 401);
    assert!(other.frame().now_or_never().is_none(), "the stream of another session stays open");
    assert_eq!(laptop.delete(&path).await.status, 404);
    assert_eq!(laptop.get("/sessions").await.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn sessions_of_one_identity_are_listed_together() {
    let plane = TestApp::start().await;
    let second = plane.organization("second").await;
    let ada = plane.identity(plane.owner.user_id).await;
    let user = plane.join(second, ada, "ada@example.org", Role::Member).await;
    let (here, there) = (plane.owner().await, plane.sign_in(user).await);
    for client in [here, there] {
        assert_eq!(client.get("/sessions").await.json["data"].as_array().unwrap().len(), 2);
    }
}

#[tokio::test]
async fn sign_in_link_of_another_user_asks_and_ends_the_former_session() {
    let plane = TestApp::start().await;
    let ben = plane.member("ben@example.org").await;
    let link = async || {
        let store = &plane.app.store;
        let link = crate::credentials::session::create_link(store, plane.owner.user_id, "link", None);
        link.await.unwrap()
    };
    let token = link().await;
    let asked = ben.post("/auth/sign-in-link", json!({"token": token})).await;
    assert_eq!((asked.failure().0, asked.failure().2), (409, "already_signed_in"));
    assert_eq!(
        (asked.data("email"), asked.data("newEmail")),
        (&json!("ben@example.org"), &json!("ada@example.org"))
    );
    assert_eq!(ben.get("/me").await.status, 200);

    let agreed = ben.post("/auth/sign-in-link", json!({"token": token, "replacesSession": true})).await;
    let ada = ben.signed_in(&agreed);
    assert_eq!(ada.get("/me").await.data("email"), "ada@example.org");
    assert_eq!(ben.get("/me").await.status, 401, "the former session has ended");
    // A link of the same user replaces the session without a question.
    let again = ada.signed_in(&ada.post("/auth/sign-in-link", json!({"token": link().await})).await);
    assert_eq!((again.get("/me").await.status.as_u16(), ada.get("/me").await.status.as_u16()), (200, 401));
}

#[tokio::test]
async fn link_of_an_openid_sign_in_works_only_in_the_browser_that_started_it() {
    let plane = TestApp::start().await;
    let store = &plane.app.store;
    let token = crate::credentials::session::create_link(store, plane.owner.user_id, "oidc", Some("secret"));
    let body = json!({"token": token.await.unwrap()});
    let browser = plane.anonymous().with_header("origin", crate::tests::ORIGIN);
    for other in [browser.clone(), browser.with_header("cookie", "loopgate_oidc=other")] {
        let refused = other.post("/auth/sign-in-link", body.clone()).await;
        assert_eq!((refused.failure().0, refused.failure().2), (401, "sign_in_link_invalid"));
    }
    let own = browser.with_header("cookie", "loopgate_oidc=secret").post("/auth/sign-in-link", body).await;
    assert_eq!(own.status, 200, "{}", own.text);
}
