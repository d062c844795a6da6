#![doc = include_str!("../README.md")]

use std::error::Error;
use std::sync::OnceLock;

use loopgate_api::proxy::{BYPASS_VARIABLES, bypass_with_loopback};
use reqwest::{Client, ClientBuilder, NoProxy, Proxy};
use thiserror::Error;

/// An HTTP client cannot be created, in practice because the system has no CA certificates.
#[derive(Debug, Error)]
#[error("cannot create an HTTPS client: {cause}; install the package ca-certificates, or set SSL_CERT_FILE")]
pub struct ClientError {
    cause: String,
}

impl From<reqwest::Error> for ClientError {
    fn from(error: reqwest::Error) -> Self {
        // reqwest's own message is only "builder error".
        let mut cause: &dyn Error = &error;
        while let Some(source) = cause.source() {
            cause = source;
        }
        Self { cause: cause.to_string() }
    }
}

/// Creates the client that a builder describes.
///
/// # Errors
/// Fails with [`ClientError`] on a system without CA certificates.
pub fn build(builder: ClientBuilder) -> Result<Client, ClientError> {
    builder.build().map_err(ClientError::from)
}

/// An HTTP client that is created when it is first used: loading the system's CA certificates takes
/// milliseconds, and fails on a system without them. A failure is not kept, so the next use tries again.
#[derive(Debug)]
pub struct LazyClient {
    configure: fn(ClientBuilder) -> ClientBuilder,
    client: OnceLock<Client>,
}

impl LazyClient {
    /// Describes a client: [`builder`] with further options.
    #[must_use]
    pub const fn new(configure: fn(ClientBuilder) -> ClientBuilder) -> Self {
        Self { configure, client: OnceLock::new() }
    }

    /// Returns the client, and creates it on the first call.
    ///
    /// # Errors
    /// Fails with [`ClientError`] on a system without CA certificates.
    pub fn get(&self) -> Result<&Client, ClientError> {
        if let Some(client) = self.client.get() {
            return Ok(client);
        }
        let client = build((self.configure)(builder()))?;
        Ok(self.client.get_or_init(|| client))
    }
}

/// Returns a builder for HTTP clients that use the proxy of this process's environment, but never for requests
/// to loopback addresses.
pub fn builder() -> ClientBuilder {
    with_proxies(|name| std::env::var(name).ok())
}

fn with_proxies(variable: impl Fn(&str) -> Option<String>) -> ClientBuilder {
    #[expect(clippy::disallowed_methods, reason = "the only place that constructs HTTP clients")]
    let mut builder = Client::builder();
    // The builder's own reading of the environment has no way to add hosts to the bypass list.
    builder = builder.no_proxy();
    let first =
        |names: [&str; 2]| names.into_iter().find_map(|name| variable(name).filter(|v| !v.is_empty()));
    let bypass = bypass_with_loopback(&first(BYPASS_VARIABLES).unwrap_or_default());
    let proxies = [
        first(["HTTP_PROXY", "http_proxy"]).map(Proxy::http),
        first(["HTTPS_PROXY", "https_proxy"]).map(Proxy::https),
        // Last, because the first proxy that matches is used.
        first(["ALL_PROXY", "all_proxy"]).map(Proxy::all),
    ];
    // An invalid address is ignored, as other programs do.
    for proxy in proxies.into_iter().flatten().flatten() {
        builder = builder.proxy(proxy.no_proxy(NoProxy::from_string(&bypass)));
    }
    builder
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::net::TcpListener;

    use super::*;

    /// Accepts one connection, responds with this status, and returns the request line.
    async fn serve(listener: TcpListener, status: u16) -> String {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut request = [0; 1024];
        let length = stream.read(&mut request).await.unwrap();
        let response = format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
        stream.write_all(response.as_bytes()).await.unwrap();
        String::from_utf8_lossy(&request[..length]).lines().next().unwrap_or_default().to_owned()
    }

    async fn listener() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        (listener, port)
    }

    fn client(proxy_variable: &str, proxy_port: u16, bypass: Option<&str>) -> Client {
        let variable = |name: &str| match name {
            "NO_PROXY" => bypass.map(str::to_owned),
            _ if name == proxy_variable => Some(format!("http://127.0.0.1:{proxy_port}")),
            _ => None,
        };
        with_proxies(variable).timeout(Duration::from_secs(20)).build().unwrap()
    }

    #[tokio::test]
    async fn loopback_requests_do_not_use_a_proxy() {
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            for host in ["127.0.0.1", "localhost", "127.0.0.2", "[::1]"] {
                let (server, port) = listener().await;
                let (proxy, proxy_port) = listener().await;
                let client = client(variable, proxy_port, Some("example.test"));
                let address = format!("http://{host}:{port}/secret");
                // Only 127.0.0.1 is served; requests to the other addresses fail without the proxy.
                tokio::select! {
                    request = serve(proxy, 502) => panic!("{variable}: the proxy received {request}"),
                    (_, _) = async { tokio::join!(client.get(address).send(), async {
                        if ["127.0.0.1", "localhost"].contains(&host) { serve(server, 200).await; }
                    }) } => {}
                }
            }
        }
    }

    #[tokio::test]
    async fn other_requests_use_the_proxy() {
        for variable in ["HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"] {
            let (proxy, proxy_port) = listener().await;
            let client = client(variable, proxy_port, None);
            let (response, request) =
                tokio::join!(client.get("http://plane.example.test/x").send(), serve(proxy, 200));
            assert_eq!(response.unwrap().status(), 200);
            assert_eq!(request, "GET http://plane.example.test/x HTTP/1.1");
        }
    }
}
