//! Findings of a review and their state.

use serde_json::{Value, json};

use super::Review;
use crate::tests::test_gateway::TestResponse;

const ROUTE: &str = "review-findings/T-1";

impl Review {
    async fn findings(&self) -> Value {
        let answer = self.request("GET", ROUTE, &Value::Null).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
        answer.json()
    }

    async fn store(&self, body: Value) -> TestResponse {
        self.request("POST", ROUTE, &body).await
    }
}

// RC-26, RC-54
#[tokio::test]
async fn findings_are_stored_and_read_back() {
    let review = Review::new().await;
    assert_eq!(review.findings().await, json!({"findings": []}));
    let findings = json!([
        {"severity": "high", "priority": "P1", "file": "src/a.rs", "line": "14", "message": "Title\nDetails",
            "suggestion": "use checked_add", "humanizedBody": "Please check.", "ownMember": [1]},
        {"line": null, "commented": 0},
    ]);
    let answer = review.store(json!({"findings": findings, "model": "m-1"})).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"success": true, "count": 2})));
    let expected = json!({"provider": "reviewer", "model": "m-1", "findings": [
        {"severity": "high", "priority": "P1", "file": "src/a.rs", "line": 14, "message": "Title\nDetails",
            "suggestion": "use checked_add", "commented": false, "humanizedBody": "Please check.", "ownMember": [1]},
        {"severity": "info", "message": "", "commented": false},
    ]});
    assert_eq!(review.findings().await, expected);
    assert_eq!(review.stored("review-findings-reviewer.json"), expected);
    // Findings are stored per provider.
    let route = format!("{ROUTE}?provider=assistant");
    let body = json!({"findings": [{"message": "x"}]});
    assert_eq!(review.request("POST", &route, &body).await.status, 200);
    let stored = review.stored("review-findings-assistant.json");
    assert_eq!((&stored["provider"], &stored["model"]), (&json!("assistant"), &json!("unknown")));
    assert_eq!(review.findings().await, expected);
}

// RC-27
#[tokio::test]
async fn finding_is_marked_as_posted() {
    let review = Review::new().await;
    let missing = review.store(json!({"commentedIndex": 0})).await;
    missing.assert_error(404, "No findings file found", "not_found");
    review.store(json!({"findings": [{"message": "a"}, {"message": "b"}]})).await;
    let answer = review.store(json!({"commentedIndex": 1})).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"success": true})));
    let findings = review.findings().await;
    let commented: Vec<&Value> =
        findings["findings"].as_array().unwrap().iter().map(|finding| &finding["commented"]).collect();
    assert_eq!(commented, [false, true]);
    for index in [json!(9), json!(-1), json!(0.5)] {
        let refused = review.store(json!({"commentedIndex": index})).await;
        refused.assert_error(400, "Index out of range", "invalid_request");
    }
    review.write(".loopgate/work/review-findings-reviewer.json", r#"{"provider":"reviewer","own":1}"#);
    let refused = review.store(json!({"commentedIndex": 0})).await;
    refused.assert_error(400, "Index out of range", "invalid_request");
    assert_eq!(review.findings().await["own"], 1);
}

#[tokio::test]
async fn finding_is_declined_and_restored() {
    let review = Review::new().await;
    review.store(json!({"findings": [{"message": "a"}, {"message": "b"}]})).await;
    let decide = async |members: Value| {
        let mut body = json!({"declinedIndex": 1, "message": "b"});
        body.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
        review.store(body).await
    };
    assert_eq!(decide(json!({"declineReason": "not ours"})).await.json(), json!({"success": true}));
    let second = async || review.findings().await["findings"][1].clone();
    let declined = second().await;
    assert_eq!((&declined["declined"], &declined["declineReason"]), (&json!(true), &json!("not ours")));
    assert!(review.findings().await["findings"][0].get("declined").is_none());
    // The reason of a decision on one finding does not decline the change.
    assert!(review.findings().await.get("declined").is_none());

    let refused = decide(json!({"declinedIndex": 0})).await;
    refused.assert_error(409, "The findings have changed", "conflict");
    decide(json!({"declinedIndex": 2})).await.assert_error(400, "Index out of range", "invalid_request");
    assert_eq!(second().await, declined);

    assert_eq!(decide(json!({"declined": false})).await.status, 200);
    let restored = second().await;
    assert!(restored.get("declined").is_none() && restored.get("declineReason").is_none(), "{restored}");
}

// RC-28
#[tokio::test]
async fn declined_change_is_reset_by_new_findings() {
    let review = Review::new().await;
    let decline = json!({"declined": true, "declineReason": "duplicate of #12"});
    review.store(decline.clone()).await.assert_error(404, "No findings file found", "not_found");
    review.store(json!({"findings": []})).await;
    let answer = review.store(decline).await;
    assert_eq!((answer.status, answer.json()), (200, json!({"success": true})));
    let findings = review.findings().await;
    assert_eq!(
        (&findings["declined"], &findings["declineReason"]),
        (&json!(true), &json!("duplicate of #12"))
    );
    for body in [
        json!({"declined": true, "declineReason": " "}),
        json!({"declined": 1, "declineReason": "x"}),
        json!({"findings": {}}),
        json!({"findings": [null]}),
        json!({}),
    ] {
        review.store(body).await.assert_error(400, "Invalid request body", "invalid_request");
    }
    review.store(json!({"findings": []})).await;
    assert!(review.findings().await.get("declined").is_none());
}

// RC-25
#[tokio::test]
async fn provider_parameter_cannot_name_other_files() {
    let review = Review::new().await;
    review.write(".loopgate/x.json", r#"{"findings":[{"message":"private"}]}"#);
    for provider in ["../../x", "..%2F..%2Fx", "other"] {
        let route = format!("{ROUTE}?provider={provider}");
        for (method, body) in [("GET", Value::Null), ("POST", json!({"findings": []}))] {
            let refused = review.request(method, &route, &body).await;
            refused.assert_error(400, "unsupported provider", "invalid_request");
        }
    }
    assert!(!review.worktree.join(".loopgate/work").exists());
    let outside = format!("/api/gateway/reviewer/{ROUTE}?repo=/etc");
    let refused = review.fixture.internal("GET", &outside).send().await;
    refused.assert_error(403, "directory not allowed", "directory_not_allowed");
    let bare = review.fixture.internal("GET", &format!("/api/gateway/reviewer/{ROUTE}")).send().await;
    bare.assert_error(400, "ticketId and repo are required", "missing_field");
}

#[tokio::test]
async fn findings_follow_moved_lines() {
    let review = Review::new().await;
    review.write("src/a.rs", "fn a() {\n    one();\n    two();\n}\n");
    let absolute = review.worktree.canonicalize().unwrap().join("src/a.rs");
    let secret = review.fixture.sandbox().join("secret");
    std::fs::write(&secret, "one\ntwo\n").unwrap();
    std::os::unix::fs::symlink(&secret, review.worktree.join("link")).unwrap();
    let finding = |file: &str| json!({"file": file, "line": 2});
    let findings = [
        finding("src/a.rs"),
        finding(absolute.to_str().unwrap()),
        finding("../../secret"),
        finding(secret.to_str().unwrap()),
        finding("link"),
        finding("absent.rs"),
    ];
    review.store(json!({"findings": findings})).await;
    let stored = review.findings().await;
    let anchor = json!({"line": 2, "before": ["fn a() {"], "text": "one();", "after": ["two();", "}"]});
    assert_eq!((&stored["findings"][0]["anchor"], &stored["findings"][1]["anchor"]), (&anchor, &anchor));
    // The other four are outside of the worktree, behind a symlink, or missing.
    for unread in 2..6 {
        assert_eq!(stored["findings"][unread].get("anchor"), None, "{stored}");
    }

    let lines = async || {
        let findings = review.findings().await["findings"].clone();
        [0, 1].map(|index| (findings[index]["line"].clone(), findings[index].get("outdated").cloned()))
    };
    let at = |line: u64| (json!(line), None);
    review.write("src/a.rs", "use b;\n\nfn a() {\n    one();\n    two();\n}\n");
    assert_eq!(lines().await, [at(4), at(4)]);
    let outdated = || (json!(2), Some(json!(true)));
    review.write("src/a.rs", "fn a() {\n    two();\n}\n");
    assert_eq!(lines().await, [outdated(), outdated()]);
    std::fs::remove_file(review.worktree.join("src/a.rs")).unwrap();
    assert_eq!(lines().await, [outdated(), outdated()]);
    // A client that stores what it read keeps the anchors, also of outdated findings.
    let stored = review.findings().await;
    review.write("src/a.rs", "fn b() {}\nfn c() {}\n");
    review.store(json!({"findings": stored["findings"]})).await;
    assert_eq!(lines().await, [outdated(), outdated()]);
    review.write("src/a.rs", "fn a() {\n    one();\n    two();\n}\n");
    assert_eq!(lines().await, [at(2), at(2)]);
    assert_eq!(review.stored("review-findings-reviewer.json")["findings"][0].get("outdated"), None);
}
