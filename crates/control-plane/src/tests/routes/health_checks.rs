use serde_json::{Value, json};

use crate::tests::desktop::hello;
use crate::tests::{LinkedDesktop, TestApp};

fn check(passed: bool) -> Value {
    json!({"latestVersion": "1.9.3", "result": {"allRequiredPassed": true, "checks": [
        {"id": "git", "label": "Git", "required": true, "passed": passed, "version": "2.39", "enableOutcome": "tomorrow",
         "remediationLinks": [{"label": "Install", "url": "https://git-scm.com"}]},
        {"id": "python", "label": "Python", "required": false, "passed": false},
    ]}})
}

#[tokio::test]
async fn health_check_is_stored_until_the_desktop_changes() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    let path = format!("/compute-targets/{}/health-check", desktop.target_id);
    assert_eq!(owner.get(&path).await.json["data"], Value::Null);
    let first = owner.put(&path, check(false)).await;
    assert_eq!(first.data("requiredFailureIds"), &json!(["git"]), "{}", first.text);
    assert_eq!(first.data("allRequiredPassed"), &json!(false), "derived from the checks");
    assert_eq!(first.data("result")["checks"][0].get("enableOutcome"), None, "an unknown outcome is dropped");
    let second = owner.put(&path, check(true)).await;
    assert_eq!((second.data("id"), second.data("createdAt")), (first.data("id"), first.data("createdAt")));
    assert_eq!(owner.get(&path).await.data("requiredFailureIds"), &json!([]));

    desktop = desktop.reconnect().await;
    assert_eq!(owner.get(&path).await.data("id"), first.data("id"), "the desktop is unchanged");
    // Another platform means other programs, so the stored result no longer applies.
    let mut changed = hello(desktop.identity.gateway_id);
    changed["platform"] = json!("darwin");
    let (target_id, identity) = (desktop.target_id, desktop.identity);
    let another = LinkedDesktop::connect_with(identity, plane.serve().await, &changed).await;
    assert_eq!(another.target_id, target_id);
    assert_eq!(owner.get(&path).await.json["data"], Value::Null);
}

#[tokio::test]
async fn invalid_health_check_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let desktop = plane.desktop().await;
    let path = format!("/compute-targets/{}/health-check", desktop.target_id);
    let mut plain = check(true);
    plain["result"]["checks"][0]["remediationLinks"][0]["url"] = json!("http://git-scm.com");
    assert_eq!(owner.put(&path, plain).await.status, 400);
    assert_eq!(owner.put(&path, json!({"result": {}})).await.status, 400);
    let ben = plane.member("ben@example.org").await;
    assert_eq!(ben.put(&path, check(true)).await.refused(), (404, "Compute target not found"));
}
