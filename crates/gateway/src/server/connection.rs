//! One connection to the gateway, from its acceptance to its last byte.

use std::convert::Infallible;
use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::IntoResponse as _;
use futures_util::future::BoxFuture;
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

/// Bytes of a request's head; more is answered 431.
const MAX_HEAD: usize = 16 * 1024;
/// Bytes that are read at once from a connection, and wait to be written to it.
const BUFFER: usize = 64 * 1024;
/// How long, and how much, a closed connection is still read, so that a client in the middle of an
/// upload sees its answer instead of a reset.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// How HTTP is spoken on every connection. `header_timeout` is also how long one may be idle.
pub(crate) fn protocol(header_timeout: Duration) -> http1::Builder {
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(header_timeout);
    builder.max_header_size(MAX_HEAD).max_buf_size(BUFFER);
    builder
}

/// The two stages of a shutdown.
#[derive(Clone, Default)]
pub(crate) struct ShutdownTokens {
    pub(crate) graceful: CancellationToken,
    pub(crate) forced: CancellationToken,
}

/// What every connection is served with.
#[derive(Clone)]
pub(crate) struct ConnectionServer {
    pub(crate) state: Arc<ServerState>,
    pub(crate) protocol: Arc<http1::Builder>,
    pub(crate) shutdown: ShutdownTokens,
}

impl ConnectionServer {
    /// Serves until either side ends the connection, or `shutdown` does.
    pub(crate) async fn serve(self, stream: TcpStream, peer: SocketAddr, permit: ConnectionPermit) {
        // Answers are small and written at once; waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        let Self { state, protocol, shutdown } = self;
        let (in_flight, reserved) = (permit.in_flight.clone(), permit.reserved);
        let service = ConnectionService { state, peer: peer.ip(), in_flight, reserved };
        run(protocol.serve_connection(TokioIo::new(stream), service), &permit, &shutdown).await;
    }
}

/// Drives a connection to its end, and a little further for a client that still writes.
async fn run(
    mut connection: http1::Connection<TokioIo<TcpStream>, ConnectionService>,
    permit: &ConnectionPermit,
    shutdown: &ShutdownTokens,
) {
    let ended = tokio::select! {
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
        tracing::debug!(%error, "a connection ended early");
    }
    let stream = connection.into_parts().io.into_inner();
    tokio::select! {
        () = linger(stream) => {}
        () = permit.closed.cancelled() => {}
        () = shutdown.graceful.cancelled() => {}
    }
}

/// Ends our side and reads what the other side still sends.
async fn linger(mut stream: TcpStream) {
    if stream.shutdown().await.is_err() {
        return;
    }
    let mut left = LINGER_BYTES;
    let mut buffer = [0_u8; 4096];
    let drained = async {
        while let Ok(read) = stream.read(&mut buffer).await {
            left = left.saturating_sub(read);
            if read == 0 || left == 0 {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LINGER, drained).await;
}

struct ConnectionService {
    state: Arc<ServerState>,
    peer: IpAddr,
    in_flight: InFlight,
    /// Whether only questions about health are answered.
    reserved: bool,
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
        let (state, caller) = (self.state.clone(), RequestSource::Network(self.peer));
        let reserved = self.reserved;
        Box::pin(async move {
            let mut response = pipeline::handle(&state.pipeline, request.map(Body::new), caller).await;
            if reserved {
                // The next request of this client may find room on a connection that answers everything.
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
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
