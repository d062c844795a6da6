use loopgate_api::job::LoopStatus;
use serde_json::{Value, json};
use uuid::Uuid;

use crate::loops::reaper;
use crate::store::entity::agent_loop::Column;
use crate::store::now;
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient, TestResponse};

const DAY: i64 = 24 * 3_600_000;

async fn manual(owner: &TestClient) -> Uuid {
    let created = owner.post("/loops", json!({"command": "MANUAL", "repo": shop()})).await;
    assert_eq!(created.data("status"), "RUNNING", "{}", created.text);
    created.data("loopId").as_str().unwrap().parse().unwrap()
}

async fn patch(client: &TestClient, id: Uuid, body: &Value) -> TestResponse {
    client.send("PATCH", &format!("/loops/{id}"), Some(body.to_string())).await
}

#[tokio::test]
async fn user_edits_metadata_of_a_manual_loop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let id = manual(&owner).await;
    let url = "https://github.com/acme/shop/pull/7";
    let noted =
        patch(&owner, id, &json!({"prUrl": url, "branchName": "fix/cart", "summary": "Mended."})).await;
    assert_eq!((noted.data("prUrl"), noted.data("branchName")), (&json!(url), &json!("fix/cart")));
    assert_eq!(noted.data("metadata")["summary"], "Mended.");
    let again = patch(&owner, id, &json!({"summary": "Mended twice."})).await;
    assert_eq!(
        (again.data("prUrl"), &again.data("metadata")["summary"]),
        (&json!(url), &json!("Mended twice."))
    );

    for (body, error) in [
        (json!({"prUrl": "javascript:alert(1)"}), "prUrl: must be a URL"),
        (
            json!({"prUrl": format!("https://x/{}", "y".repeat(2048))}),
            "prUrl: must have at most 2048 character(s)",
        ),
        (json!({"branchName": "a b"}), "branchName: Branch name contains invalid characters"),
        (json!({"summary": "x".repeat(10_001)}), "summary: must have at most 10000 character(s)"),
    ] {
        assert_eq!(patch(&owner, id, &body).await.refused(), (400, error));
    }
    let unknown = patch(&owner, id, &json!({"status": "COMPLETED"})).await;
    assert!(unknown.refused().1.contains("unknown field `status`"), "{}", unknown.text);
    let (other, _) = plane.running("PLAN").await;
    let text = "Metadata updates are only allowed for MANUAL loops";
    assert_eq!(patch(&owner, other, &json!({"summary": "x"})).await.refused(), (403, text));
    let foreign = plane.stranger().await;
    assert_eq!(patch(&foreign, id, &json!({"summary": "x"})).await.refused(), (404, "Loop not found"));
}

#[tokio::test]
async fn user_reports_events_of_a_manual_loop() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let id = manual(&owner).await;
    let path = format!("/loops/{id}/manual-events");
    let output = json!({"type": "output", "data": {"chunk": "started"}});
    assert_eq!(owner.post(&path, output.clone()).await.json["data"], json!({"received": true}));
    for kind in ["started", "tool_call", "tokens_cleared", "support_bundle_uploaded"] {
        let refused = owner.post(&path, json!({"type": kind, "keys": ["k"]})).await;
        assert_eq!(refused.refused(), (400, format!("type: Invalid event type \"{kind}\"").as_str()));
    }
    let foreign = json!({"fullName": "evil/shop", "prUrl": "https://github.com/evil/shop/pull/1", "prNumber": 1,
        "branchName": "b", "baseBranch": "main", "hasChanges": true, "status": "success"});
    let end = |results: Value| json!({"type": "completed", "result": {}, "tokensUsed": {"input": 0, "output": 0}, "results": results});
    let refused = owner.post(&path, end(json!([foreign]))).await;
    assert_eq!(refused.refused(), (400, "results.0.fullName: fullName not in authorized repo set"));
    assert_eq!(owner.post(&path, end(json!([]))).await.json["data"], json!({"received": true}));
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Completed);
    let late = owner.post(&path, output.clone()).await;
    assert_eq!(late.json["data"], json!({"received": true, "ignored": true}));
    let events = owner.get(&format!("/loops/{id}/events")).await;
    let kinds: Vec<&Value> =
        events.json["data"].as_array().unwrap().iter().map(|event| &event["type"]).collect();
    assert_eq!(kinds, ["output", "tokens_cleared", "completed"]);

    let (other, _) = plane.running("PLAN").await;
    let text = "Manual events are only accepted for MANUAL loops";
    assert_eq!(owner.post(&format!("/loops/{other}/manual-events"), output).await.refused(), (403, text));
}

#[tokio::test]
async fn manual_loop_times_out_after_a_week_without_activity() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let (silent, active) = (manual(&owner).await, manual(&owner).await);
    // Activity is the later of the last heartbeat and `updated_at`, so both loops start without any.
    for id in [silent, active] {
        plane.set_column(id, Column::CreatedAt, now() - 8 * DAY).await;
        plane.set_column(id, Column::UpdatedAt, now() - 8 * DAY).await;
    }
    let output = json!({"type": "output", "chunk": "still at it"});
    assert_eq!(owner.post(&format!("/loops/{active}/manual-events"), output).await.status, 200);
    assert_eq!(reaper::reap(&plane.app, now(), 0).await.unwrap(), 1);
    assert_eq!(plane.row(silent).await.status.0, LoopStatus::TimedOut);
    assert_eq!(plane.row(active).await.status.0, LoopStatus::Running);
}
