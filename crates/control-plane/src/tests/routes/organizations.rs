use serde_json::json;

use crate::store::entity::user::Role;
use crate::tests::TestApp;

// CP-46
#[tokio::test]
async fn session_switches_organization() {
    let plane = TestApp::start().await;
    let second = plane.organization("second").await;
    plane.organization("foreign").await;
    let ada = plane.identity(plane.owner.user_id).await;
    plane.join(second, ada, "ada@second.example.org", Role::Member).await;
    let owner = plane.owner().await;
    let listed = owner.get("/organizations").await;
    let slugs: Vec<_> =
        listed.json["data"].as_array().unwrap().iter().map(|own| own["slug"].clone()).collect();
    assert_eq!(slugs, ["home", "second"]);
    assert_eq!(listed.json["data"][1]["role"], "org:member");

    let selected = owner.put("/auth/organization", json!({"slug": "second"})).await;
    assert_eq!(selected.data("email"), "ada@second.example.org");
    assert_eq!(owner.get("/me").await.json["data"]["organization"]["slug"], "second");
    assert_eq!(owner.get("/loops/usage").await.status, 403, "the role in the second organization is member");
    assert_eq!(owner.with_header("x-org-slug", "home").get("/loops/usage").await.status, 200);
    for slug in ["foreign", "nowhere"] {
        let refused = owner.put("/auth/organization", json!({"slug": slug})).await;
        assert_eq!(refused.refused(), (403, "Forbidden"));
    }
}
