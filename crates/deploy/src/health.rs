//! Whether a server on this machine answers, and if not, why, for a person.

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::loopback::LoopbackUrl;

/// For one request of a run's own check.
const CHECK_TIME: Duration = Duration::from_secs(3);
/// For a connection alone.
const CONNECT_TIME: Duration = Duration::from_secs(1);

/// What came of one question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It answered, with this status.
    Answered(u16),
    /// It did not, for this reason.
    Silent(String),
}

/// Asks by `HEAD`; redirects are not followed, and no name is looked up.
pub async fn ask(url: &LoopbackUrl, limit: Duration) -> Health {
    request(reqwest::Method::HEAD, url, limit).await
}

/// Whether a port of this machine takes connections.
pub async fn accepts(port: u16) -> bool {
    let addresses = LoopbackUrl::parse(&format!("tcp://localhost:{port}")).map(|url| url.addresses());
    connect(&addresses.unwrap_or_default()).await
}

/// Whether a run is up: any answer counts, since servers refuse `HEAD` and root paths as they like.
pub(crate) async fn is_up(url: &LoopbackUrl) -> Result<(), String> {
    if !connect(&url.addresses()).await {
        return Err(format!("nothing accepts connections on port {}", url.port()));
    }
    if url.is_tcp() || matches!(ask(url, CHECK_TIME).await, Health::Answered(_)) {
        return Ok(());
    }
    match request(reqwest::Method::GET, url, CHECK_TIME).await {
        Health::Answered(_) => Ok(()),
        Health::Silent(reason) => Err(reason),
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

async fn request(method: reqwest::Method, url: &LoopbackUrl, limit: Duration) -> Health {
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
        Ok(answer) => Health::Answered(answer.status().as_u16()),
        Err(error) => Health::Silent(explain(&error, url, limit)),
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
