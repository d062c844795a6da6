//! Documents: from the description of a feature to its plan and pull request.

use loopgate_api::job::LoopStatus;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient};

pub async fn feature(owner: &TestClient) -> Value {
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "People need a cart.", "repo": shop()});
    let created = owner.post("/documents", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.json["data"].clone()
}

/// Accepts the next launch command. Returns the command, the loop's id, and a client with its runner token.
pub async fn launched(plane: &TestApp, desktop: &mut LinkedDesktop) -> (Value, Uuid, TestClient) {
    let command = desktop.accept().await;
    let body = command["body"].clone();
    let runner = plane.anonymous().with_bearer(body["loopgateAuthToken"].as_str().unwrap());
    let id = body["loopId"].as_str().unwrap().parse().unwrap();
    (command, id, runner)
}

/// Waits until a loop has a status, at most ten seconds.
pub async fn reached(plane: &TestApp, id: Uuid, status: LoopStatus) {
    let mut wake = plane.app.bus.subscribe(crate::bus::Topic::Loop(id));
    let wait = async {
        while plane.row(id).await.status.0 != status {
            wake.changed().await.unwrap();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), wait).await.unwrap();
}

/// Runs a PLAN loop on a document and completes it. Returns the loop's id.
pub async fn plan(plane: &TestApp, desktop: &mut LinkedDesktop, slug: &str) -> Uuid {
    let owner = plane.owner().await;
    let run = owner.post(&format!("/documents/{slug}/run-loop"), json!({"command": "plan"})).await;
    assert_eq!(run.data("status"), "PENDING", "{}", run.text);
    let (_, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started", "loopId": id})).await;
    let raw = json!({"title": "A cart for the shop", "content": "# Cart\n\n1. Table", "pendingTasks": []});
    let upload = json!({"artifacts": {"plan": {"content": "# Cart\n\n1. Table", "raw": raw}}, "metadata": {"command": "plan"}});
    runner.post(&format!("/loops/{id}/upload-artifacts"), upload).await;
    let end = json!({"type": "completed", "result": {"exitCode": 0, "subtype": "plan", "sessionId": "s1",
        "branchName": "orchestrator/plan-1"}, "tokensUsed": {"input": 5, "output": 6}});
    assert_eq!(runner.event(id, end).await.status, 200);
    id
}

#[tokio::test]
async fn feature_becomes_a_plan_and_the_plan_a_pull_request() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let feature = feature(&owner).await;
    assert_eq!((&feature["slug"], &feature["currentVersion"]), (&json!("feature-1"), &json!(1)));

    let planned = plan(&plane, &mut desktop, "feature-1").await;
    let shown = owner.get("/documents/feature-1").await;
    assert_eq!(shown.data("plan")["slug"], "plan-1");
    assert_eq!(shown.data("loops")[0]["status"], "COMPLETED");
    let created = owner.get("/documents/plan-1").await;
    assert_eq!(created.data("title"), "A cart for the shop");
    assert_eq!(created.data("content"), "# Cart\n\n1. Table");
    assert_eq!(created.data("raw")["pendingTasks"], json!([]));
    assert_eq!(created.data("source")["slug"], "feature-1");
    let detail = owner.get(&format!("/loops/{planned}")).await;
    assert_eq!(detail.data("producedDocument")["slug"], "plan-1");

    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    let body = &command["body"];
    assert_eq!(body["artifactSlug"], "plan-1", "the worktree of the plan");
    assert_eq!(body["parentLoopId"], json!(planned));
    assert_eq!(body["parentBranchName"], "orchestrator/plan-1");
    assert_eq!(body["committer"], json!({"name": "Ada Lovelace", "email": "ada@example.org"}));
    assert_eq!(body["repo"], json!(shop()));
    let kinds: Vec<&Value> =
        body["artifacts"].as_array().unwrap().iter().map(|artifact| &artifact["type"]).collect();
    assert_eq!(kinds, ["IMPLEMENTATION_PLAN", "FEATURE"]);
    assert_eq!(body["artifacts"][0]["raw"]["content"], body["artifacts"][0]["content"]);

    runner.event(id, json!({"type": "started"})).await;
    let entry = json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1", "baseBranch": "main", "hasChanges": true, "prTitle": "A cart"});
    let end = json!({"type": "completed", "result": {"exitCode": 0, "prUrl": entry["prUrl"], "prNumber": 7,
        "branchName": "orchestrator/plan-1"}, "tokensUsed": {"input": 5, "output": 6}, "results": [entry]});
    assert_eq!(runner.event(id, end).await.status, 200);
    desktop
        .report(
            &command,
            1,
            "result",
            json!({"type": "result", "statusCode": 200, "success": true, "data": {}}),
        )
        .await;
    desktop.report(&command, 2, "done", json!({"type": "done"})).await;

    let done = owner.get("/documents/plan-1").await;
    assert_eq!(done.data("status"), "EXECUTED");
    assert_eq!(done.data("pullRequests")[0]["title"], "A cart");
    assert_eq!(done.data("loops")[0]["prUrl"], "https://github.com/acme/shop/pull/7");
    let detail = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(detail.data("primaryPullRequest")["prNumber"], 7);
}

#[tokio::test]
async fn replanning_creates_a_new_version_of_the_plan() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    plan(&plane, &mut desktop, "plan-1").await;
    let created = owner.get("/documents/plan-1").await;
    assert_eq!((created.data("currentVersion"), created.data("status")), (&json!(2), &json!("DRAFT")));
    let plans = owner.get("/documents?type=IMPLEMENTATION_PLAN").await;
    assert_eq!(plans.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn rejected_launch_fails_its_loop_with_the_reason() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let run = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let id: Uuid = run.data("loopId").as_str().unwrap().parse().unwrap();
    desktop.reject("cloud commands paused by user").await;
    reached(&plane, id, LoopStatus::Failed).await;
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("error")["code"], "PRE_RUN_VALIDATION_FAILED");
    assert!(shown.data("error")["message"].as_str().unwrap().contains("cloud commands paused by user"));
    let events = owner.get(&format!("/loops/{id}/events?type=error")).await;
    assert_eq!(events.data("total"), 1);
}

#[tokio::test]
async fn launch_error_of_the_gateway_fails_the_loop_unless_it_is_running() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let answer = |status: u16, error: &str| {
        let refusal = format!("gateway returned {status}: {}", json!({"error": error}));
        json!({"type": "error", "terminal": true, "error": refusal})
    };

    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    desktop.report(&command, 1, "error", answer(409, "Loop is already running on this machine")).await;
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);
    owner.post(&format!("/loops/{id}/cancel"), json!({})).await;
    let kill = desktop.accept().await;
    assert_eq!(
        (&kill["operationId"], &kill["body"]["loopId"]),
        (&json!("orchestrator_loop_kill"), &json!(id))
    );

    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (command, id, _) = launched(&plane, &mut desktop).await;
    desktop.report(&command, 1, "error", answer(404, "Repository not found locally: acme/shop")).await;
    reached(&plane, id, LoopStatus::Failed).await;
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("error")["message"], "Repository not found locally: acme/shop");
}

#[tokio::test]
async fn resumed_loop_uses_the_same_worktree() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    runner.event(id, json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"})).await;
    reached(&plane, id, LoopStatus::Failed).await;
    let resumed = owner.post(&format!("/loops/{id}/resume"), json!({"prompt": "again"})).await;
    assert_eq!(resumed.status, 200, "{}", resumed.text);
    let (command, child, _) = launched(&plane, &mut desktop).await;
    assert_ne!(child, id);
    let body = &command["body"];
    assert_eq!(
        (&body["parentLoopId"], &body["prompt"], &body["artifactSlug"]),
        (&json!(id), &json!("again"), &json!("plan-1"))
    );
}

#[tokio::test]
async fn edit_of_an_older_version_is_refused() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let save = async |content: &str, version: i64| {
        owner.post("/documents/feature-1/versions", json!({"content": content, "version": version})).await
    };
    assert_eq!(save("Second.", 1).await.data("currentVersion"), 2);
    let refused = save("Also second.", 1).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let data = &refused.json["data"];
    assert_eq!(
        (&data["error"], &data["displayedVersion"], &data["currentVersion"]),
        (&json!("document_changed"), &json!(1), &json!(2))
    );
    assert_eq!(owner.get("/documents/feature-1").await.data("content"), "Second.");
    assert_eq!(save("Third.", 2).await.data("currentVersion"), 3);
}

#[tokio::test]
async fn start_names_the_version_that_was_read() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let feature = feature(&owner).await;
    let start = async |version: i64| {
        owner.post("/documents/feature-1/run-loop", json!({"command": "plan", "version": version})).await
    };
    let member = plane.member("ben@example.org").await;
    member.post("/documents/feature-1/versions", json!({"content": "Delete the shop."})).await;
    let refused = start(1).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let data = &refused.json["data"];
    assert_eq!(
        (&data["error"], &data["displayedVersion"], &data["currentVersion"], &data["documentId"]),
        (&json!("document_changed"), &json!(1), &json!(2), &feature["id"])
    );
    assert_eq!(data["author"]["email"], "ben@example.org");
    assert!(refused.json["error"].as_str().unwrap().contains("feature-1: version 2 is current"));
    // Only the author of the current version may leave it out.
    let without = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(without.json["data"]["error"], "document_changed", "{}", without.text);

    assert_eq!(start(2).await.status, 200);
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["artifacts"][0]["content"], "Delete the shop.");
    // A resumed loop works on the version of the loop that it continues, whatever is current.
    member.post("/documents/feature-1/versions", json!({"content": "Delete everything."})).await;
    runner.event(id, json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"})).await;
    reached(&plane, id, LoopStatus::Failed).await;
    assert_eq!(owner.post(&format!("/loops/{id}/resume"), json!({})).await.status, 200);
    let (command, ..) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["artifacts"][0]["content"], "Delete the shop.");
}

#[tokio::test]
async fn preview_reserves_the_worktree_of_the_start() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    for _ in 0..2 {
        let preview = owner.post("/documents/feature-1/run-loop/preview", json!({"command": "plan"})).await;
        assert_eq!(preview.data("launch")["artifactSlug"], "plan-1", "{}", preview.text);
    }
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (command, ..) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["artifactSlug"], "plan-1");
}

#[tokio::test]
async fn launch_token_is_never_stored_and_the_launch_is_delivered_again_with_it() {
    use sea_orm::EntityTrait;
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    feature(&plane.owner().await).await;
    plane.owner().await.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    // Received, but not acknowledged: the connection is lost before.
    let command = desktop.expect(loopgate_api::link::event::COMMAND).await;
    let token = command["body"]["loopgateAuthToken"].as_str().unwrap();
    let rows =
        crate::store::entity::desktop_command::Entity::find().all(plane.app.store.reader()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!rows[0].request_payload.to_string().contains(token));
    plane.disconnect(desktop.target_id).await;
    let mut desktop = desktop.reconnect().await;
    let again = desktop.accept().await;
    assert_eq!(again["body"], command["body"]);
}

#[tokio::test]
async fn invalid_run_loop_request_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let bare = json!({"title": "No repository", "type": "PRD", "content": "x"});
    owner.post("/documents", bare).await;
    let run = async |slug: &str, body: Value| owner.post(&format!("/documents/{slug}/run-loop"), body).await;

    assert_eq!(run("feature-9", json!({"command": "plan"})).await.refused(), (404, "Document not found"));
    assert_eq!(run("feature-1", json!({"command": "dance"})).await.status, 400);
    assert_eq!(run("feature-1", json!({"command": "plan", "extra": 1})).await.status, 400);
    let offline = run("feature-1", json!({"command": "plan"})).await;
    let text = "No compute targets are online. Ensure the desktop app is running.";
    assert_eq!(offline.failure(), (400, text, "PRE_RUN_VALIDATION_FAILED"));
    assert_eq!(offline.json["details"]["category"], "compute_target_unavailable");
    assert_eq!(run("feature-1", json!({"command": "execute"})).await.failure().2, "PLAN_STATE_UNAVAILABLE");

    let target = json!({"machineName": "bench", "platform": "linux", "supportedOperations": []});
    let created = owner.post("/compute-targets/register", target).await;
    let none = run("prd-1", json!({"command": "plan"})).await;
    assert_eq!(
        none.refused().1,
        "No repository configured. Link a repository to the project or set a target repo on the artifact."
    );
    let cloud = run("feature-1", json!({"command": "plan", "computeTargetId": null})).await;
    assert_eq!(cloud.json["details"]["category"], "compute_target_unavailable");
    let unknown = run("feature-1", json!({"command": "plan", "computeTargetId": Uuid::new_v4()})).await;
    assert_eq!(unknown.refused(), (404, "Compute target not found"));

    // The desktop is marked online but has no connection: the request succeeds and the loop fails.
    let started = run("feature-1", json!({"command": "plan", "computeTargetId": created.data("id")})).await;
    let id: Uuid = started.data("loopId").as_str().unwrap().parse().unwrap();
    reached(&plane, id, LoopStatus::Failed).await;
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(
        shown.data("error")["message"],
        "bench is not connected. Ensure that Loopgate is running there."
    );
}

#[tokio::test]
async fn documents_have_slugs_versions_and_statuses() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let first = feature(&owner).await;
    assert_eq!(feature(&owner).await["slug"], "feature-2");
    let path = format!("/documents/{}", first["id"].as_str().unwrap());
    let version = owner.post(&format!("{path}/versions"), json!({"content": "Better."})).await;
    assert_eq!((version.data("currentVersion"), version.data("content")), (&json!(2), &json!("Better.")));
    let versions = owner.get("/documents/feature-1/versions").await;
    assert_eq!(
        (&versions.json["data"][1]["version"], &versions.json["data"][1]["content"]),
        (&json!(1), &Value::Null)
    );
    let first = owner.get("/documents/feature-1/versions/1").await;
    assert_eq!(first.data("content"), "People need a cart.");
    for unknown in ["0", "3", "x"] {
        let refused = owner.get(&format!("/documents/feature-1/versions/{unknown}")).await;
        assert_eq!(refused.refused(), (404, "Document version not found"));
    }
    assert_eq!(owner.get("/documents/feature-1/versions?before=2").await.json["data"][0]["version"], 1);
    let approved = owner.send("PATCH", &path, Some(json!({"status": "APPROVED"}).to_string())).await;
    assert_eq!(approved.data("status"), "APPROVED");
    assert_eq!(
        owner.get(&format!("/documents/{}", Uuid::new_v4())).await.refused(),
        (404, "Document not found")
    );
    let plan = json!({"title": "x", "type": "IMPLEMENTATION_PLAN", "content": "x"});
    assert_eq!(owner.post("/documents", plan).await.status, 400);
    let empty = owner.post("/documents", json!({"title": " ", "type": "PRD", "content": ""})).await;
    assert_eq!(empty.json["details"]["issues"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn stored_launch_command_is_redelivered_after_restart() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (command, id, _) = launched(&plane, &mut desktop).await;
    reached(&plane, id, LoopStatus::Claimed).await;
    let identity = desktop.identity;
    let plane = plane.restart().await;
    let mut desktop = plane.desktop_as(identity).await;
    let (again, same, runner) = launched(&plane, &mut desktop).await;
    assert_eq!((&again["commandId"], same), (&command["commandId"], id));
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200, "the token is still valid");
    assert_eq!(plane.row(id).await.container_id.as_deref(), command["commandId"].as_str());
}
