//! Serves a router on a free loopback port.

use axum::Router;
use tokio_util::task::AbortOnDropHandle;

/// An HTTP server that stops when dropped.
#[derive(Debug)]
pub struct LoopbackServer {
    port: u16,
    _serving: AbortOnDropHandle<()>,
}

impl LoopbackServer {
    pub(super) async fn start(router: Router) -> anyhow::Result<Self> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port();
        let serving = tokio::spawn(async move {
            if let Err(error) = axum::serve(listener, router).await {
                tracing::error!(%error, "loopback server failed");
            }
        });
        Ok(Self { port, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Returns the base URL with a trailing slash.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}
