//! WebSocket endpoint of the link.

use axum::extract::{Request, State};
use axum::response::{IntoResponse, Response};
use loopgate_api::link::KEY_VERIFICATION_PATH;
use loopgate_api::names::API_KEY_PREFIX;
use loopgate_link::server::{Identity, UpgradeError, accept, admit};
use secrecy::ExposeSecret;
use std::sync::Arc;

use crate::app::ControlPlaneState;
use crate::auth::{Caller, verify_key};
use crate::bus::Topic;
use crate::credentials::api_key::{self, Scope};

/// Upgrades the connection of a desktop. The proof of possession is signed for `KEY_VERIFICATION_PATH`, not
/// for the path of the WebSocket.
pub async fn connect(State(app): State<ControlPlaneState>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let admitted = admit(&mut parts, |origin| app.origins.trusts(origin)).await;
    let (upgrade, key) = match admitted {
        Ok(admitted) => admitted,
        Err(refusal) => return refusal.into_response(),
    };
    if !key.expose_secret().starts_with(API_KEY_PREFIX) {
        return UpgradeError::Unauthorized.into_response();
    }
    let verified = verify_key(&app, key.expose_secret(), &parts, "POST", KEY_VERIFICATION_PATH).await;
    match verified {
        Ok(Caller { user, organization, key: Some(key), .. }) if api_key::has_scope(&key, Scope::Write) => {
            let has_expiry = key.expires_at.is_some();
            let identity = Identity { user_id: user.id, organization_id: organization.id, key_id: key.id };
            if has_expiry {
                // Wakes the task that closes connections with expired keys, so that it takes this expiry into
                // account.
                app.bus.publish(Topic::Credentials);
            }
            accept(upgrade, Arc::clone(&app.desktops), identity)
        }
        Err(error) if error.is_internal() => UpgradeError::ControlPlaneUnavailable.into_response(),
        _ => UpgradeError::Unauthorized.into_response(),
    }
}
