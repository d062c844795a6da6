//! Activity of a connection: its requests in flight, and whether it waits for its client. Both decide which
//! connection may be closed in favor of another.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll};

use axum::body::Body;
use http::Response;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;

/// Activity of one connection. Clones share the state.
#[derive(Debug, Clone, Default)]
pub(crate) struct InFlight(Arc<ConnectionActivity>);

// Relaxed is sufficient for both: they do not publish other memory.
#[derive(Debug, Default)]
struct ConnectionActivity {
    requests: AtomicUsize,
    waiting: AtomicBool,
}

impl InFlight {
    /// Counts a request until the guard is dropped.
    pub(crate) fn start(&self) -> InFlightGuard {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
        InFlightGuard(self.0.clone())
    }

    /// Counts a request for the lifetime of the connection, as for a WebSocket.
    pub(crate) fn start_endless(&self) {
        self.0.requests.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether no request is in flight.
    pub(crate) fn is_idle(&self) -> bool {
        self.0.requests.load(Ordering::Relaxed) == 0
    }

    /// Whether the connection cannot proceed before the client sends more of a request body, or reads more of
    /// a response.
    pub(crate) fn waits_for_client(&self) -> bool {
        self.0.waiting.load(Ordering::Relaxed)
    }

    /// Records whether reading or writing waits for the client, and returns the result of the poll.
    pub(crate) fn polled<T>(&self, result: Poll<T>) -> Poll<T> {
        self.0.waiting.store(result.is_pending(), Ordering::Relaxed);
        result
    }

    /// Wraps a request body, so that the connection counts as waiting while a handler reads the body and the
    /// client does not send it.
    pub(crate) fn track(&self, body: Body) -> Body {
        Body::new(TrackedBody { body, in_flight: self.clone() })
    }
}

struct TrackedBody {
    body: Body,
    in_flight: InFlight,
}

impl http_body::Body for TrackedBody {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(cx);
        self.in_flight.polled(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for TrackedBody {
    /// A handler that stops reading, for example after a timeout, no longer waits for the client.
    fn drop(&mut self) {
        self.in_flight.0.waiting.store(false, Ordering::Relaxed);
    }
}

/// Guard of one request in flight.
#[derive(Debug)]
pub(crate) struct InFlightGuard(Arc<ConnectionActivity>);

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
        self.0.requests.fetch_sub(1, Ordering::Relaxed);
    }
}
