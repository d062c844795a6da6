//! Checks of the upgrade request, and the upgrade to a WebSocket.

use std::sync::Arc;

use axum::Json;
use axum::extract::FromRequestParts as _;
use axum::extract::ws::WebSocketUpgrade;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, ORIGIN};
use http::request::Parts;
use http::{HeaderMap, StatusCode};
use loopgate_api::link::{MAX_MESSAGE_BYTES, SUBPROTOCOL};
use secrecy::SecretString;
use serde_json::json;
use thiserror::Error;

use super::connection;
use super::host::{Host, Identity};
use super::registry::ConnectionRegistry;

/// Largest message that is read. Twice the protocol's limit, so that a message slightly above the limit is
/// read to its end and answered with a close code instead of a connection reset.
pub(super) const MAX_READ_BYTES: usize = 2 * MAX_MESSAGE_BYTES;

/// Buffer for reading from a socket, in bytes. tungstenite's default of 128 KiB, allocated and initialized for
/// each connection, would be most of the memory of a desktop, whose frames are mostly far below 4 KiB. Larger
/// frames are read in several steps.
const READ_BUFFER: usize = 4 * 1024;
/// Frames that are sent together are collected up to this size, in bytes. The buffer keeps its largest size.
const WRITE_BUFFER: usize = 4 * 1024;

/// Reason for which an upgrade is refused. The message is sent to the caller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum UpgradeError {
    /// The request is not a WebSocket upgrade.
    #[error("Upgrade required")]
    NotAnUpgrade,
    /// The client does not offer the subprotocol.
    #[error("Subprotocol loopgate.v1 required")]
    SubprotocolMissing,
    /// The `Origin` header is present and not trusted.
    #[error("Forbidden")]
    UntrustedOrigin,
    /// The key is missing, invalid, expired or revoked, lacks the scope `write`, belongs to a deactivated
    /// user, or the proof of possession is not valid.
    #[error("Unauthorized")]
    Unauthorized,
    /// Keys cannot be verified at present.
    #[error("Control plane unavailable")]
    ControlPlaneUnavailable,
}

impl UpgradeError {
    /// HTTP status of the response.
    #[must_use]
    pub const fn status(self) -> StatusCode {
        match self {
            Self::NotAnUpgrade => StatusCode::UPGRADE_REQUIRED,
            Self::SubprotocolMissing => StatusCode::BAD_REQUEST,
            Self::UntrustedOrigin => StatusCode::FORBIDDEN,
            Self::Unauthorized => StatusCode::UNAUTHORIZED,
            Self::ControlPlaneUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    const fn code(self) -> &'static str {
        match self {
            Self::NotAnUpgrade => "upgrade_required",
            Self::SubprotocolMissing => "subprotocol_required",
            Self::UntrustedOrigin => "forbidden",
            Self::Unauthorized => "unauthorized",
            Self::ControlPlaneUnavailable => "unavailable",
        }
    }
}

impl IntoResponse for UpgradeError {
    fn into_response(self) -> Response {
        let body = json!({"success": false, "error": self.to_string(), "code": self.code()});
        (self.status(), Json(body)).into_response()
    }
}

/// Checks an upgrade request and extracts its key. The caller verifies the key (scope `write`, and the proof
/// of possession in the request's headers for `POST` and [`loopgate_api::link::KEY_VERIFICATION_PATH`]) and
/// then calls [`accept`].
///
/// # Errors
/// Fails with the first [`UpgradeError`] that applies.
pub async fn admit(
    parts: &mut Parts,
    origin_trusted: impl Fn(&str) -> bool,
) -> Result<(WebSocketUpgrade, SecretString), UpgradeError> {
    let upgrade =
        WebSocketUpgrade::from_request_parts(parts, &()).await.map_err(|_| UpgradeError::NotAnUpgrade)?;
    let upgrade = upgrade
        .protocols([SUBPROTOCOL])
        .read_buffer_size(READ_BUFFER)
        .write_buffer_size(WRITE_BUFFER)
        .max_message_size(MAX_READ_BYTES)
        .max_frame_size(MAX_READ_BYTES);
    if upgrade.selected_protocol().is_none() {
        return Err(UpgradeError::SubprotocolMissing);
    }
    // Desktops send no `Origin` header. Browsers do, and must not open a link from a foreign page.
    if let Some(origin) = parts.headers.get(ORIGIN) {
        let trusted = origin.to_str().is_ok_and(origin_trusted);
        if !trusted {
            return Err(UpgradeError::UntrustedOrigin);
        }
    }
    let key = bearer(&parts.headers).ok_or(UpgradeError::Unauthorized)?;
    Ok((upgrade, key))
}

fn bearer(headers: &HeaderMap) -> Option<SecretString> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, key) = value.split_once(' ')?;
    let key = key.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !key.is_empty()).then(|| SecretString::from(key))
}

/// Completes an admitted upgrade and serves the connection until it ends.
pub fn accept<H: Host>(
    upgrade: WebSocketUpgrade,
    registry: Arc<ConnectionRegistry<H>>,
    identity: Identity,
) -> Response {
    upgrade.on_upgrade(move |socket| async move { connection::serve(&registry, socket, identity).await })
}
