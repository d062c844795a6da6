use serde_json::json;

use crate::tests::desktop::DesktopIdentity;
use crate::tests::{ORIGIN, TestApp};

const CHALLENGE: &str = "/compute-targets/local-auth/challenge";
const VERIFY: &str = "/compute-targets/local-auth/verify";

// CP-42
#[tokio::test]
async fn challenge_is_verified_once_by_the_users_desktop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let identity = DesktopIdentity::claim(&plane).await;
    let verify = |token: String, origin: &str| {
        let client = identity.client(&plane, "POST", VERIFY, 0);
        let body = json!({"challengeToken": token, "requestOrigin": origin, "userAgent": "test"});
        async move { client.post(VERIFY, body).await }
    };
    let challenge = async || {
        let created = owner.post(CHALLENGE, json!({"origin": ORIGIN})).await;
        assert_eq!((created.status.as_u16(), created.header("cache-control")), (200, Some("no-store")));
        created.data("challengeToken").as_str().unwrap().to_owned()
    };

    let token = challenge().await;
    let first = verify(token.clone(), ORIGIN).await;
    assert_eq!(
        (first.data("ok"), first.data("sessionTtlSeconds")),
        (&json!(true), &json!(600)),
        "{}",
        first.text
    );
    let used = (403, "Challenge has already been used or has expired");
    assert_eq!(verify(token, ORIGIN).await.refused(), used);

    // A challenge from a wrong origin may have leaked, so it is consumed even though the verification fails.
    let token = challenge().await;
    let elsewhere = verify(token.clone(), "http://evil.example").await;
    assert_eq!(elsewhere.refused(), (403, "Request origin does not match challenge origin"));
    assert_eq!(verify(token, ORIGIN).await.refused(), used, "a failed verification consumes the challenge");
    assert_eq!(
        verify("x.y.z".to_owned(), ORIGIN).await.refused(),
        (401, "Invalid or expired challenge token")
    );
}

// CP-42
#[tokio::test]
async fn challenge_of_another_user_is_rejected() {
    let plane = TestApp::start().await;
    let member = plane.member("ben@example.org").await;
    let created = member.post(CHALLENGE, json!({"origin": ORIGIN})).await;
    let identity = DesktopIdentity::claim(&plane).await;
    let body = json!({"challengeToken": created.data("challengeToken"), "requestOrigin": ORIGIN});
    let reply = identity.client(&plane, "POST", VERIFY, 0).post(VERIFY, body).await;
    assert_eq!(reply.refused(), (403, "Challenge was not issued for this API key owner"));
}

// CP-42
#[tokio::test]
async fn challenge_requires_the_origin_of_the_request() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let foreign = json!({"origin": "http://evil.example"});
    assert_eq!(owner.post(CHALLENGE, foreign.clone()).await.refused(), (400, "Origin is not trusted"));
    let other = json!({"origin": "http://localhost:19440"});
    assert_eq!(
        owner.post(CHALLENGE, other).await.refused(),
        (403, "Posted origin does not match request origin")
    );
    let own = json!({"origin": ORIGIN});
    let evil = owner.with_header("origin", "http://evil.example");
    let refused = evil.post(CHALLENGE, own.clone()).await;
    assert_eq!(refused.header("cache-control"), Some("no-store"));
    assert_eq!(refused.status, 403, "a session is not accepted from a foreign origin");
    let bearer = evil.with_bearer("x");
    assert_eq!(bearer.post(CHALLENGE, own).await.status, 401);
}
