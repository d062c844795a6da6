use ed25519_dalek::SigningKey;
use serde_json::json;
use uuid::Uuid;

use crate::tests::desktop::DesktopIdentity;
use crate::tests::{LinkedDesktop, TestApp};

// CL-03
#[tokio::test]
async fn only_a_key_that_may_write_connects_a_desktop() {
    let plane = TestApp::start().await;
    let address = plane.serve().await;
    for (scope, refusal) in [("read", Some(401)), ("write", None)] {
        let key = plane.key_with(json!({"name": "x", "scopes": [scope]})).await;
        let api_key = key.header("authorization").strip_prefix("Bearer ").unwrap().to_owned();
        let signing = SigningKey::from_bytes(&rand::random());
        let identity = DesktopIdentity { gateway_id: Uuid::new_v4(), signing, api_key };
        assert_eq!(identity.upgrade(address, 0).await.err(), refusal, "{scope}");
    }
}

// CL-04
#[tokio::test]
async fn an_old_proof_connects_no_desktop_and_a_fresh_one_does() {
    let plane = TestApp::start().await;
    let address = plane.serve().await;
    let identity = DesktopIdentity::claim(&plane).await;
    assert_eq!(identity.upgrade(address, -61).await.err(), Some(401));
    let desktop = LinkedDesktop::connect(identity, address).await;
    assert!(plane.app.desktops.is_connected(desktop.target_id));
}
