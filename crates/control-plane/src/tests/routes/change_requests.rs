//! Change requests: their states from the request to the merge, and what needs a person.

use sea_orm::prelude::*;
use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{feature, launched, plan};
use crate::change_requests;
use crate::store::entity::change_request;
use crate::tests::plane::shop;
use crate::tests::{LinkedDesktop, TestApp, TestClient, TestResponse};

/// Returns stage, state and attention of a change request.
async fn standing(owner: &TestClient, slug: &str) -> (String, String, Value) {
    let shown = owner.get(&format!("/change-requests/{slug}")).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    let text = |name: &str| shown.data(name).as_str().unwrap().to_owned();
    (text("stage"), text("state"), shown.data("attention").clone())
}

fn as_standing(stage: &str, state: &str, attention: impl Into<Value>) -> (String, String, Value) {
    (stage.to_owned(), state.to_owned(), attention.into())
}

/// Returns the slugs of a list, and its total.
async fn listed(owner: &TestClient, query: &str) -> (Vec<String>, Value) {
    let page = owner.get(&format!("/change-requests?count=true&{query}")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    let slug = |row: &Value| row["document"]["slug"].as_str().unwrap().to_owned();
    (page.json["data"].as_array().unwrap().iter().map(slug).collect(), page.json["total"].clone())
}

async fn request(owner: &TestClient, title: &str) -> String {
    let body = json!({"title": title, "type": "FEATURE", "content": "Text", "repo": shop()});
    owner.post("/documents", body).await.data("slug").as_str().unwrap().to_owned()
}

#[tokio::test]
async fn state_follows_the_loops_from_the_request_to_the_pull_request() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("request", "not_started", Value::Null));

    plan(&plane, &mut desktop, "feature-1").await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("plan", "plan_ready", "plan"));
    let shown = owner.get("/change-requests/plan-1").await;
    assert_eq!(shown.data("document")["slug"], "feature-1", "a plan belongs to its change request");
    assert_eq!(shown.data("plan")["slug"], "plan-1");

    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("execute", "starting", Value::Null));
    let approval =
        json!({"id": "7f", "command": "loopgate approve 7f", "waitsUntil": "2026-05-11T08:30:00Z"});
    runner.event(id, json!({"type": "output", "chunk": "Waiting", "approval": approval})).await;
    assert_eq!(
        standing(&owner, "feature-1").await,
        as_standing("execute", "waiting_for_approval", "approval")
    );
    let waits = owner.get("/change-requests/feature-1").await;
    assert_eq!(waits.data("details")["activity"]["command"], "loopgate approve 7f");
    runner.event(id, json!({"type": "output", "chunk": "", "queue": {"place": 2, "waiting": 4}})).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("execute", "queued", Value::Null));
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("execute", "running", Value::Null));

    let entry = json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1", "baseBranch": "main", "hasChanges": true});
    let end = json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 5, "output": 6},
        "results": [entry]});
    assert_eq!(runner.event(id, end).await.status, 200);
    assert_eq!(
        standing(&owner, "feature-1").await,
        as_standing("pull_request", "pull_request_open", Value::Null)
    );
    let shown = owner.get("/change-requests/feature-1").await;
    assert_eq!(shown.data("loops").as_array().unwrap().len(), 2);
    assert_eq!(shown.data("pullRequests")[0]["number"], 7);
}

/// Delivers `feature-1` as pull request 7 of `acme/shop`.
async fn deliver(plane: &TestApp, desktop: &mut LinkedDesktop, owner: &TestClient) {
    feature(owner).await;
    plan(plane, desktop, "feature-1").await;
    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (_, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    let entry = json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1", "baseBranch": "main", "hasChanges": true});
    let end = json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 5, "output": 6},
        "results": [entry]});
    assert_eq!(runner.event(id, end).await.status, 200);
}

/// Reports pull request 7 with its desktop's key.
async fn report(plane: &TestApp, desktop: &LinkedDesktop, standing: Value) -> TestResponse {
    let mut pull = json!({"fullName": "acme/shop", "number": 7, "state": "open", "isDraft": false, "failingChecks": 0,
        "pendingChecks": 0, "hasConflicts": false, "unresolvedThreads": 0});
    pull.as_object_mut().unwrap().extend(standing.as_object().unwrap().clone());
    let path = format!("/compute-targets/{}/pull-requests", desktop.target_id);
    desktop.identity.client(plane, "POST", &path, 0).post(&path, json!({"pullRequests": [pull]})).await
}

#[tokio::test]
async fn state_follows_the_reports_about_the_pull_request() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    deliver(&plane, &mut desktop, &owner).await;
    let path = format!("/compute-targets/{}/pull-requests", desktop.target_id);
    let watched =
        desktop.identity.client(&plane, "POST", &path, 0).post(&path, json!({"pullRequests": []})).await;
    let open = json!([{"fullName": "acme/shop", "number": 7}]);
    assert_eq!(watched.data("open"), &open);

    let failing = report(&plane, &desktop, json!({"failingChecks": 2, "pendingChecks": 1})).await;
    assert_eq!(failing.data("open"), &open);
    assert_eq!(standing(&owner, "feature-1").await, as_standing("pull_request", "checks_failing", "checks"));
    let shown = owner.get("/change-requests/feature-1").await;
    assert_eq!(shown.data("details")["failingChecks"], 2);
    assert_eq!(shown.data("pullRequests")[0]["standing"]["pendingChecks"], 1);
    assert!(shown.data("pullRequests")[0]["reportedAt"].is_string());
    assert_eq!(listed(&owner, "attention=true&state=checks_failing").await.1, 1);

    report(&plane, &desktop, json!({"hasConflicts": true})).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("pull_request", "conflicting", "conflicts"));

    let merged = report(&plane, &desktop, json!({"state": "merged", "failingChecks": 2})).await;
    assert_eq!(merged.data("open"), &json!([]), "a merged pull request is not watched");
    assert_eq!(standing(&owner, "feature-1").await, as_standing("pull_request", "merged", Value::Null));
    assert_eq!(listed(&owner, "attention=true").await.1, 0);
}

/// Reports the deployments of a desktop with its key.
async fn report_deployments(
    plane: &TestApp,
    desktop: &LinkedDesktop,
    deployments: &[(Uuid, &str)],
) -> TestResponse {
    let report = |(loop_id, state): &(Uuid, &str)| json!({"loopId": loop_id, "state": state});
    let body = json!({"deployments": deployments.iter().map(report).collect::<Vec<_>>()});
    let path = format!("/compute-targets/{}/deployments", desktop.target_id);
    desktop.identity.client(plane, "PUT", &path, 0).put(&path, body).await
}

#[tokio::test]
async fn change_request_names_the_state_of_its_deployment() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    deliver(&plane, &mut desktop, &owner).await;
    let shown = async || {
        let shown = owner.get("/change-requests/feature-1").await;
        (shown.data("deployment").clone(), shown.data("stages").as_array().unwrap().last().unwrap().clone())
    };
    assert_eq!(shown().await, (Value::Null, json!("pull_request")));
    let loops = owner.get("/change-requests/feature-1").await;
    let id: Uuid = loops.data("loops")[0]["id"].as_str().unwrap().parse().unwrap();

    for state in ["starting", "running", "failed"] {
        // The machine may run loops of other installations.
        let report = report_deployments(&plane, &desktop, &[(Uuid::new_v4(), "running"), (id, state)]).await;
        assert_eq!(report.status, 200);
        assert_eq!(shown().await, (json!(state), json!("deploy")));
    }
    assert_eq!(owner.get("/change-requests").await.json["data"][0]["deployment"], "failed");
    report_deployments(&plane, &desktop, &[]).await;
    assert_eq!(shown().await, (Value::Null, json!("pull_request")), "it was stopped");
}

#[tokio::test]
async fn deployments_are_reported_by_their_desktop_only() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    deliver(&plane, &mut desktop, &owner).await;
    let loops = owner.get("/change-requests/feature-1").await;
    let id: Uuid = loops.data("loops")[0]["id"].as_str().unwrap().parse().unwrap();
    let path = format!("/compute-targets/{}/deployments", desktop.target_id);
    assert_eq!(
        owner.put(&path, json!({"deployments": []})).await.status,
        401,
        "a page reported a deployment"
    );
    let other = plane.desktop().await;
    assert_eq!(report_deployments(&plane, &other, &[(id, "running")]).await.status, 200);
    assert_eq!(*owner.get("/change-requests/feature-1").await.data("deployment"), Value::Null);
    let as_desktop =
        other.identity.client(&plane, "PUT", &path, 0).put(&path, json!({"deployments": []})).await;
    assert_eq!(as_desktop.refused(), (404, "Compute target not found"));
    let many = vec![(id, "running"); 101];
    let refused = report_deployments(&plane, &desktop, &many).await;
    assert_eq!(refused.refused(), (400, "deployments: must have at most 100 items"));
}

#[tokio::test]
async fn findings_of_a_review_need_a_person_until_they_are_decided() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    deliver(&plane, &mut desktop, &owner).await;
    let shown = owner.get("/change-requests/feature-1").await;
    let path = format!("/loops/{}/findings", shown.data("loopId").as_str().unwrap());

    let reported = member.put(&path, json!({"repository": "acme/shop", "count": 2})).await;
    assert_eq!(reported.data("count"), 2);
    owner.put(&path, json!({"repository": "acme/tools", "count": 1})).await;
    assert_eq!(standing(&owner, "feature-1").await, as_standing("review", "findings_open", "findings"));
    let shown = owner.get("/change-requests/feature-1").await;
    assert_eq!(shown.data("details")["findings"], 3);

    owner.put(&path, json!({"repository": "acme/tools", "count": 0})).await;
    owner.put(&path, json!({"repository": "acme/shop", "count": 0})).await;
    let decided = as_standing("pull_request", "pull_request_open", Value::Null);
    assert_eq!(standing(&owner, "feature-1").await, decided);

    for body in [json!({"repository": "", "count": 1}), json!({"repository": "acme/shop", "count": 10_001})] {
        assert_eq!(owner.put(&path, body).await.status, 400);
    }
    let unknown = format!("/loops/{}/findings", Uuid::now_v7());
    assert_eq!(owner.put(&unknown, json!({"repository": "acme/shop", "count": 1})).await.status, 404);
    let elsewhere = plane.stranger().await;
    assert_eq!(elsewhere.put(&path, json!({"repository": "acme/shop", "count": 1})).await.status, 404);
}

#[tokio::test]
async fn comments_need_their_person_until_they_are_seen() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    deliver(&plane, &mut desktop, &owner).await;
    let open = |attention: Value| as_standing("pull_request", "pull_request_open", attention);
    report(&plane, &desktop, json!({"lastCommentAt": "2020-01-01T00:00:00Z"})).await;
    assert_eq!(standing(&owner, "feature-1").await, open("comments".into()));
    member.put("/change-requests/feature-1/mark", json!({"seen": true})).await;
    assert_eq!(
        standing(&owner, "feature-1").await,
        open("comments".into()),
        "the member did not start the loop"
    );
    let seen = owner.put("/change-requests/feature-1/mark", json!({"seen": true})).await;
    assert_eq!((seen.data("attention"), seen.data("isUnread")), (&Value::Null, &json!(false)));
    report(&plane, &desktop, json!({"lastCommentAt": "2020-01-01T00:00:00Z", "pendingChecks": 1})).await;
    assert_eq!(standing(&owner, "feature-1").await, open(Value::Null));
    report(&plane, &desktop, json!({"lastCommentAt": "2999-01-01T00:00:00Z"})).await;
    assert_eq!(standing(&owner, "feature-1").await, open("comments".into()));
    assert_eq!(owner.get("/change-requests/feature-1").await.data("isUnread"), true);

    let requested = json!({"reviewDecision": "changes_requested", "lastCommentAt": "2999-01-01T00:00:00Z"});
    report(&plane, &desktop, requested).await;
    assert_eq!(
        standing(&owner, "feature-1").await,
        as_standing("pull_request", "changes_requested", "comments")
    );
}

#[tokio::test]
async fn pull_requests_are_reported_by_their_desktop_only() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    deliver(&plane, &mut desktop, &owner).await;
    let path = format!("/compute-targets/{}/pull-requests", desktop.target_id);
    let merged = json!({"pullRequests": [{"fullName": "acme/shop", "number": 7, "state": "merged", "isDraft": false,
        "failingChecks": 0, "pendingChecks": 0, "hasConflicts": false, "unresolvedThreads": 0}]});
    assert_eq!(owner.post(&path, merged.clone()).await.status, 401, "a page reported a pull request");
    let key = owner.post("/api-keys", json!({"name": "x"})).await;
    let key = plane.anonymous().with_bearer(key.data("plaintext").as_str().unwrap());
    assert_eq!(key.post(&path, merged.clone()).await.status, 401);
    let other = plane.desktop().await;
    let other_path = format!("/compute-targets/{}/pull-requests", other.target_id);
    let foreign =
        other.identity.client(&plane, "POST", &other_path, 0).post(&other_path, merged.clone()).await;
    assert_eq!((foreign.status.as_u16(), foreign.data("open")), (200, &json!([])));
    let as_desktop = other.identity.client(&plane, "POST", &path, 0).post(&path, merged).await;
    assert_eq!(as_desktop.refused(), (404, "Compute target not found"));
    assert_eq!(
        standing(&owner, "feature-1").await,
        as_standing("pull_request", "pull_request_open", Value::Null)
    );
}

#[tokio::test]
async fn completed_loop_whose_push_failed_needs_attention() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    let end = json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 5, "output": 6},
        "warnings": ["GIT_PUSH_FAILED"]});
    assert_eq!(runner.event(id, end).await.status, 200);
    assert_eq!(standing(&owner, "feature-1").await, as_standing("execute", "delivery_failed", "delivery"));
}

#[tokio::test]
async fn loop_whose_desktop_goes_offline_before_the_start_needs_attention() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    launched(&plane, &mut desktop).await;
    plane.disconnect(desktop.target_id).await;
    crate::desktops::register::set_online(&plane.app.store, desktop.target_id, false).await.unwrap();
    assert_eq!(
        standing(&owner, "feature-1").await,
        as_standing("plan", "machine_offline", "machine_offline")
    );
    crate::desktops::register::set_online(&plane.app.store, desktop.target_id, true).await.unwrap();
    assert_eq!(standing(&owner, "feature-1").await, as_standing("plan", "starting", Value::Null));
}

#[tokio::test]
async fn attention_is_listed_until_it_is_snoozed_or_archived() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    feature(&owner).await;
    request(&owner, "Not started").await;
    plan(&plane, &mut desktop, "feature-1").await;
    let waiting = (vec!["feature-1".to_owned()], json!(1));
    assert_eq!(listed(&owner, "attention=true&mine=true").await, waiting);
    assert_eq!(listed(&member, "attention=true&mine=true").await, (vec![], json!(0)));
    assert_eq!(listed(&member, "attention=true").await, waiting);

    let mark = "/change-requests/feature-1/mark";
    let unread = owner.get("/change-requests/feature-1").await;
    assert_eq!(unread.data("isUnread"), true);
    let snoozed = owner.put(mark, json!({"seen": true, "snoozedUntil": "2999-01-01T00:00:00Z"})).await;
    assert_eq!(
        (snoozed.data("isUnread"), snoozed.data("snoozedUntil")),
        (&json!(false), &json!("2999-01-01T00:00:00.000Z"))
    );
    assert_eq!(listed(&owner, "attention=true").await, (vec![], json!(0)));
    assert_eq!(listed(&member, "attention=true").await, waiting, "a mark belongs to its user");
    owner.put(mark, json!({"snoozedUntil": "2020-01-01T00:00:00Z"})).await;
    assert_eq!(listed(&owner, "attention=true").await, waiting, "the time is over");
    assert_eq!(
        owner.put(mark, json!({"snoozedUntil": "tomorrow"})).await.refused(),
        (400, "snoozedUntil: must be an ISO 8601 timestamp")
    );

    owner.patch("/change-requests/feature-1", json!({"archived": true})).await;
    assert_eq!(listed(&member, "attention=true").await, (vec![], json!(0)));
    assert_eq!(listed(&owner, "archived=true").await, waiting);
    owner.patch("/change-requests/feature-1", json!({"archived": false})).await;
    assert_eq!(listed(&owner, "attention=true").await, waiting);
}

#[tokio::test]
async fn list_is_searched_filtered_and_paginated() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    for number in 1..=5 {
        request(&owner, &format!("Cart {number}")).await;
    }
    let other = json!({"title": "Docs", "type": "FEATURE", "content": "x",
        "repo": {"fullName": "acme/docs", "branch": ""}});
    owner.post("/documents", other).await;
    assert_eq!(listed(&owner, "text=CART%203").await.0, ["feature-3"]);
    assert_eq!(listed(&owner, "text=100%25").await.0, Vec::<String>::new(), "wildcards are escaped");
    assert_eq!(listed(&owner, "repo=acme/docs").await.0, ["feature-6"]);
    assert_eq!(listed(&owner, "repo=acme/doc").await.0, Vec::<String>::new());
    assert_eq!(listed(&owner, "state=not_started,running").await.1, 6);
    assert_eq!(listed(&owner, "state=running").await.1, 0);

    let (mut seen, mut position) = (Vec::new(), String::new());
    loop {
        let page = owner.get(&format!("/change-requests?limit=4{position}")).await;
        let rows = page.json["data"].as_array().unwrap().clone();
        let Some(last) = rows.last() else { break };
        let (before, id) = (last["changedAt"].as_str().unwrap(), last["document"]["id"].as_str().unwrap());
        position = format!("&before={before}&beforeId={id}");
        seen.extend(rows.iter().map(|row| row["document"]["slug"].as_str().unwrap().to_owned()));
    }
    seen.sort();
    assert_eq!(seen, (1..=6).map(|number| format!("feature-{number}")).collect::<Vec<_>>());

    for query in
        ["limit=0", "state=done,unknown", "before=yesterday", "beforeId=0190a5f3-c8b9-7f00-a1b2-c3d4e5f60718"]
    {
        let reply = owner.get(&format!("/change-requests?{query}")).await;
        assert_eq!(reply.status, 400, "{query}: {}", reply.text);
    }
}

#[tokio::test]
async fn other_organizations_see_nothing() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    let stranger = plane.stranger().await;
    assert_eq!(listed(&stranger, "").await, (vec![], json!(0)));
    let missing = (404, "Change request not found");
    assert_eq!(stranger.get("/change-requests/feature-1").await.refused(), missing);
    assert_eq!(
        stranger.patch("/change-requests/feature-1", json!({"archived": true})).await.refused(),
        missing
    );
    assert_eq!(
        stranger.put("/change-requests/feature-1/mark", json!({"seen": true})).await.refused(),
        missing
    );
}

#[tokio::test]
async fn states_of_earlier_documents_are_derived_at_the_start() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    change_request::Entity::delete_many().exec(plane.app.store.writer()).await.unwrap();
    change_requests::backfill(&plane.app.store).await.unwrap();
    assert_eq!(standing(&owner, "feature-1").await, as_standing("plan", "plan_ready", "plan"));
}

#[tokio::test]
async fn state_that_is_not_derived_yet_is_derived_on_demand() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    change_request::Entity::delete_many().exec(plane.app.store.writer()).await.unwrap();
    assert_eq!(standing(&owner, "plan-1").await, as_standing("plan", "plan_ready", "plan"));
    assert_eq!(listed(&owner, "attention=true").await.1, 1);
}

#[tokio::test]
async fn concurrent_changes_of_one_change_request_keep_the_later_state() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let slug = request(&owner, "Cart").await;
    let id: Uuid =
        owner.get(&format!("/documents/{slug}")).await.data("id").as_str().unwrap().parse().unwrap();
    for command in ["PLAN", "EXECUTE", "CODE_REVIEW"] {
        let body = json!({"command": command, "documentId": slug, "repo": shop()});
        assert_eq!(owner.post("/loops", body).await.status, 200);
    }
    let loops = owner.get("/loops").await;
    let ids: Vec<String> = loops.json["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap().to_owned())
        .collect();
    let stops = ids.iter().map(|id| {
        let (owner, path) = (owner.clone(), format!("/loops/{id}/cancel"));
        async move { owner.post(&path, json!({})).await.status.as_u16() }
    });
    assert_eq!(futures_util::future::join_all(stops).await, [200; 3]);
    let row = change_request::Entity::find_by_id(id).one(plane.app.store.reader()).await.unwrap().unwrap();
    assert_eq!(serde_json::to_value(row.state).unwrap(), "stopped");
}
