use serde_json::{Value, json};
use uuid::Uuid;

use crate::tests::TestApp;
use crate::tests::plane::shop;

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

#[tokio::test]
async fn agents_of_a_cancelled_bootstrap_are_only_proposed() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let order = json!({"repos": [{"fullName": "acme/shop"}]}).to_string();
    let start = json!({"command": "BOOTSTRAP", "prompt": order, "repo": shop()});
    let id: Uuid = owner.post("/loops", start).await.data("loopId").as_str().unwrap().parse().unwrap();
    let runner = plane.runner(id).await;
    let agent = json!({"name": "Bad", "slug": "bad", "role": "bad", "description": "", "prompt": "p"});
    let result = json!({"repos": [{"fullName": "acme/shop", "branch": "main", "success": true, "agents": [agent],
        "criticGates": null, "metadata": null, "duration": 0}], "totalDuration": 0});
    runner.event(id, json!({"type": "started"})).await;
    let upload = json!({"artifacts": {"bootstrapResult": result}});
    assert_eq!(runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await.status, 200);
    assert_eq!(owner.post(&format!("/loops/{id}/cancel"), json!({})).await.status, 200);
    let end =
        json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 1, "output": 1}});
    assert_eq!(runner.event(id, end).await.status, 200);
    assert!(!owner.get("/agents").await.text.contains("Bad"));
    assert_eq!(owner.get("/agent-proposals").await.data("proposals")[0]["agents"][0]["name"], "Bad");
}
