//! Health checks of servers on loopback addresses.

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

/// Sends a `HEAD` request without following redirects or resolving host names.
pub async fn check_health(url: &LoopbackUrl, limit: Duration) -> HealthCheck {
    request(reqwest::Method::HEAD, url, limit).await
}

/// Returns whether a port accepts TCP connections on the IPv4 or IPv6 loopback address.
pub async fn accepts_connections(port: u16) -> bool {
    let addresses = LoopbackUrl::parse(&format!("tcp://localhost:{port}")).map(|url| url.addresses());
    connect(&addresses.unwrap_or_default()).await
}

/// Checks that a server is up. Any HTTP status counts, because development servers may reject `HEAD` or have
/// no page at `/`.
///
/// # Errors
/// Returns the reason for the user when the server is not up.
pub(crate) async fn is_up(url: &LoopbackUrl) -> Result<(), String> {
    // Connects first: the HTTP client reports a refused connection like other connect errors.
    if !connect(&url.addresses()).await {
        return Err(format!("nothing accepts connections on port {}", url.port()));
    }
    if url.is_tcp() || matches!(check_health(url, REQUEST_TIMEOUT).await, HealthCheck::Answered(_)) {
        return Ok(());
    }
    // GET, because some servers do not respond to HEAD.
    match request(reqwest::Method::GET, url, REQUEST_TIMEOUT).await {
        HealthCheck::Answered(_) => Ok(()),
        HealthCheck::Unreachable(reason) => Err(reason),
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

async fn request(method: reqwest::Method, url: &LoopbackUrl, limit: Duration) -> HealthCheck {
    let host = url.url().host_str().unwrap_or_default();
    let client = loopgate_http_client::builder()
        // A redirect could point to another host, and a proxy would resolve the name itself. The host may have
        // any name that resolves to a loopback address.
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(limit)
        .resolve_to_addrs(host, &url.addresses())
        .build();
    let response = match client {
        Ok(client) => client.request(method, url.url().clone()).send().await,
        Err(error) => Err(error),
    };
    match response {
        Ok(response) => HealthCheck::Answered(response.status().as_u16()),
        Err(error) => HealthCheck::Unreachable(describe_error(&error, url, limit)),
    }
}

fn describe_error(error: &reqwest::Error, url: &LoopbackUrl, limit: Duration) -> String {
    let port = url.port();
    if error.is_timeout() {
        format!("the server on port {port} did not respond within {} s", limit.as_secs())
    } else if error.is_connect() {
        format!("nothing accepts connections on port {port}")
    } else {
        format!("the server on port {port} does not speak {}", url.url().scheme())
    }
}
