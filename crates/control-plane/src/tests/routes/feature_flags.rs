use serde_json::json;

use crate::tests::TestApp;

#[tokio::test]
async fn administrator_sets_a_flag_for_the_organization() {
    let plane = TestApp::start().await;
    let member = plane.member("ben@example.org").await;
    assert_eq!(member.get("/feature-flags").await.data("flags"), &json!({"mermaid-enhancements": false}));
    let path = "/feature-flags/mermaid-enhancements";
    let on = Some(json!({"enabled": true}).to_string());
    assert_eq!(member.send("PUT", path, on.clone()).await.refused(), (403, "Forbidden"));
    assert_eq!(plane.owner().await.send("PUT", path, on.clone()).await.status, 200);
    assert_eq!(member.get("/feature-flags").await.data("flags"), &json!({"mermaid-enhancements": true}));
    let unknown = plane.owner().await.send("PUT", "/feature-flags/unknown", on).await;
    assert_eq!(unknown.status, 404);
}
