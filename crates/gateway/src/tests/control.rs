//! The control socket.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::UnixStream;

use super::approvals::held;
use super::test_gateway::{TestGateway, within};
use crate::CONTROL_SOCKET;
use crate::control::request::ControlRequest;

const VERSION: &str = "/api/gateway/version";

struct OwnerConnection(BufReader<UnixStream>);

impl OwnerConnection {
    async fn connect(fixture: &TestGateway) -> Self {
        // The control socket is bound before the first request is served.
        fixture.anonymous("GET", "/health").send().await;
        Self(BufReader::new(UnixStream::connect(fixture.data_dir().join(CONTROL_SOCKET)).await.unwrap()))
    }

    async fn send_line(&mut self, line: &str) -> Value {
        self.0.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        let mut answer = String::new();
        within(self.0.read_line(&mut answer)).await.unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    async fn request(&mut self, verb: &str, params: Value) -> Value {
        self.send_line(&json!({"id": 7, "verb": verb, "params": params}).to_string()).await
    }
}

// GC-23, GC-42
#[tokio::test]
async fn owner_decides_on_the_control_socket() {
    let fixture = TestGateway::new().await;
    let mut owner = OwnerConnection::connect(&fixture).await;
    let force = || fixture.internal("GET", VERSION).header("X-Desktop-Force-Approval", "1");
    let (reply, _) = held(&fixture, force()).await;
    let listed = owner.request("approvals.list", json!({})).await;
    assert_eq!((&listed["id"], &listed["ok"]), (&json!(7), &json!(true)));
    let entry = &listed["data"][0];
    assert_eq!(
        (&entry["operationId"], &entry["riskTier"], &entry["method"]),
        (&json!("health_check"), &json!("low"), &json!("GET"))
    );
    let id = json!({"approvalId": entry["id"]});
    assert_eq!(owner.request("approvals.approve", id.clone()).await["data"]["decision"], "approved");
    assert_eq!(within(reply).await.unwrap().status, 200);
    let response = owner.request("approvals.deny", id).await;
    assert_eq!(
        (&response["ok"], &response["data"]),
        (&json!(true), &Value::Null),
        "an unknown id changes nothing"
    );
    assert_eq!(owner.request("approvals.resolved", json!({})).await["data"].as_array().unwrap().len(), 1);
    assert_eq!(owner.request("activity.list", json!({})).await["data"][0]["path"], VERSION);

    let (reply, pending) = held(&fixture, force()).await;
    let rule = owner.request("approvals.always_allow", json!({"approvalId": pending.id})).await;
    assert_eq!(within(reply).await.unwrap().status, 200);
    let rule_id = json!({"ruleId": rule["data"]["id"]});
    assert_eq!(owner.request("approvals.remove_rule", rule_id.clone()).await["data"], true);
    assert_eq!(owner.request("approvals.remove_rule", rule_id).await["data"], false);

    let (reply, _) = held(&fixture, force()).await;
    owner.request("approvals.clear", json!({})).await;
    assert_eq!(within(reply).await.unwrap().status, 403);
}

#[tokio::test]
async fn malformed_requests_get_an_error_body() {
    let fixture = TestGateway::new().await;
    let mut owner = OwnerConnection::connect(&fixture).await;
    for (line, error, code) in [
        ("{", "Invalid JSON body", "invalid_json_body"),
        (r#"{"id":1,"verb":"approvals.explode"}"#, "unknown verb: approvals.explode", "invalid_request"),
        (r#"{"id":1,"verb":"approvals.approve"}"#, "approvalId is required", "missing_field"),
        (
            r#"{"id":1,"verb":"approvals.deny","params":{"approvalId":" "}}"#,
            "approvalId is required",
            "missing_field",
        ),
        (r#"{"id":1,"verb":"approvals.remove_rule"}"#, "ruleId is required", "missing_field"),
    ] {
        let answer = owner.send_line(line).await;
        assert_eq!(
            (&answer["ok"], &answer["error"], &answer["code"]),
            (&json!(false), &json!(error), &json!(code))
        );
    }
}

#[tokio::test]
async fn unknown_member_is_refused_by_every_verb() {
    let fixture = TestGateway::new().await;
    let mut owner = OwnerConnection::connect(&fixture).await;
    for verb in ControlRequest::VERBS {
        let answer = owner.request(verb, json!({"repositry": "/src/shop", "effect": "allow"})).await;
        assert_eq!((&answer["id"], &answer["ok"]), (&json!(7), &json!(false)), "{verb}: {answer}");
        assert!(answer["error"].as_str().unwrap().starts_with("unknown field `"), "{verb}: {answer}");
        // Unknown members outside of `params` are rejected, too.
        let outside_params = json!({"id": 7, "verb": verb, "repository": "/src/shop"}).to_string();
        assert_eq!(owner.send_line(&outside_params).await["ok"], false, "{verb}");
    }
    // JSON parsers disagree on which duplicate counts, so it is rejected.
    let duplicate = r#"{"id":7,"verb":"approvals.set_policy","params":{"effect":"deny","effect":"allow"}}"#;
    assert_eq!(owner.send_line(duplicate).await["ok"], false);
    // Conflicting and incomplete targets must not fall back to a policy for everything.
    let id = uuid::Uuid::nil();
    for params in [
        json!({"effect": "allow", "remember": "origin", "approvalId": id, "repository": "/src/shop"}),
        json!({"effect": "allow", "approvalId": id}),
    ] {
        assert_eq!(owner.request("approvals.set_policy", params).await["ok"], false);
    }
    assert!(fixture.gateway.approvals().policies().is_empty());
}

// GC-42
#[tokio::test]
async fn socket_is_private_and_removed_on_shutdown() {
    use std::os::unix::fs::PermissionsExt as _;
    let mut fixture = TestGateway::new().await;
    let mut owner = OwnerConnection::connect(&fixture).await;
    let socket = fixture.data_dir().join(CONTROL_SOCKET);
    assert_eq!(std::fs::metadata(&socket).unwrap().permissions().mode() & 0o777, 0o600);
    fixture.stop().await;
    assert!(!socket.exists());
    let mut line = String::new();
    assert_eq!(within(owner.0.read_line(&mut line)).await.unwrap_or_default(), 0);
}
