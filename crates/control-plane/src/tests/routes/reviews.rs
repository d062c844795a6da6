//! Reviews of changes: drafts of comments, the loop that answers them, and what it leaves unanswered.

use serde_json::{Value, json};
use uuid::Uuid;

use super::documents::{feature, launched, plan};
use crate::tests::{LinkedDesktop, TestApp, TestClient};

const REVIEWS: &str = "/change-requests/feature-1/reviews";

fn comment(path: &str, body: &str) -> Value {
    let anchor = json!({"line": 3, "before": ["fn total() {"], "text": "sum", "after": []});
    json!({"repository": "acme/shop", "path": path, "body": body,
        "lines": {"side": "new", "from": 2, "to": 3, "anchor": anchor}})
}

async fn draft(client: &TestClient, path: &str, body: &str) -> String {
    let id = Uuid::new_v4().to_string();
    let stored = client.put(&format!("/change-requests/plan-1/comments/{id}"), comment(path, body)).await;
    assert_eq!(stored.status, 200, "{}", stored.text);
    id
}

async fn drafts(client: &TestClient) -> Vec<String> {
    let listed = client.get(REVIEWS).await;
    let rows = listed.data("drafts").as_array().unwrap().clone();
    rows.iter().map(|row| row["body"].as_str().unwrap().to_owned()).collect()
}

/// Creates a plan whose execution has opened a pull request.
async fn executed(plane: &TestApp) -> (LinkedDesktop, TestClient) {
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    feature(&owner).await;
    plan(plane, &mut desktop, "feature-1").await;
    let started = owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    assert_eq!(started.status, 200, "{}", started.text);
    end(plane, &mut desktop, json!({})).await;
    (desktop, owner)
}

/// Completes the next loop with further members of its last event. Returns its launch request and id.
async fn end(plane: &TestApp, desktop: &mut LinkedDesktop, more: Value) -> (Value, Uuid) {
    let (command, id, runner) = launched(plane, desktop).await;
    runner.event(id, json!({"type": "started"})).await;
    let entry = json!({"status": "success", "fullName": "acme/shop", "prUrl": "https://github.com/acme/shop/pull/7",
        "prNumber": 7, "branchName": "orchestrator/plan-1", "baseBranch": "main", "hasChanges": true});
    let result = json!({"exitCode": 0, "prUrl": entry["prUrl"], "prNumber": 7});
    let mut event = json!({"type": "completed", "result": result, "results": [entry],
        "tokensUsed": {"input": 5, "output": 6}});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let ended = runner.event(id, event).await;
    assert_eq!(ended.status, 200, "{}", ended.text);
    (command["body"].clone(), id)
}

fn request_changes(ids: &[String]) -> Value {
    json!({"command": "execute", "version": 1, "review": {"commentIds": ids, "summary": "Almost done.",
        "heads": {"acme/shop": "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade"}}})
}

async fn state(client: &TestClient) -> (Value, Value) {
    let shown = client.get("/change-requests/feature-1").await;
    (shown.data("state").clone(), shown.data("attention").clone())
}

#[tokio::test]
async fn one_loop_receives_all_comments_and_its_answers_are_shown() {
    let plane = TestApp::start().await;
    let (mut desktop, owner) = executed(&plane).await;
    let ids =
        [draft(&owner, "src/cart.rs", "Name the limit.").await, draft(&owner, "README.md", "Why?").await];
    let body = request_changes(&ids);
    let preview = owner.post("/documents/plan-1/run-loop/preview", body.clone()).await;
    assert_eq!(preview.data("launch")["reviewComments"]["comments"].as_array().unwrap().len(), 2);
    assert_eq!(drafts(&owner).await.len(), 2, "a preview sends nothing");

    let keyed = owner.with_header("idempotency-key", "review-0001-0001");
    let started = keyed.post("/documents/plan-1/run-loop", body.clone()).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let repeated = keyed.post("/documents/plan-1/run-loop", body).await;
    assert_eq!(repeated.data("loopId"), started.data("loopId"), "one review starts one loop");
    assert_eq!(drafts(&owner).await, Vec::<String>::new());

    let commit = "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade";
    let answers = json!([{"number": 1, "status": "done", "note": "Named.", "commit": commit},
        {"number": 2, "status": "declined", "reason": "It is in the plan."}]);
    let (launch, id) = end(&plane, &mut desktop, json!({"commentAnswers": answers})).await;
    assert_eq!(started.data("loopId"), &json!(id));
    let mut expected = comment("src/cart.rs", "Name the limit.");
    expected["number"] = json!(1);
    assert_eq!(launch["reviewComments"]["summary"], "Almost done.");
    assert_eq!(launch["reviewComments"]["comments"][0], expected);
    assert_eq!(launch["prompt"], "Almost done.");
    assert_eq!(launch, preview_with(&launch, preview.data("launch")));

    let listed = owner.get(REVIEWS).await;
    let review = &listed.data("reviews")[0];
    assert_eq!((&review["kind"], &review["loopStatus"]), (&json!("request_changes"), &json!("COMPLETED")));
    assert_eq!(review["heads"], json!({"acme/shop": commit}));
    assert_eq!(
        review["comments"][0]["answer"],
        json!({"status": "done", "note": "Named.", "commit": commit})
    );
    assert_eq!(
        review["comments"][1]["answer"],
        json!({"status": "declined", "reason": "It is in the plan."})
    );
    assert_eq!(state(&owner).await, (json!("pull_request_open"), Value::Null));
}

/// Returns the launch request with the members of a preview.
fn preview_with(launch: &Value, preview: &Value) -> Value {
    let mut members = launch.as_object().unwrap().clone();
    members.extend(preview.as_object().unwrap().clone());
    members.into()
}

#[tokio::test]
async fn loop_that_leaves_a_comment_unanswered_needs_attention() {
    let plane = TestApp::start().await;
    let (mut desktop, owner) = executed(&plane).await;
    let ids =
        [draft(&owner, "src/cart.rs", "Name the limit.").await, draft(&owner, "README.md", "Why?").await];
    owner.post("/documents/plan-1/run-loop", request_changes(&ids)).await;
    let answers = json!([{"number": 1, "status": "done"}, {"number": 2, "status": "declined"}, {"number": 9, "status": "done"}, 7]);
    end(&plane, &mut desktop, json!({"commentAnswers": answers})).await;
    assert_eq!(state(&owner).await, (json!("comments_unanswered"), json!("comments")));
    let shown = owner.get("/change-requests/feature-1").await;
    assert_eq!(shown.data("details")["unanswered"], 1);
    let comments = owner.get(REVIEWS).await.data("reviews")[0]["comments"].clone();
    assert_eq!((&comments[0]["answer"]["status"], &comments[1]["answer"]), (&json!("done"), &Value::Null));
}

#[tokio::test]
async fn answers_that_are_no_list_answer_nothing() {
    let plane = TestApp::start().await;
    let (mut desktop, owner) = executed(&plane).await;
    let ids = [draft(&owner, "src/cart.rs", "Name the limit.").await];
    owner.post("/documents/plan-1/run-loop", request_changes(&ids)).await;
    end(&plane, &mut desktop, json!({"commentAnswers": "done"})).await;
    assert_eq!(state(&owner).await.0, "comments_unanswered");
}

#[tokio::test]
async fn resumed_loop_receives_the_comments_of_the_failed_one() {
    let plane = TestApp::start().await;
    let (mut desktop, owner) = executed(&plane).await;
    let ids = [draft(&owner, "src/cart.rs", "Name the limit.").await];
    owner.post("/documents/plan-1/run-loop", request_changes(&ids)).await;
    let (_, failed, runner) = launched(&plane, &mut desktop).await;
    runner.event(failed, json!({"type": "started"})).await;
    runner.event(failed, json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"})).await;
    let resumed = owner.post(&format!("/loops/{failed}/resume"), json!({})).await;
    assert_eq!(resumed.status, 200, "{}", resumed.text);
    let answers = json!([{"number": 1, "status": "done"}]);
    let (launch, id) = end(&plane, &mut desktop, json!({"commentAnswers": answers})).await;
    assert_eq!(launch["reviewComments"]["comments"][0]["body"], "Name the limit.");
    let review = owner.get(REVIEWS).await.data("reviews")[0].clone();
    assert_eq!((&review["loopId"], &review["comments"][0]["answer"]["status"]), (&json!(id), &json!("done")));
}

#[tokio::test]
async fn review_without_a_loop_keeps_its_comments_as_notes() {
    let plane = TestApp::start().await;
    let (_desktop, owner) = executed(&plane).await;
    let id = draft(&owner, "src/cart.rs", "Nice.").await;
    let finished = owner.post(REVIEWS, json!({"commentIds": [id], "heads": {}})).await;
    assert_eq!(finished.status, 200, "{}", finished.text);
    let review = &finished.data("reviews")[0];
    assert_eq!((&review["kind"], &review["loopId"]), (&json!("comment"), &Value::Null));
    assert_eq!(finished.data("drafts"), &json!([]));
    assert_eq!(state(&owner).await, (json!("pull_request_open"), Value::Null), "a note requires nothing");
    let again = owner.post(REVIEWS, json!({"commentIds": [id]})).await;
    assert_eq!((again.status, &again.json["code"]), (409.try_into().unwrap(), &json!("comments_changed")));
}

#[tokio::test]
async fn drafts_belong_to_their_author_until_they_are_sent() {
    let plane = TestApp::start().await;
    let (_desktop, owner) = executed(&plane).await;
    let member = plane.member("ben@example.org").await;
    let id = draft(&owner, "src/cart.rs", "First").await;
    let path = format!("/change-requests/feature-1/comments/{id}");
    assert_eq!(owner.put(&path, comment("src/cart.rs", "Second")).await.status, 200);
    assert_eq!(drafts(&owner).await, ["Second"], "the same id changes the comment");
    assert_eq!(drafts(&member).await, Vec::<String>::new());
    let missing = (404, "Comment not found");
    assert_eq!(member.put(&path, comment("a", "b")).await.refused(), missing);
    assert_eq!(member.delete(&path).await.refused(), missing);
    let stolen = member.post("/documents/plan-1/run-loop", request_changes(std::slice::from_ref(&id))).await;
    assert_eq!((stolen.status, &stolen.json["code"]), (409.try_into().unwrap(), &json!("comments_changed")));
    assert_eq!(plane.stranger().await.get(REVIEWS).await.refused(), (404, "Change request not found"));

    owner.delete(&path).await;
    assert_eq!((drafts(&owner).await, owner.delete(&path).await.status.as_u16()), (vec![], 200));
    let sent = draft(&owner, "src/cart.rs", "Third").await;
    owner.post(REVIEWS, json!({"commentIds": [sent]})).await;
    let path = format!("/change-requests/feature-1/comments/{sent}");
    for reply in [owner.put(&path, comment("a", "b")).await, owner.delete(&path).await] {
        assert_eq!((reply.status.as_u16(), &reply.json["code"]), (409, &json!("comment_sent")));
    }
}

#[tokio::test]
async fn invalid_comments_and_reviews_are_refused() {
    let plane = TestApp::start().await;
    let (_desktop, owner) = executed(&plane).await;
    let path = format!("/change-requests/feature-1/comments/{}", Uuid::new_v4());
    let with = |change: &dyn Fn(&mut Value)| {
        let mut body = comment("a.rs", "Why?");
        change(&mut body);
        body
    };
    for (body, reason) in [
        (with(&|body| body["body"] = json!(" ")), "body: must have at least 1 character(s)"),
        (with(&|body| body["path"] = json!("")), "path: must not be empty"),
        (with(&|body| body["lines"]["from"] = json!(4)), "lines: must be a range of lines from 1"),
        (with(&|body| body["lines"]["from"] = json!(0)), "lines: must be a range of lines from 1"),
        (
            with(&|body| body["lines"]["anchor"]["text"] = json!("x".repeat(20_000))),
            "lines.anchor: is too large",
        ),
    ] {
        assert_eq!(owner.put(&path, body).await.refused(), (400, reason));
    }
    let nothing = json!({"commentIds": [], "summary": " "});
    assert_eq!(
        owner.post(REVIEWS, nothing).await.refused(),
        (400, "commentIds: must have a comment, or the review a summary")
    );
    let planned = json!({"command": "plan", "review": {"commentIds": [], "summary": "x"}});
    let refused = owner.post("/documents/feature-1/run-loop", planned).await;
    let reason = "review: only execute on an existing document answers the comments of a review";
    assert_eq!(refused.refused(), (400, reason));
}

#[tokio::test]
async fn held_changes_wait_for_an_approval_which_starts_a_loop_that_only_delivers() {
    const HEAD: &str = "442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade";
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let owner = plane.owner().await;
    let settings = json!({"holdPullRequests": true, "spendingLimits": {}});
    assert_eq!(owner.put("/organization/settings", settings).await.data("holdPullRequests"), true);
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    let approve = json!({"command": "execute", "version": 1, "approve": {"heads": {"acme/shop": HEAD}}});
    let nothing = owner.post("/documents/plan-1/run-loop", approve.clone()).await;
    assert_eq!((nothing.status.as_u16(), &nothing.json["code"]), (409, &json!("nothing_to_approve")));

    owner.post("/documents/plan-1/run-loop", json!({"command": "execute"})).await;
    let held = json!({"status": "held", "fullName": "acme/shop", "branchName": "orchestrator/plan-1",
        "baseBranch": "main", "commitSha": HEAD});
    let (launch, _) = end(
        &plane,
        &mut desktop,
        json!({"result": {"exitCode": 0}, "results": [held], "warnings": ["PULL_REQUEST_HELD"]}),
    )
    .await;
    assert_eq!((&launch["holdPullRequest"], launch.get("approvedCommits")), (&json!(true), None));
    assert_eq!(state(&owner).await, (json!("changes_ready"), json!("changes")));
    assert_eq!(owner.get("/documents/plan-1").await.data("status"), "DRAFT", "nothing is delivered");

    let started = owner.post("/documents/plan-1/run-loop", approve).await;
    assert_eq!(started.status, 200, "{}", started.text);
    // The loop runs no assistant, so that it has no tokens.
    let no_tokens = json!({"tokensUsed": {"input": 0, "output": 0}});
    let (launch, _) = end(&plane, &mut desktop, no_tokens).await;
    assert_eq!(launch["approvedCommits"], json!({"acme/shop": HEAD}));
    assert_eq!((launch.get("holdPullRequest"), launch.get("reviewComments")), (None, None));
    assert_eq!(state(&owner).await, (json!("pull_request_open"), Value::Null));
    let review = owner.get(REVIEWS).await.data("reviews")[0].clone();
    assert_eq!((&review["kind"], &review["heads"]), (&json!("approve"), &json!({"acme/shop": HEAD})));
    assert_eq!(reasons(&owner).await, ["approval", "request", "request"]);
}

/// Returns why the loops of the change request were started, newest first.
async fn reasons(client: &TestClient) -> Vec<Value> {
    let history = client.get("/change-requests/feature-1/history").await;
    let entries = history.json["data"].as_array().unwrap().clone();
    let started = entries.iter().filter(|entry| entry["kind"] == "loop_started");
    started.map(|entry| entry["reason"].clone()).collect()
}

#[tokio::test]
async fn history_contains_the_reviews_and_the_end_of_the_pull_request() {
    let plane = TestApp::start().await;
    let (mut desktop, owner) = executed(&plane).await;
    let ids =
        [draft(&owner, "src/cart.rs", "Name the limit.").await, draft(&owner, "README.md", "Why?").await];
    owner.post("/documents/plan-1/run-loop", request_changes(&ids)).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    runner.event(id, json!({"type": "error", "code": "PROCESS_FAILED", "message": "x"})).await;
    let resumed = owner.post(&format!("/loops/{id}/resume"), json!({})).await;
    assert_eq!(reasons(&owner).await, ["continuation", "review", "request", "request"]);

    let path = format!("/compute-targets/{}/pull-requests", desktop.target_id);
    let merged = json!({"fullName": "acme/shop", "number": 7, "state": "merged", "isDraft": false, "failingChecks": 0,
        "pendingChecks": 0, "hasConflicts": false, "unresolvedThreads": 0, "settledAt": "2999-01-01T00:00:00Z", "mergedBy": "kim"});
    desktop.identity.client(&plane, "POST", &path, 0).post(&path, json!({"pullRequests": [merged]})).await;
    let history = owner.get("/change-requests/feature-1/history").await;
    let entries = history.json["data"].as_array().unwrap();
    assert_eq!(
        (&entries[0]["kind"], &entries[0]["state"], &entries[0]["mergedBy"]),
        (&json!("pull_request_settled"), &json!("merged"), &json!("kim"))
    );
    let review = entries.iter().find(|entry| entry["kind"] == "changes_reviewed").unwrap();
    assert_eq!((&review["review"], &review["comments"]), (&json!("request_changes"), &json!(2)));
    // The loop that resumes takes over the review.
    assert_eq!((&review["summary"], &review["loopId"]), (&json!("Almost done."), resumed.data("loopId")));
}
