//! How many requests of a connection are being answered: one with none may be closed for another one.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use axum::body::Body;
use http::Response;
use http_body_util::BodyExt as _;

/// The number of requests in flight on one connection. Clones share it.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<AtomicUsize>);

impl InFlight {
    /// Counts a request until the guard is dropped.
    pub(crate) fn start(&self) -> InFlightGuard {
        self.0.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self.0.clone())
    }

    /// Counts one request more for as long as the connection lives.
    pub(crate) fn start_endless(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether there is none.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }
}

/// A request in flight.
#[derive(Debug)]
pub(crate) struct InFlightGuard(Arc<AtomicUsize>);

impl InFlightGuard {
    /// Holds the guard until the body of the response was sent or dropped.
    pub(crate) fn until_sent(self, response: Response<Body>) -> Response<Body> {
        // The body owns the closure, and with it the guard.
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
