//! The checks before the handlers, one refusal after the other.

use jiff::Timestamp;
use std::time::Duration;

use super::test_gateway::{TOKEN, TestGateway, TestOptions, WEB_APP};

const PRIVATE_NETWORK: &str = "Access-Control-Request-Private-Network";
const ALLOW_PRIVATE_NETWORK: &str = "Access-Control-Allow-Private-Network";
const ALLOW_ORIGIN: &str = "Access-Control-Allow-Origin";

fn session(fixture: &TestGateway, origin: &str) -> String {
    fixture.gateway.session_for_test(origin, Duration::from_secs(600), Timestamp::now())
}

// GC-03
#[tokio::test]
async fn health_is_public_and_get_only() {
    let fixture = TestGateway::new().await;
    let reply = fixture.anonymous("GET", "/health").send().await;
    let body = reply.json();
    assert_eq!((reply.status, body["status"].as_str()), (200, Some("ok")));
    assert_eq!(body["port"], fixture.port);
    assert_eq!(body["version"], "1.2.3");
    assert_eq!(body["onboardingCompleted"], true);
    assert_eq!(body["capabilities"]["tools"]["codeHost"], false);
    assert_eq!(reply.header(ALLOW_ORIGIN), Some(WEB_APP));
    assert_eq!(reply.header(ALLOW_PRIVATE_NETWORK), None);
    for (method, path) in [("POST", "/health"), ("GET", "/health/"), ("PUT", "/health"), ("GET", "/Health")] {
        fixture.anonymous(method, path).send().await.assert_error(404, "route not found", "route_not_found");
    }
    assert_eq!(fixture.anonymous("HEAD", "/health").send().await.status, 404);
}

#[tokio::test]
async fn health_follows_the_settings() {
    let fixture =
        TestGateway::with(TestOptions { set_up: false, api_key: false, ..TestOptions::default() }).await;
    assert_eq!(fixture.anonymous("GET", "/health").send().await.json()["onboardingCompleted"], false);
    fixture.settings.update(|settings| settings.onboarding_completed = true).unwrap();
    assert_eq!(fixture.anonymous("GET", "/health").send().await.json()["onboardingCompleted"], true);
}

// GC-04
#[tokio::test]
async fn preflight_is_answered_without_a_credential() {
    let fixture = TestGateway::new().await;
    let reply = fixture.anonymous("OPTIONS", "/api/gateway/version").send().await;
    assert_eq!((reply.status, reply.body.len()), (204, 0));
    assert_eq!(reply.header(ALLOW_ORIGIN), Some(WEB_APP));
    assert_eq!(
        reply.header("Access-Control-Allow-Headers"),
        Some(
            "Content-Type,Authorization,X-Desktop-Gateway-Token,X-Desktop-Session-Token,X-Desktop-Source,\
             X-Desktop-Force-Approval,X-Desktop-Approval-Reason"
        )
    );
    assert_eq!(reply.header("Access-Control-Allow-Methods"), Some("GET,POST,PUT,PATCH,DELETE,OPTIONS"));
    assert_eq!(reply.header("Access-Control-Allow-Credentials"), Some("false"));
    assert_eq!(
        reply.header("Vary"),
        Some("Origin,Access-Control-Request-Headers,Access-Control-Request-Private-Network")
    );
    for target in ["/health", "/nope", "/", "*", "/gateway-auth/exchange"] {
        assert_eq!(fixture.anonymous("OPTIONS", target).send().await.status, 204, "{target}");
    }
}

// GC-05
#[tokio::test]
async fn private_network_access_is_granted_to_allowed_origins() {
    let fixture = TestGateway::new().await;
    for (origin, granted) in [
        (WEB_APP, true),
        ("http://127.0.0.2:8080", true),
        ("http://127.evil.test:8080", false),
        ("https://evil.test", false),
        ("null", false),
    ] {
        let preflight = fixture.anonymous("OPTIONS", "/api/gateway/version").origin(origin);
        let reply = preflight.header(PRIVATE_NETWORK, "TRUE").send().await;
        assert_eq!(reply.header(ALLOW_ORIGIN), Some(if granted { origin } else { WEB_APP }), "{origin}");
        assert_eq!(reply.header(ALLOW_PRIVATE_NETWORK), granted.then_some("true"), "{origin}");
    }
}

// GC-06, GC-07
#[tokio::test]
async fn production_only_refuses_loopback_origins() {
    let fixture = TestGateway::with(TestOptions { production_only: true, ..TestOptions::default() }).await;
    let preflight = fixture.anonymous("OPTIONS", "/api/gateway/version").origin("http://localhost:3000");
    let reply = preflight.header(PRIVATE_NETWORK, "true").send().await;
    assert_eq!((reply.header(ALLOW_ORIGIN), reply.header(ALLOW_PRIVATE_NETWORK)), (Some(WEB_APP), None));
    let token = session(&fixture, "http://localhost:3000");
    let request = || fixture.anonymous("GET", "/api/gateway/version").origin("http://localhost:3000");
    let body = request().session(&token).send().await.assert_error(401, "unauthorized", "unauthorized");
    assert_eq!(body["reason"], "origin not allowed in prod-origins-only mode");
    assert_eq!(request().header("X-Desktop-Gateway-Token", TOKEN).send().await.status, 200);
}

// GC-07, GC-08
#[tokio::test]
async fn gateway_token_or_session_with_its_origin_authenticates() {
    let fixture = TestGateway::new().await;
    let version = || fixture.anonymous("GET", "/api/gateway/version");
    assert_eq!(fixture.internal("GET", "/api/gateway/version").send().await.status, 200);
    let foreign = fixture.internal("GET", "/api/gateway/version").origin("https://evil.test").send().await;
    assert_eq!((foreign.status, foreign.header(ALLOW_ORIGIN)), (200, Some(WEB_APP)));
    let token = session(&fixture, "http://localhost:3000");
    let reply = version().session(&token).origin("http://localhost:3000").send().await;
    assert_eq!((reply.status, reply.header(ALLOW_ORIGIN)), (200, Some("http://localhost:3000")));
    let refusals = [
        (version(), "no credential provided"),
        (version().origin("null"), "no credential provided"),
        (version().header("X-Desktop-Gateway-Token", "wrong"), "no credential provided"),
        (version().origin(WEB_APP), "session token required for browser requests"),
        (version().session(&token), "session token present but Origin header missing"),
        (
            version().session(&token).origin("http://localhost:3001"),
            "invalid or expired session token, or origin mismatch",
        ),
        (version().session("x").origin(WEB_APP), "invalid or expired session token, or origin mismatch"),
    ];
    for (request, reason) in refusals {
        let body = request.send().await.assert_error(401, "unauthorized", "unauthorized");
        assert_eq!(body["reason"], reason);
    }
}

// GC-09
#[tokio::test]
async fn session_expires() {
    let fixture = TestGateway::new().await;
    let session_of_age = |age: u64| {
        let created_at = Timestamp::now() - Duration::from_secs(age);
        fixture.gateway.session_for_test(WEB_APP, Duration::from_secs(600), created_at)
    };
    let request = |token: String| {
        fixture.anonymous("GET", "/api/gateway/version").session(&token).origin(WEB_APP).send()
    };
    assert_eq!(request(session_of_age(500)).await.status, 200);
    request(session_of_age(601)).await.assert_error(401, "unauthorized", "unauthorized");
}

#[tokio::test]
async fn foreign_host_is_refused_on_every_route() {
    let fixture = TestGateway::new().await;
    for (method, path) in [
        ("GET", "/health"),
        ("OPTIONS", "/api/gateway/version"),
        ("GET", "/api/gateway/version"),
        ("POST", "/gateway-auth/exchange"),
        ("GET", "/nope"),
    ] {
        for host in ["evil.test", "evil.test:80", "127.0.0.1", "localhost:1"] {
            let request = format!(
                "{method} {path} HTTP/1.1\r\nHost: {host}\r\nX-Desktop-Gateway-Token: {TOKEN}\r\nOrigin: http://{host}\r\n\r\n"
            );
            let reply = fixture.raw(&request).await;
            assert_eq!(
                (reply.status, reply.text()),
                (403, r#"{"error":"host not allowed","code":"host_not_allowed"}"#)
            );
            assert_eq!(reply.header(ALLOW_ORIGIN), None);
        }
    }
    let hosts =
        format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{0}\r\nHost: evil.test\r\n\r\n", fixture.port);
    // Two `Host` headers: a proxy and the gateway could each honor another one.
    assert_ne!(fixture.raw(&hosts).await.status, 200);
    for name in ["localhost", "LOCALHOST", "[::1]"] {
        let request = format!("GET /health HTTP/1.1\r\nHost: {name}:{}\r\n\r\n", fixture.port);
        assert_eq!(fixture.raw(&request).await.status, 200, "{name}");
    }
}

// GC-18
#[tokio::test]
async fn body_is_limited_to_exactly_256_kib() {
    let fixture = TestGateway::new().await;
    let post = || fixture.internal("POST", "/api/gateway/git");
    post().body(vec![b' '; 262_144]).send().await.assert_error(400, "repoPath is required", "missing_field");
    for over in
        [post().body(vec![b' '; 262_145]).send().await, post().chunked(&vec![b' '; 262_145]).send().await]
    {
        let body = over.assert_error(413, "request body too large", "request_body_too_large");
        assert_eq!(body["maxBytes"], 262_144);
        assert_eq!(over.header("Cache-Control"), Some("no-store"));
        assert_eq!(over.header("Connection"), Some("close"));
        assert_eq!(over.header(ALLOW_ORIGIN), Some(WEB_APP));
    }
    let events = fixture.gateway.activity().list();
    assert!(events.iter().any(|event| event.detail.as_deref() == Some("request_body_too_large")));
    let unauthorized = fixture.anonymous("POST", "/api/gateway/git").body(vec![b' '; 300_000]).send().await;
    assert_eq!((unauthorized.status, unauthorized.header("Connection")), (401, Some("close")));
}

// GC-19, OR-49
#[tokio::test]
async fn loop_body_is_limited_to_1_mib() {
    let fixture = TestGateway::new().await;
    let post =
        |bytes: usize| fixture.internal("POST", "/api/gateway/orchestrator/loop").body(vec![b'x'; bytes]);
    assert_ne!(post(300 * 1024).send().await.status, 413);
    let over = post(1_048_577).send().await;
    assert_eq!(
        over.assert_error(413, "request body too large", "request_body_too_large")["maxBytes"],
        1_048_576
    );
}

#[tokio::test]
async fn refusal_reaches_a_client_that_reads_after_its_upload() {
    let fixture = TestGateway::new().await;
    // Far larger than the socket buffers: a server that stops reading makes the write fail.
    let request = fixture.internal("POST", "/api/gateway/git").body(vec![b'x'; 64 * 1024 * 1024]);
    request.send_before_reading().await.assert_error(413, "request body too large", "request_body_too_large");
}

// GC-20
#[tokio::test]
async fn unknown_paths_and_methods_have_distinct_errors() {
    let fixture = TestGateway::new().await;
    fixture.internal("GET", "/api/gateway/nope").send().await.assert_error(
        403,
        "Unmapped operation: /api/gateway/nope",
        "unmapped_operation",
    );
    fixture.internal("GET", "/api/gateway/version/?x").send().await.assert_error(
        403,
        "Unmapped operation: /api/gateway/version/",
        "unmapped_operation",
    );
    let reply = fixture.internal("DELETE", "/api/gateway/health-check?a=b").send().await;
    let body = reply.assert_error(501, "operation not implemented", "operation_not_implemented");
    assert_eq!(
        (body["method"].as_str(), body["path"].as_str()),
        (Some("DELETE"), Some("/api/gateway/health-check"))
    );
    assert_eq!(fixture.internal("POST", "/api/gateway/version").send().await.status, 501);
    assert_eq!(fixture.internal("HEAD", "/api/gateway/version").send().await.status, 501);
    // Prefix matches must not reach the gateway's routes.
    for path in ["/api/gateway", "/", "/api/gateway-x/version", "/API/gateway/version"] {
        fixture.internal("GET", path).send().await.assert_error(404, "route not found", "route_not_found");
    }
    fixture.anonymous("GET", "/gateway-auth/exchange").send().await.assert_error(
        404,
        "route not found",
        "route_not_found",
    );
}

#[tokio::test]
async fn dot_segments_are_resolved_before_authentication() {
    let fixture = TestGateway::new().await;
    assert_eq!(fixture.anonymous("GET", "/health/../api/gateway/version").send().await.status, 401);
    assert_eq!(fixture.anonymous("GET", "/%2e%2e/api\\gateway\\version").send().await.status, 401);
    assert_eq!(fixture.internal("GET", "/x/%2E./api/gateway/version").send().await.status, 200);
}

// GC-21, GC-44
#[tokio::test]
async fn malformed_targets_are_refused() {
    let fixture = TestGateway::new().await;
    for target in ["//", "//evil.test/health", "/\\evil.test"] {
        fixture.anonymous("GET", target).send().await.assert_error(
            400,
            "malformed request target",
            "malformed_request_target",
        );
    }
    for path in ["work-directory/%E0%A4%A", "orchestrator/status/%zz", "orchestrator/logs/%"] {
        let path = format!("/api/gateway/{path}");
        fixture.internal("GET", &path).send().await.assert_error(400, "malformed path", "malformed_path");
        // Authentication comes first: malformed paths reveal nothing to anonymous callers.
        assert_eq!(fixture.anonymous("GET", &path).send().await.status, 401);
    }
    assert_eq!(fixture.anonymous("GET", "/health").send().await.status, 200);
}

// GC-44
#[tokio::test]
async fn panic_is_answered_with_500() {
    let fixture = TestGateway::new().await;
    let reply = fixture.internal("GET", "/api/gateway/git/panicking").send().await;
    reply.assert_error(500, "internal error", "internal_error");
    assert!(!reply.text().contains("lgk_live_"));
    assert_eq!(fixture.anonymous("GET", "/health").send().await.status, 200);
}

// GC-22
#[tokio::test]
async fn requests_are_refused_before_onboarding() {
    let fixture = TestGateway::with(TestOptions { set_up: false, ..TestOptions::default() }).await;
    for path in ["/api/gateway/repos", "/api/gateway/nope"] {
        let body = fixture.internal("GET", path).send().await.assert_error(
            403,
            "onboarding not completed",
            "onboarding_not_completed",
        );
        assert!(body["hint"].as_str().is_some_and(|hint| hint.contains("loopgate up")), "{body}");
    }
}

#[tokio::test]
async fn no_auth_mode_accepts_every_caller() {
    let fixture = TestGateway::with(TestOptions { no_auth: true, ..TestOptions::default() }).await;
    assert_eq!(fixture.anonymous("GET", "/api/gateway/version").send().await.status, 200);
    let production =
        TestGateway::with(TestOptions { no_auth: true, production_only: true, ..TestOptions::default() })
            .await;
    let reply = production.anonymous("GET", "/api/gateway/version").origin("http://localhost:1").send().await;
    assert_eq!(reply.status, 401);
}

#[tokio::test]
async fn unauthorized_requests_are_rate_limited_per_origin() {
    let fixture = TestGateway::new().await;
    let guess =
        |origin: &'static str| fixture.anonymous("GET", "/api/gateway/version").origin(origin).session("x");
    fixture.gateway.exhaust_rate_limits_for_test("https://evil.test");
    let last = guess("https://evil.test").send().await;
    last.assert_error(429, "too many unauthorized requests, retry shortly", "too_many_requests");
    assert!(last.header("Retry-After").is_some());
    assert_eq!(guess(WEB_APP).send().await.status, 401);
}

#[tokio::test]
async fn in_process_calls_pass_the_same_checks() {
    let fixture = TestGateway::new().await;
    let service = fixture.gateway.service();
    let request = |path: &str, token: &str| {
        http::Request::get(path)
            .header("x-desktop-gateway-token", token)
            .body(axum::body::Body::empty())
            .unwrap()
    };
    assert_eq!(service.call(request("/api/gateway/version", TOKEN)).await.status(), 200);
    assert_eq!(service.call(request("/api/gateway/version", "wrong")).await.status(), 401);
    assert_eq!(service.call(request("/api/gateway/nope", TOKEN)).await.status(), 403);
    assert_eq!(service.call(request("/health", "")).await.status(), 200);
}
