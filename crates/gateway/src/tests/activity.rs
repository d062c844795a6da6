//! The activity log, and what it must not contain.

use super::test_gateway::{TOKEN, TestGateway};
use crate::ActivityKind;

// GC-27
#[tokio::test]
async fn sizes_are_recorded_and_secrets_are_redacted() {
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
    let json = serde_json::to_string(&events).unwrap();
    assert!(!json.contains(secret) && !json.contains(TOKEN), "{json}");
    assert!(json.contains(r#""type":"request""#));
}

// GC-28
#[tokio::test]
async fn log_keeps_the_newest_200_gateway_requests() {
    let fixture = TestGateway::new().await;
    for n in 0..205 {
        fixture.internal("GET", &format!("/api/gateway/version?n={n}")).send().await;
        // None of these is a request for a gateway route, so none is recorded.
        if n % 50 == 0 {
            fixture.anonymous("GET", "/health").send().await;
            fixture.anonymous("OPTIONS", "/api/gateway/version").send().await;
            fixture.anonymous("GET", "/nope").send().await;
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
async fn security_refusals_are_marked() {
    let fixture = TestGateway::new().await;
    fixture.anonymous("GET", "/api/gateway/version").send().await;
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
