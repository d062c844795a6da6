//! Counts the requests in flight on a connection. A connection without any may be closed in favor of another.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use http::Response;
use http_body_util::BodyExt as _;

/// Requests in flight on one connection. Clones share the counter.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    /// Counts a request until the guard is dropped.
    pub(crate) fn start(&self) -> InFlightGuard {
        // Relaxed: only the counter itself matters, it does not publish other memory.
        self.0.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self.0.clone())
    }

    /// Counts a request for the lifetime of the connection, as for a WebSocket.
    pub(crate) fn start_endless(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no request is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// Guard of one request in flight.
#[derive(Debug)]
pub(crate) struct InFlightGuard(Arc<AtomicUsize>);

impl InFlightGuard {
    /// Keeps the guard until the response body has been sent or dropped.
    pub(crate) fn until_sent(self, response: Response<Body>) -> Response<Body> {
        // The closure captures the guard and is owned by the body.
        response.map(|body| {
            Body::new(body.map_err(move |error| {
                let _guard = &self;
                error
            }))
        })
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
