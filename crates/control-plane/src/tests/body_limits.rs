//! Size limits of request bodies, per route.

use serde_json::json;

use crate::router::{Access, all_routes};
use crate::tests::TestApp;

#[tokio::test]
async fn public_routes_reject_bodies_above_four_kib() {
    let plane = TestApp::start().await;
    let client = plane.anonymous();
    let public = all_routes().into_iter().filter(|(method, path, access)| {
        *method == "POST" && *access == Access::Public && !path.starts_with("/storage")
    });
    let mut tested = 0;
    for (method, path, _) in public {
        let reply = client.send(method, path, Some(json!({"pad": "x".repeat(5000)}).to_string())).await;
        // The onboarding answers every invalid request with its own code.
        let expected = if path == "/desktop/bootstrap/claim" { 400 } else { 413 };
        assert_eq!(reply.status, expected, "{path}: {}", reply.text);
        tested += 1;
    }
    assert!(tested >= 4);
}

#[tokio::test]
async fn description_of_a_desktop_is_small() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let path = "/compute-targets/register";
    let body = |size: usize| json!({"machineName": "bench", "platform": "linux", "supportedOperations": [], "capabilities": {"pad": "x".repeat(size)}});
    assert_eq!(owner.post(path, body(60_000)).await.status, 200);
    assert_eq!(owner.post(path, body(70_000)).await.refused(), (413, "Request body too large"));
    let (id, runner) = plane.running("MANUAL").await;
    let event = |values: usize| json!({"type": "output", "data": {"chunk": vec![0; values]}});
    let refused = runner.event(id, event(300_000)).await;
    assert_eq!(refused.failure(), (400, "Request body has too many JSON values", "too_many_values"));
}
