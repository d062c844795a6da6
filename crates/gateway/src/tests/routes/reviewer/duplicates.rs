//! Detection of findings that two reviews have in common.

use serde_json::{Value, json};

use super::Review;

const ROUTE: &str = "review-dedup/T-1";

impl Review {
    fn lists(&self, first: Value, second: Value) -> Value {
        json!({"repoPath": self.repo, "providerA": "assistant", "providerB": "pr-comments",
            "findingsA": first, "findingsB": second})
    }
}

// RC-29
#[tokio::test]
async fn equal_findings_are_paired() {
    let review = Review::new().await;
    let finding = json!([{"message": "The sum overflows", "file": "src/a.rs"}]);
    for (first, second, expected) in [
        (finding.clone(), finding.clone(), json!([[0, 0]])),
        (finding.clone(), json!([{"message": "Unused import"}]), json!([])),
        (json!([]), finding.clone(), json!([])),
        (finding.clone(), json!("none"), json!([])),
        (json!([{}]), json!([{}]), json!([])),
    ] {
        let body = review.lists(first, second);
        let answer = review.request("POST", ROUTE, &body).await;
        assert_eq!((answer.status, answer.json()), (200, json!({"duplicates": expected})), "{body}");
    }
    // Without agents, the comparison falls back to equal words.
    let mut body = review.lists(finding.clone(), json!([{"message": "The sum may wrap"}]));
    body["provider"] = json!("reviewer");
    assert_eq!(review.request("POST", ROUTE, &body).await.json(), json!({"duplicates": []}));
}

#[tokio::test]
async fn malformed_lists_are_refused() {
    let review = Review::new().await;
    let answer = review.request("POST", ROUTE, &review.lists(json!([null]), json!([]))).await;
    answer.assert_error(400, "findingsA and findingsB must contain only findings", "invalid_request");
    let missing = "repoPath, providerA, and providerB are required";
    for body in [Value::Null, json!({"repoPath": review.repo, "providerA": " ", "providerB": "x"})] {
        review.request("POST", ROUTE, &body).await.assert_error(400, missing, "missing_field");
    }
    let broken =
        review.fixture.internal("POST", "/api/gateway/reviewer/review-dedup/T-1").body("{").send().await;
    broken.assert_error(400, "Invalid or empty JSON body", "invalid_json_body");
    let mut outside = review.lists(json!([]), json!([]));
    outside["repoPath"] = json!("/etc");
    let refused = review.request("POST", ROUTE, &outside).await;
    refused.assert_error(403, "directory not allowed", "directory_not_allowed");
}
