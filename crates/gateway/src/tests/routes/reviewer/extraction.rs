//! Extraction of findings from the log of a review.

use serde_json::{Value, json};

use super::Review;

const ROUTE: &str = "review-extract/T-1";

impl Review {
    fn write_log(&self, provider: &str, text: &str) {
        self.write(&format!(".loopgate/work/reviewer-review-{provider}.log"), text);
    }

    async fn extract(&self, provider: Value) -> Value {
        let body = json!({"repoPath": self.repo, "sessionId": "s-1", "provider": provider});
        let answer = self.request("POST", ROUTE, &body).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()["findings"].clone()
    }
}

// RC-30
#[tokio::test]
async fn findings_are_read_from_a_log() {
    let review = Review::new().await;
    assert_eq!(review.extract(Value::Null).await, json!([]));
    let array = json!([{"severity": "High", "file": "src/a.rs", "line": "12", "title": "Overflow",
        "description": "Large carts wrap.", "suggestion": null}]);
    let text = |content: String| json!({"type": "text", "content": content}).to_string();
    let log = [
        text("Found:\n```json\n".to_owned()),
        text(format!("{array:#}\n```\n")),
        json!({"type": "done"}).to_string(),
    ];
    review.write_log("assistant", &log.join("\n"));
    let expected = json!([{"severity": "high", "priority": "P1", "file": "src/a.rs", "line": 12,
        "message": "Overflow\nLarge carts wrap.", "commented": false}]);
    assert_eq!(review.extract(Value::Null).await, expected);

    let file = review.worktree.canonicalize().unwrap().join("src/b.rs");
    let comments = format!("Full review comments:\n\n- [P2] Unused — {}:3-4\n  Remove it.\n", file.display());
    review.write_log("reviewer", &comments);
    let own = json!([{"severity": "medium", "priority": "P2", "file": "src/b.rs", "line": 3,
        "message": "Unused\nRemove it.", "commented": false}]);
    assert_eq!(review.extract(json!("reviewer")).await, own);
    assert_eq!(review.extract(json!("../x")).await, expected, "an unknown provider counts as absent");
    review.write_log("assistant", " \n");
    assert_eq!(review.extract(json!("assistant")).await, own, "a blank log counts as missing");
    review.write_log("reviewer", "No findings.");
    assert_eq!(review.extract(json!("reviewer")).await, json!([]));
}

#[tokio::test]
async fn incomplete_requests_are_refused() {
    let review = Review::new().await;
    for body in [Value::Null, json!({"repoPath": review.repo}), json!({"sessionId": "s-1"})] {
        let refused = review.request("POST", ROUTE, &body).await;
        refused.assert_error(400, "repoPath and sessionId are required", "missing_field");
    }
    let outside = review.request("POST", ROUTE, &json!({"repoPath": "/etc", "sessionId": "s-1"})).await;
    outside.assert_error(403, "directory not allowed", "directory_not_allowed");
    let broken =
        review.fixture.internal("POST", "/api/gateway/reviewer/review-extract/T-1").body("[").send().await;
    broken.assert_error(400, "Invalid or empty JSON body", "invalid_json_body");
}
