//! Loops that answer the comments of a review.

use loopgate_api::job::JobStatus;
use serde_json::{Value, json};

use crate::support::{Desktop, IMPLEMENTS, new_id, request, start};

/// Returns the request of an EXECUTE that has to answer two comments.
fn reviewed(id: loopgate_api::ids::LoopId) -> Value {
    let comment = |number: u32, body: &str| {
        json!({"number": number, "repository": "acme/api", "path": "feature.txt", "body": body,
            "lines": {"side": "new", "from": 1, "to": 1}})
    };
    let mut body = request(id, "EXECUTE");
    body["reviewComments"] = json!({"comments": [comment(1, "Name it."), comment(2, "Why?")]});
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_are_reported_with_the_commit_of_the_delivery() {
    let desktop = Desktop::new().await;
    let answers = r#"printf '{"answers":[{"number":1,"status":"done","note":"Named."},{"number":2,"status":"declined","reason":"It is in the plan."}]}' > "$W/review-answers.json""#;
    desktop.driver(&format!("cp \"$W/review-comments.json\" \"$STATE/received\"\n{IMPLEMENTS}\n{answers}"));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &reviewed(id)).await.unwrap();
    let job = desktop.reported(&runtime, id).await;
    assert_eq!((job.status(), job.warnings()), (JobStatus::Completed, vec![]), "{job:?}");
    let received: Value = serde_json::from_str(&desktop.state("received")).unwrap();
    assert_eq!(received, reviewed(id)["reviewComments"]);
    let completed = &desktop.cloud.events(id, "completed")[0];
    let commit = &completed["results"][0]["commitSha"];
    assert!(commit.is_string(), "{completed}");
    assert_eq!(
        completed["commentAnswers"],
        json!([{"number": 1, "status": "done", "note": "Named.", "commit": commit},
            {"number": 2, "status": "declined", "reason": "It is in the plan."}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn comments_without_an_answer_are_reported() {
    let desktop = Desktop::new().await;
    let runtime = desktop.open().await;
    // The answers of an earlier review do not count.
    for script in ["", "printf 'done' > \"$W/review-answers.json\""] {
        desktop.driver(&format!("{IMPLEMENTS}\necho \"$$\" >> feature.txt\n{script}"));
        let id = new_id();
        start(&runtime, &reviewed(id)).await.unwrap();
        let job = desktop.reported(&runtime, id).await;
        assert_eq!(job.status(), JobStatus::Completed, "{job:?}");
        let completed = &desktop.cloud.events(id, "completed")[0];
        assert_eq!(completed["commentAnswers"], json!([]), "{completed}");
        assert_eq!(completed["warnings"], json!(["REVIEW_COMMENTS_UNANSWERED"]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_a_failed_loop_are_reported() {
    let desktop = Desktop::new().await;
    let answers = r#"printf '{"answers":[{"number":2,"status":"done"}]}' > "$W/review-answers.json""#;
    desktop.driver(&format!("{answers}\nexit 1"));
    let runtime = desktop.open().await;
    let id = new_id();
    start(&runtime, &reviewed(id)).await.unwrap();
    assert_eq!(desktop.reported(&runtime, id).await.status(), JobStatus::Failed);
    let error = &desktop.cloud.events(id, "error")[0];
    assert_eq!(error["commentAnswers"], json!([{"number": 2, "status": "done"}]), "nothing is committed");
}
