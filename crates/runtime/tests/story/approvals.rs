//! Loops that wait for a person's approval before they open a pull request.

use loopgate_api::ids::LoopId;
use loopgate_api::job::JobStatus;
use serde_json::{Value, json};

use crate::support::{DESCRIBES, Desktop, new_id, request, start};

/// Returns the request of an EXECUTE that holds its pull request.
fn holding(id: LoopId) -> Value {
    let mut body = request(id, "EXECUTE");
    body["holdPullRequest"] = json!(true);
    body
}

/// Returns the request of a loop that delivers an approved commit.
fn approving(id: LoopId, commit: &Value) -> Value {
    let mut body = request(id, "EXECUTE");
    body["approvedCommits"] = json!({"acme/api": commit});
    body
}

/// Runs a loop that holds its pull request. Returns its result.
async fn held(desktop: &Desktop) -> Value {
    desktop.driver(DESCRIBES);
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &holding(id)).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
    let completed = desktop.cloud.events(id, "completed")[0].clone();
    assert_eq!(completed["warnings"], json!(["PULL_REQUEST_HELD"]), "{completed}");
    completed["results"][0].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn pull_request_is_opened_only_after_the_approval() {
    let desktop = Desktop::new().await;
    let entry = held(&desktop).await;
    assert_eq!((&entry["status"], &entry["branchName"]), (&json!("held"), &json!("orchestrator/plan-5")));
    assert_eq!(entry["tests"]["outcome"], "not-run", "{entry}");
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: PLAN-5: Add the feature"]);
    assert_eq!(desktop.state("created"), "");

    // The approved delivery runs no driver and no assistant.
    desktop.driver("[ -z \"$1\" ] || exit 1");
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &approving(id, &entry["commitSha"])).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!((job.status(), job.warnings()), (JobStatus::Completed, vec![]), "{job:?}");
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["results"][0]["status"], "success", "{completed}");
    assert_eq!(completed["results"][0]["commitSha"], entry["commitSha"]);
    assert_eq!(desktop.state("created").trim(), "orchestrator/plan-5");
    assert_eq!(desktop.pushed("orchestrator/plan-5").await, ["Ada: PLAN-5: Add the feature"]);
    // With the text of the loop whose work was approved.
    let body = desktop.state("created-body");
    assert!(body.starts_with("## What\nThe feature.\n\n"), "{body}");
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_after_the_approval_are_not_delivered() {
    let desktop = Desktop::new().await;
    let entry = held(&desktop).await;
    let worktree = desktop.at("box/api-loop-plan-5");
    let runtime = desktop.open().await;
    let deliver = async |commit: &Value| {
        desktop.driver("");
        let id = new_id();
        start(&runtime, &approving(id, commit)).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        (job.status(), desktop.cloud.events(id, "completed")[0]["results"][0]["error"].clone())
    };
    std::fs::write(worktree.join("feature.txt"), "edited\n").unwrap();
    let (status, error) = deliver(&entry["commitSha"]).await;
    let text = "It has uncommitted changes since the approval. Review the changes and approve them again.";
    assert_eq!((status, error), (JobStatus::Completed, json!(text)));
    desktop.git(&worktree, &["checkout", "-q", "--", "feature.txt"]).await;
    let (_, error) = deliver(&json!("442f4e2d0d7ac377d770fd7f39d7ed90e3d86ade")).await;
    let text =
        "Its branch is at another commit since the approval. Review the changes and approve them again.";
    assert_eq!(error, json!(text));
    assert_eq!(desktop.state("created"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn open_pull_request_is_updated_without_an_approval() {
    let desktop = Desktop::new().await;
    desktop.driver(DESCRIBES);
    let runtime = desktop.open().await;
    let first = new_id();
    start(&runtime, &request(first, "EXECUTE")).await.unwrap();
    desktop.reported(&runtime, first).await;
    desktop.driver(&format!("{DESCRIBES}\necho more >> feature.txt"));
    let id = new_id();
    start(&runtime, &holding(id)).await.unwrap();
    desktop.reported(&runtime, id).await;
    let completed = &desktop.cloud.events(id, "completed")[0];
    assert_eq!(completed["results"][0]["status"], "success", "{completed}");
}
