//! Opens the WebSocket: URL, credentials of the upgrade request, TLS.

use std::sync::Arc;

use http::header::{AUTHORIZATION, DATE, SEC_WEBSOCKET_PROTOCOL};
use http::{HeaderMap, HeaderValue, StatusCode};
use jiff::Timestamp;
use loopgate_api::link::{KEY_VERIFICATION_PATH, LINK_PATH, MAX_MESSAGE_BYTES, SUBPROTOCOL};
use loopgate_home::{ApiKey, Credentials, InvalidOrigin, normalize_origin};
use rustls_platform_verifier::BuilderVerifierExt as _;
use secrecy::ExposeSecret as _;
use thiserror::Error;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite;
use tokio_tungstenite::tungstenite::client::IntoClientRequest as _;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::{Connector, MaybeTlsStream, WebSocketStream, connect_async_tls_with_config};

/// Largest message that is read; see `MAX_READ_BYTES` of the server's end.
const MAX_READ_BYTES: usize = 2 * MAX_MESSAGE_BYTES;

/// Clock difference in seconds above which the control plane rejects a proof of possession.
const CLOCK_WINDOW: u64 = 60;

pub(super) type Socket = WebSocketStream<MaybeTlsStream<TcpStream>>;

/// Error of opening the WebSocket.
#[derive(Debug, Error)]
pub(super) enum DialError {
    /// The server rejected the key.
    #[error("the server responded with {0}")]
    Unauthorized(StatusCode),
    /// The server rejected the key, and its clock differs by so many seconds that it rejects every proof of
    /// possession. Positive when this machine is ahead.
    #[error(
        "the clock of this machine is {} s {} the control plane's; correct it, for example with NTP",
        .0.unsigned_abs(),
        if *.0 > 0 { "ahead of" } else { "behind" }
    )]
    ClockSkew(i64),
    /// Any other failure, with its message.
    #[error("{0}")]
    Failed(String),
}

/// Returns the WebSocket URL of a relay origin.
pub(super) fn link_url(relay_origin: &str) -> Result<String, InvalidOrigin> {
    let origin = normalize_origin(relay_origin, "Relay origin")?;
    // `http` becomes `ws`, `https` becomes `wss`.
    Ok(format!("{}{LINK_PATH}", origin.replacen("http", "ws", 1)))
}

/// Opens the WebSocket. Each call signs a new proof of possession, because proofs expire.
pub(super) async fn dial(url: &str, key: &ApiKey, credentials: &Credentials) -> Result<Socket, DialError> {
    let failed = |error: &dyn std::fmt::Display| DialError::Failed(error.to_string());
    let mut request = url.into_client_request().map_err(|error| failed(&error))?;
    let headers = request.headers_mut();
    let mut bearer = HeaderValue::from_str(&format!("Bearer {}", key.secret.expose_secret()))
        .map_err(|_| failed(&"the API key contains characters that are not allowed in an HTTP header"))?;
    // Hides the key in `Debug` output of the request.
    bearer.set_sensitive(true);
    headers.insert(AUTHORIZATION, bearer);
    headers.insert(SEC_WEBSOCKET_PROTOCOL, HeaderValue::from_static(SUBPROTOCOL));
    for (name, value) in credentials.pop_headers("POST", KEY_VERIFICATION_PATH).into_iter().flatten() {
        headers.insert(name, HeaderValue::from_str(&value).map_err(|error| failed(&error))?);
    }
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(MAX_READ_BYTES);
    config.max_frame_size = Some(MAX_READ_BYTES);
    let tls = if url.starts_with("wss:") {
        Some(tls().map_err(|error| failed(&format_args!("{error}; install the package ca-certificates")))?)
    } else {
        None
    };
    match connect_async_tls_with_config(request, Some(config), true, tls).await {
        Ok((socket, _)) => Ok(socket),
        Err(tungstenite::Error::Http(response))
            if matches!(response.status(), StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) =>
        {
            match clock_difference(response.headers(), Timestamp::now()) {
                Some(seconds) if seconds.unsigned_abs() > CLOCK_WINDOW => Err(DialError::ClockSkew(seconds)),
                _ => Err(DialError::Unauthorized(response.status())),
            }
        }
        Err(error) => Err(failed(&error)),
    }
}

/// Returns by how many seconds this machine's clock is ahead of the server's, which is in the `Date` header.
fn clock_difference(headers: &HeaderMap, now: Timestamp) -> Option<i64> {
    let date = headers.get(DATE)?.to_str().ok()?;
    let date = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
    Some(now.as_second() - date.as_second())
}

/// Creates a TLS connector that verifies against the platform's root certificates. The crypto provider is
/// passed explicitly, because rustls has no process default when several providers are compiled in.
fn tls() -> Result<Connector, rustls::Error> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_platform_verifier()?
        .with_no_client_auth();
    Ok(Connector::Rustls(Arc::new(config)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_http_is_allowed_for_loopback_only() {
        assert_eq!(link_url("http://127.0.0.1:19440").unwrap(), "ws://127.0.0.1:19440/desktop-gateway");
        assert_eq!(
            link_url("https://relay.example.test/x").unwrap(),
            "wss://relay.example.test/desktop-gateway"
        );
        assert_eq!(link_url("").unwrap_err().to_string(), "Relay origin is required");
        assert!(link_url("http://relay.example.test").is_err());
    }

    #[test]
    fn clock_difference_is_that_to_the_date_header() {
        let mut headers = HeaderMap::new();
        let now = "2026-05-11T08:32:05Z".parse().unwrap();
        assert_eq!(clock_difference(&headers, now), None);
        headers.insert(DATE, HeaderValue::from_static("Mon, 11 May 2026 08:30:00 GMT"));
        assert_eq!(clock_difference(&headers, now), Some(125));
        let text = |seconds| DialError::ClockSkew(seconds).to_string();
        assert!(text(125).starts_with("the clock of this machine is 125 s ahead of the control plane's"));
        assert!(text(-125).starts_with("the clock of this machine is 125 s behind the control plane's"));
    }

    #[test]
    fn tls_needs_no_default_provider() {
        assert!(tls().is_ok());
    }
}
