//! Exchanges with a stub of the control plane.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, Uri};
use serde_json::{Value, json};

use super::test_gateway::{TestGateway, TestOptions, TestResponse, WEB_APP};
use crate::ActivityKind;

const VERIFIED: &str = r#"{"success":true,"data":{"ok":true,"sessionTtlSeconds":600}}"#;
const CHALLENGE: &str = r#"{"challengeToken":"challenge"}"#;

/// A request that the stub received.
#[derive(Clone)]
struct RecordedRequest {
    path: String,
    headers: HeaderMap,
    body: Value,
}

#[derive(Clone)]
struct StubControlPlane {
    origin: String,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

#[derive(Clone)]
struct StubResponses {
    /// `None` accepts requests but never responds.
    answer: Option<(StatusCode, &'static str)>,
    requests: Arc<Mutex<Vec<RecordedRequest>>>,
}

impl StubControlPlane {
    async fn answering(answer: Option<(StatusCode, &'static str)>) -> Self {
        async fn handle(
            State(script): State<StubResponses>,
            uri: Uri,
            headers: HeaderMap,
            body: String,
        ) -> (StatusCode, &'static str) {
            let body = serde_json::from_str(&body).unwrap();
            script.requests.lock().unwrap().push(RecordedRequest {
                path: uri.path().to_owned(),
                headers,
                body,
            });
            match script.answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        }
        let requests = Arc::<Mutex<Vec<RecordedRequest>>>::default();
        let router =
            Router::new().fallback(handle).with_state(StubResponses { answer, requests: requests.clone() });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, requests }
    }

    fn calls(&self) -> Vec<RecordedRequest> {
        self.requests.lock().unwrap().clone()
    }

    async fn gateway(&self) -> TestGateway {
        TestGateway::with(TestOptions { api_origin: Some(self.origin.clone()), ..TestOptions::default() })
            .await
    }
}

async fn exchange(fixture: &TestGateway, body: &str) -> TestResponse {
    fixture
        .anonymous("POST", "/gateway-auth/exchange")
        .origin(WEB_APP)
        .header("User-Agent", "browser")
        .body(body)
        .send()
        .await
}

// GC-13
#[tokio::test]
async fn valid_challenge_creates_a_session() {
    let control_plane = StubControlPlane::answering(Some((StatusCode::OK, VERIFIED))).await;
    let fixture = control_plane.gateway().await;
    let before = jiff::Timestamp::now();
    let reply = exchange(&fixture, CHALLENGE).await;
    assert_eq!((reply.status, reply.header("Cache-Control")), (200, Some("no-store")));
    let body = reply.json();
    let token = body["sessionToken"].as_str().unwrap();
    assert!(token.len() == 64 && token.bytes().all(|b| b.is_ascii_hexdigit()));
    let expires: jiff::Timestamp = body["expiresAt"].as_str().unwrap().parse().unwrap();
    let life = expires.duration_since(before).as_secs();
    assert!((598..=602).contains(&life), "{life}");
    let version =
        fixture.anonymous("GET", "/api/gateway/version").origin(WEB_APP).session(token).send().await;
    assert_eq!(version.status, 200);
    let calls = control_plane.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].path, "/compute-targets/local-auth/verify");
    assert_eq!(calls[0].headers["authorization"], "Bearer lgk_live_test0123456789");
    assert!(
        calls[0].headers.contains_key("x-desktop-signature"),
        "the request proves possession of the desktop's key"
    );
    assert_eq!(
        calls[0].body,
        json!({"challengeToken": "challenge", "requestOrigin": WEB_APP, "userAgent": "browser"})
    );
}

// GC-10
#[tokio::test]
async fn ninth_session_evicts_the_first() {
    let control_plane = StubControlPlane::answering(Some((StatusCode::OK, VERIFIED))).await;
    let fixture = control_plane.gateway().await;
    let mut tokens = Vec::new();
    for _ in 0..9 {
        tokens.push(exchange(&fixture, CHALLENGE).await.json()["sessionToken"].as_str().unwrap().to_owned());
    }
    for (index, token) in tokens.iter().enumerate() {
        let reply =
            fixture.anonymous("GET", "/api/gateway/version").origin(WEB_APP).session(token).send().await;
        assert_eq!(reply.status, if index == 0 { 401 } else { 200 });
    }
}

// GC-11
#[tokio::test]
async fn exchange_needs_an_allowed_origin() {
    let control_plane = StubControlPlane::answering(Some((StatusCode::OK, VERIFIED))).await;
    let fixture = control_plane.gateway().await;
    let request = || fixture.anonymous("POST", "/gateway-auth/exchange").body(CHALLENGE);
    for reply in [request().send().await, request().origin("null").send().await] {
        reply.assert_error(400, "Origin header required", "invalid_request");
        assert_eq!(reply.header("Cache-Control"), Some("no-store"));
    }
    request().origin("https://evil.test").send().await.assert_error(403, "Origin not allowed", "forbidden");
    assert!(control_plane.calls().is_empty());
}

// GC-16
#[tokio::test]
async fn production_only_refuses_loopback_pages() {
    let fixture = TestGateway::with(TestOptions { production_only: true, ..TestOptions::default() }).await;
    let request =
        fixture.anonymous("POST", "/gateway-auth/exchange").origin("http://localhost:3000").body(CHALLENGE);
    request.send().await.assert_error(
        403,
        "Origin not allowed -- gateway is in production-origins-only mode",
        "forbidden",
    );
}

// GC-12
#[tokio::test]
async fn exchange_requires_an_api_key_and_an_api_origin() {
    let fixture = TestGateway::with(TestOptions { api_key: false, ..TestOptions::default() }).await;
    exchange(&fixture, CHALLENGE).await.assert_error(
        503,
        "Local gateway auth unavailable: API key required",
        "unavailable",
    );
    assert_eq!(fixture.anonymous("GET", "/health").send().await.status, 200);
    let fixture = TestGateway::new().await;
    exchange(&fixture, CHALLENGE).await.assert_error(503, "API origin not configured", "unavailable");
}

// GC-15
#[tokio::test]
async fn exchange_body_is_limited_to_4096_bytes() {
    let control_plane = StubControlPlane::answering(Some((StatusCode::OK, VERIFIED))).await;
    let fixture = control_plane.gateway().await;
    let request = || fixture.anonymous("POST", "/gateway-auth/exchange").origin(WEB_APP);
    let padded = |bytes: usize| format!("{CHALLENGE}{}", " ".repeat(bytes - CHALLENGE.len()));
    for over in
        [request().body(padded(4097)).send().await, request().chunked(padded(4097).as_bytes()).send().await]
    {
        let body = over.assert_error(413, "request body too large", "request_body_too_large");
        assert_eq!(body["maxBytes"], 4096);
    }
    assert!(control_plane.calls().is_empty());
    assert_eq!(request().body(padded(4096)).send().await.status, 200);
    assert_eq!(request().chunked(CHALLENGE.as_bytes()).send().await.status, 200);
}

#[tokio::test]
async fn challenge_token_must_be_a_non_empty_string() {
    let control_plane = StubControlPlane::answering(Some((StatusCode::OK, VERIFIED))).await;
    let fixture = control_plane.gateway().await;
    for body in ["", "{", "null", "[]", "{}", r#"{"challengeToken":""}"#, r#"{"challengeToken":5}"#] {
        exchange(&fixture, body).await.assert_error(
            400,
            "invalid request body: challengeToken required",
            "invalid_request",
        );
    }
    assert!(control_plane.calls().is_empty());
}

// GC-14
#[tokio::test]
async fn refusal_of_the_control_plane_is_passed_on() {
    for (status, answer, error, code) in [
        (403, r#"{"error":"nope"}"#, "nope", "forbidden"),
        (401, r#"{"success":false,"error":"challenge expired"}"#, "challenge expired", "unauthorized"),
        (409, "<html>", "verify failed (409)", "conflict"),
        (500, "{}", "verify failed (500)", "operation_failed"),
    ] {
        let control_plane =
            StubControlPlane::answering(Some((StatusCode::from_u16(status).unwrap(), answer))).await;
        let fixture = control_plane.gateway().await;
        exchange(&fixture, CHALLENGE).await.assert_error(status, error, code);
        let event = fixture.gateway.activity().list().remove(0);
        assert_eq!(event.kind, ActivityKind::Security);
        assert_eq!(event.detail, Some(format!("exchange rejected: {error}")));
    }
}

#[tokio::test]
async fn malformed_verification_response_is_a_502() {
    for answer in ["no json", "{}", r#"{"success":true,"data":{"ok":false,"sessionTtlSeconds":1}}"#] {
        let control_plane = StubControlPlane::answering(Some((StatusCode::OK, answer))).await;
        let fixture = control_plane.gateway().await;
        exchange(&fixture, CHALLENGE).await.assert_error(
            502,
            "unexpected response format",
            "upstream_failed",
        );
    }
}

// GC-14
#[tokio::test]
async fn unreachable_control_plane_is_reported_without_details() {
    let control_plane = StubControlPlane::answering(None).await;
    let mut options =
        TestOptions { api_origin: Some(control_plane.origin.clone()), ..TestOptions::default() };
    // The default is part of the interface; the test itself uses a shorter one.
    assert_eq!(options.limits.verify_timeout, Duration::from_secs(5));
    options.limits.verify_timeout = Duration::from_millis(100);
    let fixture = TestGateway::with(options).await;
    exchange(&fixture, CHALLENGE).await.assert_error(504, "verify request timed out", "upstream_timed_out");
    let unreachable = TestGateway::with(TestOptions {
        // The discard port, on which nothing listens.
        api_origin: Some("http://127.0.0.1:9".to_owned()),
        ..TestOptions::default()
    })
    .await;
    let error = "verify request failed: control plane unreachable";
    exchange(&unreachable, CHALLENGE).await.assert_error(502, error, "upstream_failed");
}

#[tokio::test]
async fn session_lifetime_is_limited_to_a_day() {
    for (answer, least, most) in [
        (r#"{"ok":true,"sessionTtlSeconds":0}"#, 0, 1),
        (r#"{"ok":true,"sessionTtlSeconds":-5}"#, 0, 1),
        (r#"{"ok":true,"sessionTtlSeconds":1e300}"#, 86_398, 86_400),
    ] {
        let control_plane = StubControlPlane::answering(Some((StatusCode::OK, answer))).await;
        let fixture = control_plane.gateway().await;
        let body = exchange(&fixture, CHALLENGE).await.json();
        let expires: jiff::Timestamp = body["expiresAt"].as_str().unwrap().parse().unwrap();
        let life = expires.duration_since(jiff::Timestamp::now()).as_secs();
        assert!((least..=most).contains(&life), "{answer}: {life}");
    }
}

// GC-17
#[tokio::test]
async fn no_auth_mode_creates_sessions_without_a_challenge() {
    let fixture =
        TestGateway::with(TestOptions { no_auth: true, api_key: false, ..TestOptions::default() }).await;
    let reply = exchange(&fixture, "{}").await;
    assert_eq!(reply.status, 200);
    let expires: jiff::Timestamp = reply.json()["expiresAt"].as_str().unwrap().parse().unwrap();
    let life = expires.duration_since(jiff::Timestamp::now()).as_secs();
    assert!((86_390..=86_400).contains(&life), "{life}");
}

#[tokio::test]
async fn exchanges_are_rate_limited_per_origin() {
    let fixture = TestGateway::new().await;
    assert_eq!(exchange(&fixture, CHALLENGE).await.status, 503);
    fixture.gateway.exhaust_rate_limits_for_test(WEB_APP);
    let reply = exchange(&fixture, CHALLENGE).await;
    reply.assert_error(429, "too many exchanges, retry shortly", "too_many_requests");
    assert!(reply.header("Retry-After").is_some());
    // Another origin has its own bucket, so it fails later, for lack of an API origin.
    let other =
        fixture.anonymous("POST", "/gateway-auth/exchange").origin("http://localhost:1").body(CHALLENGE);
    assert_eq!(other.send().await.status, 503, "another origin has its own limit");
}
