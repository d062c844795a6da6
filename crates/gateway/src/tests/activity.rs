//! What is remembered of requests, and what never is.

use super::test_gateway::{TOKEN, TestGateway};
use crate::ActivityKind;

// GC-27
#[tokio::test]
async fn sizes_are_kept_and_secrets_are_not() {
    let fixture = TestGateway::new().await;
    let secret = "lgk_live_verysecret0123456789";
    let body = format!(r#"{{"path":"{secret}"}}"#);
    let path = format!("/api/gateway/repos?token={secret}&x=1");
    let reply = fixture.internal("POST", &path).body(body.clone()).send().await;
    let events = fixture.gateway.activity().list();
    assert_eq!(events.len(), 1);
    let event = &events[0];
    assert_eq!(event.status_code, reply.status);
    assert_eq!(event.request_size_bytes, Some(body.len() as u64));
    assert_eq!(event.response_size_bytes, reply.body.len() as u64);
    assert_eq!(event.path, "/api/gateway/repos?token=[REDACTED]&x=1");
    let stored = serde_json::to_string(&events).unwrap();
    assert!(!stored.contains(secret) && !stored.contains(TOKEN), "{stored}");
    assert!(stored.contains(r#""type":"request""#));
}

// GC-28
#[tokio::test]
async fn newest_two_hundred_gateway_requests_are_kept() {
    let fixture = TestGateway::new().await;
    for n in 0..205 {
        fixture.internal("GET", &format!("/api/gateway/version?n={n}")).send().await;
        if n % 50 == 0 {
            fixture.ask("GET", "/health").send().await;
            fixture.ask("OPTIONS", "/api/gateway/version").send().await;
            fixture.ask("GET", "/nope").send().await;
        }
    }
    let events = fixture.gateway.activity().list();
    assert_eq!(events.len(), 200);
    assert_eq!(events[0].path, "/api/gateway/version?n=204");
    assert!(
        events.iter().all(|event| event.method == "GET" && event.path.starts_with("/api/gateway/version"))
    );
}

#[tokio::test]
async fn refusals_that_protect_are_marked() {
    let fixture = TestGateway::new().await;
    fixture.ask("GET", "/api/gateway/version").send().await;
    fixture.internal("GET", "/api/gateway/nope").send().await;
    let events = fixture.gateway.activity().list();
    assert_eq!(
        (events[1].kind, events[1].detail.as_deref()),
        (ActivityKind::Security, Some("no credential provided"))
    );
    assert_eq!(events[1].request_size_bytes, None, "refused before its body was read");
    assert_eq!(events[0].kind, ActivityKind::Request);
    assert_eq!(events[0].detail.as_deref(), Some("Unmapped operation: /api/gateway/nope"));
}
