//! Baseline of HTTP measurements: a hyper server that returns a constant body.

use std::convert::Infallible;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

/// A running baseline server. Stops when dropped.
pub struct BareServer {
    /// URL of its only response.
    pub url: String,
    _task: AbortOnDropHandle<()>,
}

/// Serves `body` in response to every request, on a free loopback port.
pub async fn serve(body: Bytes) -> anyhow::Result<BareServer> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let url = format!("http://{}/health", listener.local_addr()?);
    let task = tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let body = body.clone();
            // Best-effort: without it Nagle's algorithm distorts the baseline, but does not fail.
            let _ = stream.set_nodelay(true);
            tokio::spawn(async move {
                let service = service_fn(move |_: Request<Incoming>| {
                    let body = body.clone();
                    async move {
                        let mut response = Response::new(Full::new(body));
                        response
                            .headers_mut()
                            .insert(CONTENT_TYPE, http::HeaderValue::from_static("application/json"));
                        Ok::<_, Infallible>(response)
                    }
                });
                // Clients close their connections at the end of a measurement.
                let _ = hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    });
    Ok(BareServer { url, _task: AbortOnDropHandle::new(task) })
}
