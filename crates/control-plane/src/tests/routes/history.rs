//! The history of a change request.

use serde_json::{Value, json};

use super::documents::{feature, launched, plan};
use crate::tests::TestApp;

/// Returns kind and user of each entry, oldest first.
fn entries(history: &Value) -> Vec<(String, Option<String>)> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let entry = |entry: &Value| (text(&entry["kind"]).unwrap(), text(&entry["user"]["email"]));
    history.as_array().unwrap().iter().rev().map(entry).collect()
}

#[tokio::test]
async fn history_names_what_happened_and_who_did_it() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let (owner, member) = (plane.owner().await, plane.member("ben@example.org").await);
    let email = owner.get("/me").await.data("email").as_str().unwrap().to_owned();
    feature(&owner).await;
    plan(&plane, &mut desktop, "feature-1").await;
    let execute = json!({"command": "execute", "prompt": "Keep the old address"});
    owner.post("/documents/plan-1/run-loop", execute).await;
    let (_, id, runner) = launched(&plane, &mut desktop).await;
    let approval =
        json!({"id": "7f", "command": "loopgate approve 7f", "waitsUntil": "2026-05-11T08:30:00Z"});
    // The desktop repeats the request while the loop waits.
    for _ in 0..2 {
        runner.event(id, json!({"type": "output", "chunk": "Policy: ask", "approval": approval})).await;
    }
    let decision = json!({"id": "7f", "outcome": "approved"});
    runner.event(id, json!({"type": "output", "chunk": "Approved", "approvalDecision": decision})).await;
    runner.event(id, json!({"type": "started"})).await;
    member.post(&format!("/loops/{id}/cancel"), json!({})).await;
    member.patch("/change-requests/feature-1", json!({"archived": true})).await;

    let history = owner.get("/change-requests/plan-1/history").await;
    assert_eq!(history.status, 200, "{}", history.text);
    let all = &history.json["data"];
    let found = entries(all);
    let (owner_did, ben_did) = (
        |kind: &str| (kind.to_owned(), Some(email.clone())),
        |kind: &str| (kind.to_owned(), Some("ben@example.org".to_owned())),
    );
    for expected in [
        owner_did("version"),
        owner_did("loop_started"),
        ("loop_ended".to_owned(), None),
        ("approval_requested".to_owned(), None),
        owner_did("approval_decided"),
        ben_did("loop_cancelled"),
        ben_did("archived"),
    ] {
        assert!(found.contains(&expected), "{expected:?} in {found:?}");
    }
    let of =
        |kind: &str| all.as_array().unwrap().iter().filter(|entry| entry["kind"] == kind).collect::<Vec<_>>();
    assert_eq!(of("approval_requested").len(), 1);
    assert_eq!(of("approval_requested")[0]["message"], "Policy: ask");
    assert_eq!(of("approval_decided")[0]["outcome"], "approved");
    assert_eq!(of("loop_started")[0]["message"], "Keep the old address");
    assert_eq!(of("loop_started").len(), 2);
    let plans: Vec<&Value> = of("version").into_iter().map(|entry| &entry["document"]["slug"]).collect();
    assert_eq!(plans, ["plan-1", "feature-1"]);
    let times: Vec<&str> =
        all.as_array().unwrap().iter().map(|entry| entry["at"].as_str().unwrap()).collect();
    assert!(times.is_sorted_by(|one, next| one >= next), "{times:?}");

    let stranger = plane.stranger().await;
    let missing = (404, "Change request not found");
    assert_eq!(stranger.get("/change-requests/feature-1/history").await.refused(), missing);
}
