use ed25519_dalek::SigningKey;
use serde_json::json;
use uuid::Uuid;

use crate::tests::desktop::{DesktopIdentity, claim_body};
use crate::tests::{ORIGIN, TestApp};

// A valid public key of another algorithm; only Ed25519 is accepted.
const RSA_PEM: &str = "-----BEGIN PUBLIC KEY-----\nMFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAKj34GkxFhD90vcNLYLInFEX6Ppy1tPf\n9Cnzj4p4WGeKLs1Pt8QuKUpRKfFLfRYC9AIKjbJTWit+CqvjWYzvQwECAwEAAQ==\n-----END PUBLIC KEY-----\n";

// CP-37
#[tokio::test]
async fn onboarding_attempt_requires_the_origin_of_the_request() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let path = "/desktop/onboarding-attempt";
    let created = owner.post(path, json!({"webAppOrigin": ORIGIN, "platform": "linux"})).await;
    assert_eq!(created.status, 200, "{}", created.text);
    assert_eq!(created.json["onboardingAttemptId"].as_str().unwrap().len(), 43);
    assert_eq!(created.header("cache-control"), Some("no-store"));

    let refused = |reply: crate::tests::TestResponse| {
        assert_eq!(reply.header("cache-control"), Some("no-store"));
        (reply.status.as_u16(), reply.json)
    };
    let forbidden = (403, json!({"code": "ONBOARDING_ATTEMPT_FORBIDDEN", "retryable": false}));
    let other = json!({"webAppOrigin": "http://localhost:19440"});
    assert_eq!(refused(owner.post(path, other).await), forbidden);
    let evil = owner.with_header("origin", "http://evil.example");
    assert_eq!(refused(evil.post(path, json!({"webAppOrigin": "http://evil.example"})).await), forbidden);
    let invalid = (400, json!({"code": "INVALID_ONBOARDING_ATTEMPT_REQUEST", "retryable": false}));
    assert_eq!(refused(owner.post(path, json!({"webAppOrigin": ORIGIN, "extra": 1})).await), invalid);
    let missing = (401, json!({"code": "SESSION_REQUIRED", "retryable": false}));
    let anonymous = plane.anonymous().with_header("origin", ORIGIN);
    assert_eq!(refused(anonymous.post(path, json!({"webAppOrigin": ORIGIN})).await), missing);
}

// CP-38
#[tokio::test]
async fn onboarding_attempt_is_claimed_once() {
    let plane = TestApp::start().await;
    let attempt = plane.plane.onboarding_attempt_for_owner(&plane.owner).await.unwrap();
    let signing = SigningKey::from_bytes(&[7; 32]);
    let body = claim_body(&attempt, Uuid::new_v4(), &signing);
    let first = plane.anonymous().post("/desktop/bootstrap/claim", body.clone()).await;
    assert_eq!((first.status.as_u16(), &first.json["source"]), (200, &json!("DESKTOP_MANAGED")));
    assert_eq!(first.header("cache-control"), Some("no-store"));
    let second = plane.anonymous().post("/desktop/bootstrap/claim", body).await;
    assert_eq!(second.status, 401);
    assert_eq!(second.json, json!({"code": "ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED", "retryable": false}));
}

// CP-39, CP-51
#[tokio::test]
async fn onboarding_attempt_survives_invalid_claims() {
    let plane = TestApp::start().await;
    let attempt = plane.plane.onboarding_attempt_for_owner(&plane.owner).await.unwrap();
    let signing = SigningKey::from_bytes(&[7; 32]);
    let good = claim_body(&attempt, Uuid::new_v4(), &signing);
    let changed = |name: &str, value: serde_json::Value| {
        let mut body = good.clone();
        body[name] = value;
        body
    };
    let cases = [
        (changed("gatewayPublicKeyPem", json!(RSA_PEM)), 400, "INVALID_GATEWAY_PUBLIC_KEY"),
        (changed("gatewayPublicKeyPem", json!(null)), 400, "INVALID_GATEWAY_PUBLIC_KEY"),
        (changed("gatewayId", json!("x")), 400, "INVALID_BOOTSTRAP_CLAIM_REQUEST"),
        (changed("extra", json!(1)), 400, "INVALID_BOOTSTRAP_CLAIM_REQUEST"),
        (changed("webAppOrigin", json!("http://evil.example")), 400, "INVALID_BOOTSTRAP_CLAIM_REQUEST"),
        (changed("webAppOrigin", json!("http://localhost:19440")), 403, "ONBOARDING_ATTEMPT_ORIGIN_MISMATCH"),
        (changed("onboardingAttemptId", json!("unknown")), 401, "ONBOARDING_ATTEMPT_INVALID_OR_EXPIRED"),
    ];
    for (body, status, code) in cases {
        let reply = plane.anonymous().post("/desktop/bootstrap/claim", body).await;
        assert_eq!((reply.status.as_u16(), reply.json), (status, json!({"code": code, "retryable": false})));
    }
    // Older desktops send the key as `gatewayPublicKey`.
    let mut aliased = good.clone();
    let pem = aliased.as_object_mut().unwrap().remove("gatewayPublicKeyPem").unwrap();
    aliased["gatewayPublicKey"] = pem;
    assert_eq!(plane.anonymous().post("/desktop/bootstrap/claim", aliased).await.status, 200);
}

// CP-40
#[tokio::test]
async fn second_claim_replaces_the_desktops_key() {
    let plane = TestApp::start().await;
    let first = DesktopIdentity::claim(&plane).await;
    let second = DesktopIdentity::claim_for(&plane, first.gateway_id).await;
    let other = DesktopIdentity::claim(&plane).await;
    assert_eq!(first.client(&plane, "GET", "/me", 0).get("/me").await.status, 401);
    for valid in [second, other] {
        assert_eq!(valid.client(&plane, "GET", "/me", 0).get("/me").await.status, 200);
    }
}

// CP-41
#[tokio::test]
async fn bound_key_requires_its_proof() {
    let plane = TestApp::start().await;
    let identity = DesktopIdentity::claim(&plane).await;
    let failed = "Desktop managed PoP verification failed";
    let bare = plane.anonymous().with_bearer(&identity.api_key);
    assert_eq!(bare.get("/me").await.refused(), (401, failed));
    // Proofs are valid for 60 seconds in both directions; 62 leaves a second for rounding.
    for offset in [-61, 62] {
        let stale = identity.client(&plane, "GET", "/me", offset);
        let refused = stale.get("/me").await;
        let direction = if offset > 0 { "ahead of" } else { "behind" };
        let expected = format!("{failed}: the desktop's clock is ");
        let (status, error, code) = refused.failure();
        assert_eq!((status, code), (403, "clock_skew"), "{offset} s");
        assert!(error.starts_with(&expected) && error.contains(direction), "{error}");
        let seconds = refused.json["details"]["seconds"].as_i64().unwrap();
        assert!(seconds.abs_diff(offset) <= 1, "{seconds}");
    }
    let good = identity.client(&plane, "GET", "/me", -30);
    assert_eq!(good.get("/me").await.status, 200);
    assert_eq!(good.get("/loops").await.refused(), (403, failed), "signed for another path");
    let foreign = good.with_header("x-desktop-gateway-id", &Uuid::new_v4().to_string());
    assert_eq!(foreign.get("/me").await.refused(), (403, failed));
    let malformed = good.with_header("x-desktop-signature", "!!");
    assert_eq!(malformed.get("/me").await.refused(), (401, failed));
}
