//! Health checks of servers on loopback addresses.

use std::error::Error;
use std::io;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::loopback::LoopbackUrl;

// Time limit of one HTTP request. Short, because checks repeat until one succeeds.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
// Time limit of one TCP connect; a loopback port accepts or refuses immediately unless its backlog is full.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(1);

/// The outcome of one HTTP health check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthCheck {
    /// The server responded with this HTTP status.
    Answered(u16),
    /// The server did not respond; contains the reason for the user.
    Unreachable(String),
}

/// Sends a `HEAD` request without following redirects or resolving host names. Certificates are not verified.
pub async fn check_health(url: &LoopbackUrl, limit: Duration) -> HealthCheck {
    match request(reqwest::Method::HEAD, url, limit).await {
        Ok(status) => HealthCheck::Answered(status),
        Err(failure) => HealthCheck::Unreachable(failure.reason),
    }
}

/// The reason why a request got no HTTP response.
struct RequestFailure {
    /// Whether the server refused the TLS handshake, for example because it requires a client certificate.
    is_tls_refusal: bool,
    reason: String,
}

/// Returns whether a port accepts TCP connections on the IPv4 or IPv6 loopback address.
pub async fn accepts_connections(port: u16) -> bool {
    let addresses = LoopbackUrl::of_port("tcp", port).map(|url| url.addresses());
    connect(&addresses.unwrap_or_default()).await
}

/// Checks that a server is up, and returns the HTTP status, if any. Any status counts, because development
/// servers may reject `HEAD` or have no page at `/`, and so does a refused TLS handshake.
///
/// # Errors
/// Returns the reason for the user when the server is not up.
pub(crate) async fn is_up(url: &LoopbackUrl) -> Result<Option<u16>, String> {
    // Connects first: the HTTP client reports a refused connection like other connect errors.
    if !connect(&url.addresses()).await {
        return Err(format!("nothing accepts connections on port {}", url.port()));
    }
    if url.is_tcp() {
        return Ok(None);
    }
    if let Ok(status) = request(reqwest::Method::HEAD, url, REQUEST_TIMEOUT).await {
        return Ok(Some(status));
    }
    // GET, because some servers do not respond to HEAD.
    match request(reqwest::Method::GET, url, REQUEST_TIMEOUT).await {
        Ok(status) => Ok(Some(status)),
        Err(failure) if failure.is_tls_refusal => Ok(None),
        Err(failure) => Err(failure.reason),
    }
}

async fn connect(addresses: &[std::net::SocketAddr]) -> bool {
    for address in addresses {
        if matches!(timeout(CONNECT_TIMEOUT, TcpStream::connect(address)).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}

async fn request(method: reqwest::Method, url: &LoopbackUrl, limit: Duration) -> Result<u16, RequestFailure> {
    let host = url.url().host_str().unwrap_or_default();
    let client = loopgate_http_client::builder()
        // A redirect could point to another host, and a proxy would resolve the name itself. The host may have
        // any name that resolves to a loopback address.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        // Development servers have certificates that no authority has signed. Only this machine can answer
        // on a loopback address.
        .tls_danger_accept_invalid_certs(true)
        .timeout(limit)
        .resolve_to_addrs(host, &url.addresses())
        .build();
    let response = match client {
        Ok(client) => client.request(method, url.url().clone()).send().await,
        Err(error) => Err(error),
    };
    match response {
        Ok(response) => Ok(response.status().as_u16()),
        Err(error) => {
            let tls = tls_error(&error);
            // A message that cannot be decoded is not TLS.
            let is_tls_refusal = tls.is_some_and(|tls| !matches!(tls, rustls::Error::InvalidMessage(_)));
            Err(RequestFailure { is_tls_refusal, reason: describe_error(&error, tls, url, limit) })
        }
    }
}

/// Returns the TLS error that is the cause of a failed request.
fn tls_error(error: &reqwest::Error) -> Option<&rustls::Error> {
    let mut cause: Option<&(dyn Error + 'static)> = Some(error);
    while let Some(error) = cause {
        // An I/O error is not the source of the error that it wraps.
        let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        let tls = wrapped.and_then(|inner| inner.downcast_ref()).or_else(|| error.downcast_ref());
        if tls.is_some() {
            return tls;
        }
        cause = error.source();
    }
    None
}

fn describe_error(
    error: &reqwest::Error,
    tls: Option<&rustls::Error>,
    url: &LoopbackUrl,
    limit: Duration,
) -> String {
    let port = url.port();
    if let Some(rustls::Error::InvalidMessage(_)) = tls {
        format!("the server on port {port} does not speak {}", url.url().scheme())
    } else if let Some(tls) = tls {
        format!("the server on port {port} refused the TLS handshake ({tls})")
    } else if error.is_timeout() {
        format!("the server on port {port} did not respond within {} s", limit.as_secs())
    } else if error.is_connect() {
        format!("nothing accepts connections on port {port}")
    } else {
        format!("the server on port {port} does not speak {}", url.url().scheme())
    }
}
