//! Spending limits and the other settings of an organization.

use loopgate_api::job::LoopStatus;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{feature, launched};
use crate::store::entity::organization;
use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient, TestResponse};

async fn set(client: &TestClient, settings: Value) -> TestResponse {
    client.send("PUT", "/organization/settings", Some(settings.to_string())).await
}

async fn set_limits(owner: &TestClient, limits: Value) {
    assert_eq!(set(owner, json!({"spendingLimits": limits})).await.status, 200);
}

async fn spend(runner: &TestClient, id: Uuid, dollars: f64) {
    let output = json!({"type": "output", "chunk": "…", "cost": {"totalUsd": dollars}});
    assert_eq!(runner.event(id, output).await.status, 200);
}

/// Starts a PLAN loop on the desktop. Returns its id, its runner, and the limit that the launch contained.
async fn started(plane: &TestApp, desktop: &mut LinkedDesktop) -> (Uuid, TestClient, Value) {
    let owner = plane.owner().await;
    let document = feature(&owner).await;
    let run = format!("/documents/{}/run-loop", document["slug"].as_str().unwrap());
    assert_eq!(owner.post(&run, json!({"command": "plan"})).await.status, 200);
    let (command, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    (id, runner, command["body"]["maxSpendUsd"].clone())
}

async fn assert_stopped(plane: &TestApp, desktop: &mut LinkedDesktop, id: Uuid, message: &str) {
    let row = plane.row(id).await;
    let error = json!({"code": "SPENDING_LIMIT", "message": message});
    assert_eq!((row.status.0, row.error), (LoopStatus::Failed, Some(error)));
    let kill = desktop.accept().await;
    assert_eq!(
        (&kill["operationId"], &kill["body"]),
        (&json!("orchestrator_loop_kill"), &json!({"loopId": id}))
    );
}

#[tokio::test]
async fn launch_contains_the_limit_and_loop_fails_at_twice_the_limit() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    assert_eq!(started(&plane, &mut desktop).await.2, Value::Null, "no limit by default");
    set_limits(&owner, json!({"perLoopUsd": 2.5, "perDayUsd": 100})).await;
    let (id, runner, limit) = started(&plane, &mut desktop).await;
    assert_eq!(limit, json!(2.5));
    // The desktop stops the loop at the limit and still delivers its work. The control plane cancels at twice
    // the limit only as a safeguard.
    spend(&runner, id, 4.99).await;
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Running);
    spend(&runner, id, 5.0).await;
    assert_stopped(&plane, &mut desktop, id, "The loop has spent more than twice its limit of $2.50").await;
}

#[tokio::test]
async fn daily_limit_counts_all_loops() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let mut desktop = plane.desktop().await;
    set_limits(&owner, json!({"perDayUsd": 10, "perMonthUsd": 1000})).await;
    let (first, one, limit) = started(&plane, &mut desktop).await;
    assert_eq!(limit, json!(10.0));
    spend(&one, first, 4.0).await;
    // The cost is the loop's running total: a repeated or smaller value adds nothing.
    spend(&one, first, 4.0).await;
    spend(&one, first, 3.0).await;
    let (second, two, limit) = started(&plane, &mut desktop).await;
    assert_eq!(limit, json!(6.0), "the remainder after the first loop");
    spend(&two, second, 6.0).await;
    let message = "The organization has reached its spending limit of $10.00 a day";
    assert_stopped(&plane, &mut desktop, second, message).await;
    let refused = owner.post("/loops", json!({"command": "PLAN", "repo": shop()})).await;
    assert_eq!(refused.failure(), (429, message, "SPENDING_LIMIT"));
    // A loop that is already running is failed when it reports its next cost.
    spend(&one, first, 4.1).await;
    assert_stopped(&plane, &mut desktop, first, message).await;

    set_limits(&owner, json!({"perDayUsd": 20, "perMonthUsd": 11})).await;
    let (_, _, limit) = started(&plane, &mut desktop).await;
    assert_eq!(limit, json!(0.9), "the remainder of the month is smaller");
}

// The sum of the reports would exceed the range of the column.
#[tokio::test]
async fn excessive_reports_do_not_make_requests_fail() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    set_limits(&owner, json!({"perDayUsd": 5})).await;
    let mut loops = Vec::new();
    for _ in 0..2 {
        let (id, runner) = plane.running("PLAN").await;
        runner.event(id, json!({"type": "started"})).await;
        loops.push((id, runner));
    }
    for (id, runner) in &loops {
        spend(runner, *id, 1e13).await;
    }
    set_limits(&owner, json!({"perDayUsd": 1e7})).await;
    let started = owner.post("/loops", json!({"command": "PLAN", "repo": shop()})).await;
    assert_eq!(started.status, 200, "{}", started.text);
}

#[tokio::test]
async fn loop_without_reported_cost_is_charged_at_list_price() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    set_limits(&owner, json!({"perMonthUsd": 15})).await;
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    let end = json!({"type": "completed", "result": {}, "tokensUsed": {"input": 0, "output": 1_000_000}});
    assert_eq!(runner.event(id, end).await.status, 200);
    assert_eq!(plane.row(id).await.status.0, LoopStatus::Completed, "finished work is not failed");
    let refused = owner.post("/loops", json!({"command": "PLAN", "repo": shop()})).await;
    let message = "The organization has reached its spending limit of $15.00 a month";
    assert_eq!(refused.failure(), (429, message, "SPENDING_LIMIT"));
}

#[tokio::test]
async fn administrators_change_organization_settings() {
    let plane = TestApp::start().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let settings =
        json!({"maxConcurrentLoops": 2, "holdPullRequests": false, "spendingLimits": {"perDayUsd": 12.5}});
    assert_eq!(set(&member, settings.clone()).await.refused(), (403, "Forbidden"));
    // `later` represents a setting of a newer version: saving must not remove it.
    organization::Entity::update_many()
        .col_expr(
            organization::Column::Settings,
            Expr::value(json!({"later": true, "maxConcurrentLoops": 9})),
        )
        .exec(plane.app.store.writer())
        .await
        .unwrap();
    assert_eq!(set(&owner, settings.clone()).await.json["data"], settings);
    assert_eq!(member.get("/organization/settings").await.json["data"], settings);
    for _ in 0..2 {
        assert_eq!(member.post("/loops", json!({"command": "PLAN"})).await.status, 200);
    }
    assert_eq!(member.post("/loops", json!({"command": "PLAN"})).await.status, 429);
    for (wrong, error) in [
        (json!({"maxConcurrentLoops": 0}), "maxConcurrentLoops: must be at least 1"),
        (
            json!({"spendingLimits": {"perDayUsd": -1}}),
            "spendingLimits.perDayUsd: expected an amount of US dollars, for example 5 or 0.50",
        ),
    ] {
        assert_eq!(set(&owner, wrong).await.refused(), (400, error));
    }
    assert_eq!(
        set(&owner, json!({})).await.json["data"],
        json!({"holdPullRequests": false, "spendingLimits": {}})
    );
    let row = organization::Entity::find().one(plane.app.store.reader()).await.unwrap().unwrap();
    let stored = json!({"later": true, "holdPullRequests": false, "spendingLimits": {}});
    assert_eq!(row.settings, stored, "unknown members stay");
}
