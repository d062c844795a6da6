use serde_json::json;

use super::documents::feature;
use crate::tests::TestApp;

#[tokio::test]
async fn preference_defaults_to_an_online_desktop_until_set() {
    let plane = TestApp::start().await;
    let owner = plane.owner().await;
    let path = "/settings/compute-preference";
    assert_eq!(
        owner.get(path).await.json["data"],
        json!({"preferredComputeMode": "CLOUD", "isExplicit": false})
    );
    let desktop = plane.desktop().await;
    assert_eq!(
        owner.get(path).await.json["data"],
        json!({"preferredComputeMode": "LOCAL", "isExplicit": false})
    );

    let preference =
        json!({"mode": "LOCAL", "computeTargetId": desktop.target_id, "selectedHarness": "reviewer"});
    let set = owner.put(path, preference).await;
    let expected = json!({"preferredComputeMode": "LOCAL", "isExplicit": true,
        "computeTargetId": desktop.target_id, "selectedHarness": "reviewer"});
    assert_eq!(set.json["data"], expected);
    assert_eq!(owner.get("/compute-targets").await.json["data"][0]["selectedHarness"], "reviewer");
    let ben = plane.member("ben@example.org").await;
    let foreign = ben.put(path, json!({"mode": "LOCAL", "computeTargetId": desktop.target_id})).await;
    assert_eq!(foreign.refused(), (404, "Compute target not found"));

    owner.put(path, json!({"mode": "CLOUD"})).await;
    feature(&owner).await;
    let refused = owner.post("/documents/feature-1/run-loop", json!({"command": "plan"})).await;
    assert_eq!(refused.status, 400);
    assert_eq!(
        refused.json["details"]["category"], "compute_target_unavailable",
        "this control plane has no cloud targets"
    );
    assert_eq!(owner.put(path, json!({"mode": "MOON"})).await.status, 400);
}
