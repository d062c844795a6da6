//! The story of a wish: a feature becomes a plan, and the plan a pull request.

use loopgate_api::job::LoopStatus;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient};

pub async fn feature(owner: &TestClient) -> Value {
    let body = json!({"title": "Cart", "type": "FEATURE", "content": "People need a cart.", "repo": shop()});
    let made = owner.post("/documents", body).await;
    assert_eq!(made.status, 200, "{}", made.text);
    made.json["data"].clone()
}

/// The launch that the desktop receives, and a runner with its token.
pub async fn launched(plane: &TestApp, desktop: &mut LinkedDesktop) -> (Value, Uuid, TestClient) {
    let command = desktop.accept().await;
    let body = command["body"].clone();
    let runner = plane.anonymous().with_bearer(body["loopgateAuthToken"].as_str().unwrap());
    let id = body["loopId"].as_str().unwrap().parse().unwrap();
    (command, id, runner)
}

/// Waits for a loop to reach a status, woken by its events.
pub async fn reached(plane: &TestApp, id: Uuid, status: LoopStatus) {
    let mut wake = plane.app.bus.subscribe(crate::bus::Topic::Loop(id));
    let wait = async {
        while plane.row(id).await.status.0 != status {
            wake.changed().await.unwrap();
        }
    };
    tokio::time::timeout(std::time::Duration::from_secs(10), wait).await.unwrap();
}

/// Has a plan made from a document, or made again; answers the loop.
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
async fn wish_becomes_a_plan_and_a_plan_a_pull_request() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let feature = feature(&owner).await;
    assert_eq!((&feature["slug"], &feature["currentVersion"]), (&json!("feature-1"), &json!(1)));

    let planned = plan(&plane, &mut desktop, "feature-1").await;
    let shown = owner.get("/documents/feature-1").await;
    assert_eq!(shown.data("plan")["slug"], "plan-1");
    assert_eq!(shown.data("loops")[0]["status"], "COMPLETED");
    let made = owner.get("/documents/plan-1").await;
    assert_eq!(made.data("title"), "A cart for the shop");
    assert_eq!(made.data("content"), "# Cart\n\n1. Table");
    assert_eq!(made.data("raw")["pendingTasks"], json!([]));
    assert_eq!(made.data("source")["slug"], "feature-1");
    let detail = owner.get(&format!("/loops/{planned}")).await;
    assert_eq!(detail.data("producedDocument")["slug"], "plan-1");

    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (command, id, runner) = launched(&plane, &mut desktop).await;
    let body = &command["body"];
    assert_eq!(body["artifactSlug"], "plan-1", "the same worktree as the plan's");
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
async fn second_plan_is_a_new_version_of_the_first() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    plan(&plane, &mut desktop, "plan-1").await;
    let made = owner.get("/documents/plan-1").await;
    assert_eq!((made.data("currentVersion"), made.data("status")), (&json!(2), &json!("DRAFT")));
    let plans = owner.get("/documents?type=IMPLEMENTATION_PLAN").await;
    assert_eq!(plans.json["data"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn refused_launch_fails_its_loop_with_the_reason() {
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
async fn gateway_that_cannot_start_the_loop_fails_it_unless_it_runs_already() {
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
async fn loop_can_be_resumed_in_the_same_worktree() {
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
async fn token_of_a_launch_is_forgotten_with_its_command() {
    use sea_orm::EntityTrait;
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    feature(&plane.owner().await).await;
    plane.owner().await.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    let (command, _, _) = launched(&plane, &mut desktop).await;
    desktop.report(&command, 1, "done", json!({"type": "done"})).await;
    let rows =
        crate::store::entity::desktop_command::Entity::find().all(plane.app.store.reader()).await.unwrap();
    assert_eq!(rows.len(), 1);
    assert!(!rows[0].request_payload.to_string().contains("loopgateAuthToken"));
}

#[tokio::test]
async fn invalid_loop_is_refused_at_once() {
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
    let made = owner.post("/compute-targets/register", target).await;
    let none = run("prd-1", json!({"command": "plan"})).await;
    assert_eq!(
        none.refused().1,
        "No repository configured. Link a repository to the project or set a target repo on the artifact."
    );
    let cloud = run("feature-1", json!({"command": "plan", "computeTargetId": null})).await;
    assert_eq!(cloud.json["details"]["category"], "compute_target_unavailable");
    let unknown = run("feature-1", json!({"command": "plan", "computeTargetId": Uuid::new_v4()})).await;
    assert_eq!(unknown.refused(), (404, "Compute target not found"));

    // A desktop that is said to be online but has no connection: the loop fails, not the answer.
    let started = run("feature-1", json!({"command": "plan", "computeTargetId": made.data("id")})).await;
    let id: Uuid = started.data("loopId").as_str().unwrap().parse().unwrap();
    reached(&plane, id, LoopStatus::Failed).await;
    let shown = owner.get(&format!("/loops/{id}")).await;
    assert_eq!(shown.data("error")["message"], "bench is not connected. Ensure the desktop app is running.");
}

#[tokio::test]
async fn documents_are_of_their_organization_and_keep_their_versions() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let first = feature(&owner).await;
    assert_eq!(feature(&owner).await["slug"], "feature-2");
    let path = format!("/documents/{}", first["id"].as_str().unwrap());
    let version = owner.post(&format!("{path}/versions"), json!({"content": "Better."})).await;
    assert_eq!((version.data("currentVersion"), version.data("content")), (&json!(2), &json!("Better.")));
    let versions = owner.get("/documents/feature-1/versions").await;
    assert_eq!(versions.json["data"][1]["content"], "People need a cart.");
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

/// Leaves a loop as a process does that ended in the middle of its launch.
async fn interrupted(plane: &TestApp, target: Uuid) -> Uuid {
    use crate::store::entity::agent_loop;
    use sea_orm::prelude::*;
    use sea_orm::sea_query::Expr;
    let body = json!({"command": "PLAN", "documentId": "feature-1", "repo": shop()});
    let made = plane.owner().await.post("/loops", body).await;
    let id: Uuid = made.data("loopId").as_str().unwrap().parse().unwrap();
    agent_loop::Entity::update_many()
        .col_expr(agent_loop::Column::ComputeTargetId, Expr::value(target))
        .col_expr(agent_loop::Column::CreatedAt, Expr::value(crate::store::now() - 60_000))
        .filter(agent_loop::Column::Id.eq(id))
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    id
}

#[tokio::test]
async fn interrupted_launch_is_taken_up_when_its_desktop_is_back() {
    let plane = TestApp::start().await;
    let desktop = plane.desktop().await;
    feature(&plane.owner().await).await;
    let id = interrupted(&plane, desktop.target_id).await;
    let identity = desktop.identity;
    let plane = plane.restart().await;
    let mut desktop = plane.desktop_as(identity).await;
    let (_, launched, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(launched, id);
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);
}

#[tokio::test]
async fn command_that_was_stored_before_the_end_is_sent_once_and_claimed() {
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
    assert_eq!(runner.event(id, json!({"type": "started"})).await.status, 200, "the token is the same one");
    assert_eq!(plane.row(id).await.container_id.as_deref(), command["commandId"].as_str());
}
