//! Interface of the gateway to the executor.

use std::convert::Infallible;

use axum::body::Body;
use bytes::Bytes;
use futures_util::future::BoxFuture;
use http::{Request, Response};
use tower::{Service, ServiceExt as _};

/// Handles the requests of commands.
pub trait CommandHandler: Send + Sync + 'static {
    /// Handles one request. Dropping the future or the response body cancels it.
    fn call(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Body>>;
}

/// The gateway's service, called in process without a socket. A relayed request passes the same checks as a
/// local one.
#[derive(Debug, Clone)]
pub struct InProcess<S>(pub S);

impl<S> CommandHandler for InProcess<S>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible> + Clone + Send + Sync + 'static,
    S::Future: Send,
{
    fn call(&self, request: Request<Bytes>) -> BoxFuture<'_, Response<Body>> {
        let service = self.0.clone();
        Box::pin(async move {
            match service.oneshot(request.map(Body::from)).await {
                Ok(response) => response,
                Err(never) => match never {},
            }
        })
    }
}
