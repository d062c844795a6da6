//! Health checks of servers on this machine.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::loopback::LoopbackUrl;

/// For one request of a run's health check.
const CHECK_TIME: Duration = Duration::from_secs(3);
/// For a TCP connection.
const CONNECT_TIME: Duration = Duration::from_secs(1);

/// Result of one health check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HealthCheck {
    /// The server answered with this HTTP status.
    Answered(u16),
    /// It did not answer. Why, for a person.
    Unreachable(String),
}

/// Sends `HEAD`. Redirects are not followed, and host names are not looked up.
pub async fn check_health(url: &LoopbackUrl, limit: Duration) -> HealthCheck {
    request(reqwest::Method::HEAD, url, limit).await
}

/// Whether a port of this machine accepts TCP connections, by IPv4 or IPv6.
pub async fn accepts_connections(port: u16) -> bool {
    let addresses = LoopbackUrl::parse(&format!("tcp://localhost:{port}")).map(|url| url.addresses());
    connect(&addresses.unwrap_or_default()).await
}

/// Whether a server is up. Any HTTP status counts, since development servers may refuse `HEAD` or have no root page.
///
/// # Errors
/// Why it is not, for a person.
pub(crate) async fn is_up(url: &LoopbackUrl) -> Result<(), String> {
    if !connect(&url.addresses()).await {
        return Err(format!("nothing accepts connections on port {}", url.port()));
    }
    if url.is_tcp() || matches!(check_health(url, CHECK_TIME).await, HealthCheck::Answered(_)) {
        return Ok(());
    }
    match request(reqwest::Method::GET, url, CHECK_TIME).await {
        HealthCheck::Answered(_) => Ok(()),
        HealthCheck::Unreachable(reason) => Err(reason),
    }
}

async fn connect(addresses: &[std::net::SocketAddr]) -> bool {
    for address in addresses {
        if matches!(timeout(CONNECT_TIME, TcpStream::connect(address)).await, Ok(Ok(_))) {
            return true;
        }
    }
    false
}

async fn request(method: reqwest::Method, url: &LoopbackUrl, limit: Duration) -> HealthCheck {
    let host = url.url().host_str().unwrap_or_default();
    let client = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .timeout(limit)
        .resolve_to_addrs(host, &url.addresses())
        .build();
    let answer = match client {
        Ok(client) => client.request(method, url.url().clone()).send().await,
        Err(error) => Err(error),
    };
    match answer {
        Ok(answer) => HealthCheck::Answered(answer.status().as_u16()),
        Err(error) => HealthCheck::Unreachable(explain(&error, url, limit)),
    }
}

fn explain(error: &reqwest::Error, url: &LoopbackUrl, limit: Duration) -> String {
    let port = url.port();
    if error.is_timeout() {
        format!("the server on port {port} did not answer within {} s", limit.as_secs())
    } else if error.is_connect() {
        format!("nothing accepts connections on port {port}")
    } else {
        format!("the server on port {port} does not speak {}", url.url().scheme())
    }
}
