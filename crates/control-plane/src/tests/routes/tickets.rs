//! Tickets: from the description to the pull request.

use serde_json::{Value, json};

use super::documents::{launched, plan};
use crate::tests::plane::shop;
use crate::tests::{TestApp, TestClient};

async fn ticket(owner: &TestClient) -> Value {
    let peers = json!([{"fullName": "acme/docs", "branch": "main"}]);
    let body =
        json!({"title": " Cart ", "body": "People need a cart.", "repo": shop(), "additionalRepos": peers});
    let created = owner.post("/tickets", body).await;
    assert_eq!(created.status, 200, "{}", created.text);
    created.json["data"].clone()
}

#[tokio::test]
async fn ticket_links_description_plan_and_pull_request() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let created = ticket(&owner).await;
    assert_eq!(
        (&created["slug"], &created["title"], &created["state"]),
        (&json!("ticket-1"), &json!("Cart"), &json!("open"))
    );
    assert_eq!(created["additionalRepos"][0]["fullName"], "acme/docs");
    let document = created["document"]["slug"].as_str().unwrap();

    let planned = plan(&plane, &mut desktop, document).await;
    let row = plane.row(planned).await;
    assert_eq!(
        row.artifact_slug.as_deref(),
        Some("ticket-1"),
        "worktree and branch are named after the ticket"
    );
    assert_eq!(
        row.additional_repos.unwrap()[0]["fullName"],
        "acme/docs",
        "the ticket's repositories are used"
    );

    let shown = owner.get("/tickets/ticket-1").await;
    let plan_slug = shown.data("plan")["slug"].as_str().unwrap().to_owned();
    owner.post(&format!("/documents/{plan_slug}/run-loop"), json!({"command": "execute"})).await;
    let (command, executed, runner) = launched(&plane, &mut desktop).await;
    assert_eq!(command["body"]["artifactSlug"], "ticket-1", "EXECUTE uses the worktree of PLAN");
    runner.event(executed, json!({"type": "started"})).await;
    let entry = json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/ticket-1", "baseBranch": "main", "hasChanges": true});
    let end = json!({"type": "completed", "result": {"exitCode": 0}, "tokensUsed": {"input": 5, "output": 6},
        "results": [entry]});
    assert_eq!(runner.event(executed, end).await.status, 200);

    let shown = owner.get(&format!("/tickets/{}", created["id"].as_str().unwrap())).await;
    let loops: Vec<&Value> = shown.data("loops").as_array().unwrap().iter().map(|row| &row["id"]).collect();
    assert_eq!(loops, [&json!(executed), &json!(planned)]);
    assert_eq!(shown.data("pullRequests")[0]["number"], 7);
}

#[tokio::test]
async fn replanning_a_ticket_creates_a_version_of_its_plan() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let created = ticket(&owner).await;
    let document = created["document"]["slug"].as_str().unwrap();
    plan(&plane, &mut desktop, document).await;
    plan(&plane, &mut desktop, document).await;
    let plans = owner.get("/documents?type=IMPLEMENTATION_PLAN").await;
    assert_eq!(plans.json["data"].as_array().unwrap().len(), 1);
    assert_eq!(plans.json["data"][0]["currentVersion"], 2);
}

#[tokio::test]
async fn ticket_patch_changes_only_given_members() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    ticket(&owner).await;
    let closed = owner.patch("/tickets/ticket-1", json!({"state": "closed"})).await;
    assert_eq!((closed.data("state"), closed.data("title")), (&json!("closed"), &json!("Cart")));
    let open = owner.get("/tickets?state=open").await;
    assert_eq!(open.json["data"], json!([]));
    let change = json!({"title": "Basket", "body": "A basket.", "additionalRepos": [], "state": "open"});
    let changed = owner.patch("/tickets/ticket-1", change).await;
    assert_eq!(
        (changed.data("title"), changed.data("body"), changed.data("additionalRepos"), changed.data("state")),
        (&json!("Basket"), &json!("A basket."), &json!([]), &json!("open"))
    );
    assert_eq!(changed.data("repo"), &json!(shop()), "omitted members are unchanged");
    let listed = owner.get("/tickets").await;
    assert_eq!(listed.json["data"][0]["slug"], "ticket-1");
    let document = changed.data("document")["slug"].as_str().unwrap();
    let versions = owner.get(&format!("/documents/{document}/versions")).await;
    assert_eq!(versions.json["data"].as_array().unwrap().len(), 2);
}

#[tokio::test]
async fn nul_character_is_replaced_in_bodies_and_rejected_in_urls() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    // PostgreSQL cannot store U+0000 in text and jsonb.
    let created = owner.post("/tickets", json!({"title": "a\0b", "body": "\0"})).await;
    assert_eq!(
        (created.data("title"), created.data("body")),
        (&json!("a\u{fffd}b"), &json!("\u{fffd}")),
        "{}",
        created.text
    );
    let (id, runner) = plane.running("PLAN").await;
    runner.event(id, json!({"type": "started"})).await;
    assert_eq!(runner.event(id, json!({"type": "output", "chunk": "bell\0"})).await.status, 200);
    let events = owner.get(&format!("/loops/{id}/events?type=output")).await;
    assert!(events.text.contains("bell\u{fffd}"), "{}", events.text);
    let address = owner.get("/agents?search=%00").await;
    assert_eq!(address.refused(), (400, "The URL must not contain U+0000"));
}

#[tokio::test]
async fn invalid_ticket_is_rejected() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    ticket(&owner).await;
    let own = json!([{"fullName": "Acme/Shop", "branch": "main"}]);
    let duplicate = owner.patch("/tickets/ticket-1", json!({"additionalRepos": own})).await;
    assert_eq!(duplicate.refused(), (400, "additionalRepos.0.fullName: Duplicate repository: \"Acme/Shop\""));
    for body in [json!({"title": " "}), json!({"body": ""}), json!({"state": "done"}), json!({"owner": "me"})]
    {
        assert_eq!(owner.patch("/tickets/ticket-1", body.clone()).await.status, 400, "{body}");
    }
    for body in [json!({"title": "x"}), json!({"title": "", "body": "x"}), json!({"body": "x"})] {
        assert_eq!(owner.post("/tickets", body.clone()).await.status, 400, "{body}");
    }
    assert_eq!(owner.get("/tickets/ticket-2").await.refused(), (404, "Ticket not found"));
    assert_eq!(owner.get("/tickets?state=lost").await.status, 400);
    assert_eq!(plane.stranger().await.get("/tickets/ticket-1").await.refused(), (404, "Ticket not found"));
}
