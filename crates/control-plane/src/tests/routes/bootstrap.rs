use serde_json::{Value, json};

use crate::tests::TestApp;

#[tokio::test]
async fn bootstrap_starts_on_the_online_desktop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let path = "/agents/bootstrap/start";
    let request = json!({"repos": [{"fullName": "acme/shop"}], "options": {"depth": "deep"}});
    let none = owner.post(path, request.clone()).await;
    let text = "No online compute targets found. Ensure the desktop app is running.";
    assert_eq!(none.refused(), (400, text));

    let mut desktop = plane.desktop().await;
    let started = owner.post(path, request.clone()).await;
    assert_eq!(started.data("status"), "PENDING", "{}", started.text);
    let command = desktop.accept().await;
    assert_eq!(command["body"]["command"], "BOOTSTRAP");
    let prompt: Value = serde_json::from_str(command["body"]["prompt"].as_str().unwrap()).unwrap();
    assert_eq!(prompt, request);
    let shown = owner.get(&format!("/loops/{}", started.data("loopId").as_str().unwrap())).await;
    assert_eq!(shown.data("metadata")["launchSource"], "bootstrap");
    assert_eq!(shown.data("metadata")["options"]["depth"], "deep");
}

#[tokio::test]
async fn bootstrap_request_is_validated() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let desktop = plane.desktop().await;
    let path = "/agents/bootstrap/start";
    let on = |id: Value| json!({"repos": [{"fullName": "acme/shop"}], "computeTargetId": id});
    let unknown = owner.post(path, on(json!(uuid::Uuid::now_v7()))).await;
    assert_eq!(unknown.refused(), (404, "Compute target not found."));
    let second = json!({"machineName": "other", "platform": "linux", "supportedOperations": []});
    let second = owner.post("/compute-targets/register", second).await;
    let several = owner.post(path, on(Value::Null)).await;
    let text = "Multiple compute targets are online. Specify a computeTargetId to select one.";
    assert_eq!(several.refused(), (409, text));
    plane.disconnect(desktop.target_id).await;
    let offline = owner.post(path, on(json!(desktop.target_id))).await;
    assert_eq!(offline.refused(), (400, "Compute target is offline. Ensure the desktop app is running."));
    assert_eq!(second.status, 200);
    for body in
        [json!({"repos": []}), json!({"repos": [{"fullName": "shop"}]}), json!({"repos": [], "more": 1})]
    {
        assert_eq!(owner.post(path, body.clone()).await.status, 400, "{body}");
    }
    for _ in 0..10 {
        plane.running("CHAT").await;
    }
    let busy = owner.post(path, on(second.data("id").clone())).await;
    assert_eq!(busy.refused(), (429, "Too many concurrent loops. Wait for an existing loop to finish."));
}

#[tokio::test]
async fn bootstrap_explores_allowed_repositories_only() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    // Held, because a desktop that is dropped disconnects.
    let _desktop = plane.desktop().await;
    let order = json!({"repos": [{"fullName": "acme/shop"}, {"fullName": "acme/secret"}]});
    let started = owner.post("/agents/bootstrap/start", order.clone()).await;
    assert_eq!(started.failure().2, "REPO_NOT_ALLOWED", "{}", started.text);
    // The other way to create such a loop, which a resume launches.
    let created = owner.post("/loops", json!({"command": "BOOTSTRAP", "prompt": order.to_string()})).await;
    assert_eq!(created.failure().2, "REPO_NOT_ALLOWED", "{}", created.text);
    let unnamed = owner.post("/loops", json!({"command": "BOOTSTRAP", "prompt": "everything"})).await;
    assert_eq!(unnamed.refused(), (400, "prompt: must name the repositories to explore"));
}
