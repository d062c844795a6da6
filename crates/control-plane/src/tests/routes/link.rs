use ed25519_dalek::SigningKey;
use sea_orm::prelude::*;
use sea_orm::sea_query::Expr;
use serde_json::json;
use uuid::Uuid;

use crate::accounts::insert_identity;
use crate::store::entity::api_key;
use crate::store::entity::user::Role;
use crate::store::{iso, now};
use crate::tests::desktop::{DesktopIdentity, hello};
use crate::tests::{LinkedDesktop, TestApp};

// CL-03
#[tokio::test]
async fn link_requires_an_api_key_with_write_scope() {
    let plane = TestApp::start().await;
    let address = plane.serve().await;
    for (scope, refusal) in [("read", Some(401)), ("write", None)] {
        // A key that was not claimed is not bound to a gateway, so any signing key is accepted.
        let key = plane.key_with(json!({"name": "x", "scopes": [scope]})).await;
        let api_key = key.header("authorization").strip_prefix("Bearer ").unwrap().to_owned();
        let signing = SigningKey::from_bytes(&rand::random());
        let identity = DesktopIdentity { gateway_id: Uuid::new_v4(), signing, api_key };
        assert_eq!(identity.upgrade(address, 0).await.err(), refusal, "{scope}");
    }
}

/// Connects a desktop that uses an API key created by its owner instead of a claimed one.
async fn desktop_with(plane: &TestApp, key: serde_json::Value) -> LinkedDesktop {
    let key = plane.key_with(key).await;
    let api_key = key.header("authorization").strip_prefix("Bearer ").unwrap().to_owned();
    let signing = SigningKey::from_bytes(&rand::random());
    let identity = DesktopIdentity { gateway_id: Uuid::new_v4(), signing, api_key };
    plane.desktop_as(identity).await
}

// CL-50
#[tokio::test]
async fn api_key_expiry_closes_the_connection() {
    let plane = TestApp::start().await;
    let expires_at = iso(now() + 1500);
    let mut desktop = desktop_with(&plane, json!({"name": "short", "expiresAt": expires_at})).await;
    assert_eq!(desktop.close_code().await, 4401);
    assert!(iso(now()) >= expires_at, "not closed before the expiry");
}

// CL-50
#[tokio::test]
async fn deactivated_member_is_disconnected() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    let second = insert_identity(plane.app.store.writer()).await.unwrap();
    let second = plane.join(plane.owner.organization_id, second, "cy@example.org", Role::Admin).await;
    let admin = plane.sign_in(second).await;
    let path = format!("/members/{}", plane.owner.user_id);
    assert_eq!(admin.patch(&path, json!({"active": false})).await.data("active"), false);
    assert_eq!(desktop.close_code().await, 4401);
}

// CL-50
#[tokio::test]
async fn revocation_by_another_instance_closes_the_connection() {
    let plane = TestApp::start().await;
    let mut desktop = plane.desktop().await;
    // Another instance of the control plane writes the row without notifying this one; the periodic check
    // finds it.
    let revoked = api_key::Entity::update_many().col_expr(api_key::Column::RevokedAt, Expr::value(now()));
    revoked.exec(plane.app.store.writer()).await.unwrap();
    assert_eq!(desktop.close_code().await, 4401);
}

// CL-04
#[tokio::test]
async fn stale_proof_is_rejected() {
    let plane = TestApp::start().await;
    let address = plane.serve().await;
    let identity = DesktopIdentity::claim(&plane).await;
    assert_eq!(identity.upgrade(address, -61).await.err(), Some(401));
    let desktop = LinkedDesktop::connect(identity, address).await;
    assert!(plane.app.desktops.is_connected(desktop.target_id));
}

#[tokio::test]
async fn machines_with_one_host_name_and_one_unbound_key_stay_connected() {
    let plane = TestApp::start().await;
    let address = plane.serve().await;
    let key = plane.key().await;
    let api_key = key.header("authorization").strip_prefix("Bearer ").unwrap().to_owned();
    let machine = || {
        let signing = SigningKey::from_bytes(&rand::random());
        DesktopIdentity { gateway_id: Uuid::new_v4(), signing, api_key: api_key.clone() }
    };
    let first = LinkedDesktop::connect(machine(), address).await;
    let second = LinkedDesktop::connect(machine(), address).await;
    assert_ne!(first.target_id, second.target_id);
    assert!(plane.app.desktops.is_connected(first.target_id));
    // Each finds its own row again, also with the target id of the other one.
    let mut hello = hello(first.identity.gateway_id);
    hello["computeTargetId"] = json!(second.target_id);
    let again = LinkedDesktop::connect_with(first.identity, address, &hello).await;
    assert_eq!(again.target_id, first.target_id);
    assert!(plane.app.desktops.is_connected(second.target_id));
}
