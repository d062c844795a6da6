//! A router on a free port of loopback.

use axum::Router;
use tokio_util::task::AbortOnDropHandle;

/// Serves until this value is dropped.
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
                tracing::error!(%error, "a server on loopback ended");
            }
        });
        Ok(Self { port, _serving: AbortOnDropHandle::new(serving) })
    }

    /// Its address.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}
