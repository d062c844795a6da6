//! Serves one connection from its acceptance to its end.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse as _;
use futures_util::future::{BoxFuture, FutureExt as _};
use http::header::{CONNECTION, RETRY_AFTER};
use http::{HeaderValue, Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio_util::sync::CancellationToken;

use super::connections::ConnectionPermit;
use super::in_flight::InFlight;
use super::state::ServerState;
use crate::error::HttpError;
use crate::health::liveness::LIVENESS_PATH;
use crate::pipeline;
use crate::pipeline::caller::RequestSource;

/// Size limit of a request head in bytes. Longer ones are refused with a 431.
const MAX_HEAD: usize = 16 * 1024;
/// Size limit in bytes of hyper's read and write buffers per connection.
const BUFFER: usize = 64 * 1024;
// How long a closed connection is still read: until the client has been silent for LINGER_IDLE, at most
// LINGER. Closing a socket with unread data sends a reset, and a client in the middle of an upload gets EPIPE
// instead of the response. There is no limit in bytes: a client may write a whole upload before it reads. The
// values are those of nginx (lingering_timeout, lingering_time).
const LINGER_IDLE: Duration = Duration::from_secs(5);
const LINGER: Duration = Duration::from_secs(30);

/// Creates the HTTP configuration of all connections. `header_timeout` is also the idle timeout.
pub(crate) fn protocol(header_timeout: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_timeout);
    builder.max_header_size(MAX_HEAD).max_buf_size(BUFFER);
    builder
}

/// Signals of the two stages of a shutdown.
#[derive(Clone, Default)]
pub(crate) struct ShutdownTokens {
    pub(crate) graceful: CancellationToken,
    pub(crate) forced: CancellationToken,
}

/// Serves connections with a shared state and configuration.
#[derive(Clone)]
pub(crate) struct ConnectionServer {
    pub(crate) state: Arc<ServerState>,
    pub(crate) protocol: Arc<http1::Builder>,
    pub(crate) shutdown: ShutdownTokens,
}

impl ConnectionServer {
    /// Serves a connection until the peer closes it, the permit is revoked, or `shutdown` fires.
    pub(crate) async fn serve(self, stream: TcpStream, peer: SocketAddr, permit: ConnectionPermit) {
        // Responses are small and complete; Nagle's algorithm would only delay them.
        let _ = stream.set_nodelay(true);
        let Self { state, protocol, shutdown } = self;
        let handler: Handler = Box::new(move |request| {
            let (state, caller) = (state.clone(), RequestSource::Network(peer.ip()));
            async move { pipeline::handle(&state.pipeline, request, caller).await }.boxed()
        });
        let service = ConnectionService::new(&permit, handler);
        run(protocol.serve_connection(TokioIo::new(stream), service), &permit, &shutdown).await;
    }
}

/// Drives a connection to its end, then lingers for a client that is still sending.
async fn run(
    mut connection: http1::Connection<TokioIo<TcpStream>, ConnectionService>,
    permit: &ConnectionPermit,
    shutdown: &ShutdownTokens,
) {
    let ended = tokio::select! {
        // `poll_without_shutdown` leaves the socket open for `linger`.
        biased;
        ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
        () = permit.closed.cancelled() => return,
        () = shutdown.graceful.cancelled() => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
                () = shutdown.forced.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "connection closed early");
    }
    let stream = connection.into_parts().io.into_inner();
    tokio::select! {
        () = linger(stream, permit) => {}
        () = shutdown.graceful.cancelled() => {}
    }
}

/// Closes the write half and discards what the client still sends, until the permit is revoked.
pub(super) async fn linger(mut stream: TcpStream, permit: &ConnectionPermit) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut buffer = [0_u8; 4096];
    let drained = async {
        // Ends at the end of the stream, on an error, or when the client is silent for too long.
        while let Ok(Ok(1..)) = tokio::time::timeout(LINGER_IDLE, stream.read(&mut buffer)).await {}
    };
    tokio::select! {
        // A client that keeps sending after the timeout gets the reset.
        _ = tokio::time::timeout(LINGER, drained) => {}
        () = permit.closed.cancelled() => {}
    }
}

/// Handles the requests of a connection.
pub(super) type Handler = Box<dyn Fn(Request<Body>) -> BoxFuture<'static, Response<Body>> + Send + Sync>;

/// The requests of one connection, counted as in flight until their responses are sent.
pub(super) struct ConnectionService {
    handler: Handler,
    in_flight: InFlight,
    /// Whether the connection exceeds the limit, so that it serves the liveness probe only.
    reserved: bool,
}

impl ConnectionService {
    pub(super) fn new(permit: &ConnectionPermit, handler: Handler) -> Self {
        Self { handler, in_flight: permit.in_flight.clone(), reserved: permit.reserved }
    }
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response<Body>, Infallible>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        let guard = self.in_flight.start();
        if self.reserved && request.uri().path() != LIVENESS_PATH {
            let response = guard.until_sent(too_many_connections());
            return Box::pin(async { Ok(response) });
        }
        let (in_flight, reserved) = (self.in_flight.clone(), self.reserved);
        let handled = (self.handler)(request.map(|body| in_flight.track(Body::new(body))));
        Box::pin(async move {
            let mut response = handled.await;
            if reserved {
                // Closing lets the client's next request use a regular connection once one is free.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            // The upgraded connection outlives this request, and is never idle.
            if response.status() == StatusCode::SWITCHING_PROTOCOLS {
                in_flight.start_endless();
            }
            Ok(guard.until_sent(response))
        })
    }
}

fn too_many_connections() -> Response<Body> {
    let error = "too many connections, retry shortly";
    let mut response = HttpError::new(StatusCode::SERVICE_UNAVAILABLE, error).closing(true).into_response();
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
    response
}
