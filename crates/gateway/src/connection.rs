//! One connection to the gateway, from its acceptance to its last byte.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use http_body::Body as _;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::answer::{Failure, ReplyBody};
use crate::connections::Place;
use crate::express::{self, Express};
use crate::gateway::Inner;
use crate::idle::Pulse;
use crate::pipeline::{self, Caller, Front};

/// Bytes of a request's head; more is answered 431.
const MAX_HEAD: usize = 16 * 1024;
/// Bytes that are read at once from a connection, and wait to be written to it.
const BUFFER: usize = 64 * 1024;
/// What a connection is told that came when all others were busy.
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nRetry-After: 1\r\n\
    Content-Length: 0\r\n\r\n";
/// How long, and how much, a closed connection is still read, so that a client in the middle of an
/// upload sees its answer instead of a reset.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// How HTTP is spoken on every connection.
pub(crate) fn protocol() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // How long a head may take is watched by the connection's pulse.
    builder.header_read_timeout(None).max_header_size(MAX_HEAD).max_buf_size(BUFFER);
    builder
}

/// The two ways in which connections are told to end.
#[derive(Clone, Default)]
pub(crate) struct Stop {
    pub(crate) gently: CancellationToken,
    pub(crate) by_force: CancellationToken,
}

/// What every connection is served with.
#[derive(Clone)]
pub(crate) struct Serving {
    pub(crate) inner: Arc<Inner>,
    pub(crate) protocol: Arc<http1::Builder>,
    pub(crate) express: Option<Arc<Express>>,
    pub(crate) connections: TaskTracker,
    pub(crate) stop: Stop,
}

impl Serving {
    /// Serves a connection where its first request belongs.
    pub(crate) async fn accepted(self, stream: TcpStream, peer: SocketAddr, place: Place) {
        // Answers are small and written at once; waiting for more would only delay them.
        let _ = stream.set_nodelay(true);
        let express = self.express.clone();
        if express.is_none() && !place.reserved {
            return self.serve(stream, peer, place, None).await;
        }
        let asks = tokio::select! {
            asks = express::asks_for_health(&stream, self.inner.config.limits.header_timeout) => asks,
            () = place.closed.cancelled() => None,
            () = self.stop.gently.cancelled() => None,
        };
        let Some(asks) = asks else { return };
        if place.reserved && !asks {
            // Closed either way, whether the answer finds room or not.
            let _ = stream.try_write(TOO_MANY);
            return;
        }
        let express = express.filter(|_| asks).and_then(|express| Some((express.place()?, express)));
        match express {
            None => self.serve(stream, peer, place, None).await,
            Some((permit, express)) => {
                let (workers, connections) = (Handle::current(), self.connections.clone());
                let serve = async move {
                    let _permit = permit;
                    match express::moved(stream) {
                        Ok(stream) => self.serve(stream, peer, place, Some(workers)).await,
                        Err(error) => tracing::warn!(%error, "a connection was lost"),
                    }
                };
                connections.spawn_on(serve, express.handle());
            }
        }
    }

    /// Serves until either side ends the connection, or `stop` does. The work is done by `workers`,
    /// or here when there are none.
    async fn serve(self, stream: TcpStream, peer: SocketAddr, place: Place, workers: Option<Handle>) {
        let Self { inner, protocol, connections, stop, .. } = self;
        let pulse = place.pulse.clone();
        let timeout = inner.config.limits.header_timeout;
        let service =
            ConnectionService { inner, peer: peer.ip(), pulse: pulse.clone(), workers, work: connections };
        let connection = protocol.serve_connection(TokioIo::new(stream), service);
        run(connection, &place, timeout, &stop).await;
    }
}

/// Drives a connection to its end, and a little further for a client that still writes.
async fn run(
    mut connection: http1::Connection<TokioIo<TcpStream>, ConnectionService>,
    place: &Place,
    timeout: Duration,
    stop: &Stop,
) {
    let ended = tokio::select! {
        biased;
        ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
        () = place.pulse.waits_too_long(timeout) => return,
        () = place.closed.cancelled() => return,
        () = stop.gently.cancelled() => {
            Pin::new(&mut connection).graceful_shutdown();
            tokio::select! {
                ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
                () = stop.by_force.cancelled() => return,
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    let stream = connection.into_parts().io.into_inner();
    tokio::select! {
        () = linger(stream) => {}
        () = stop.gently.cancelled() => {}
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
    inner: Arc<Inner>,
    peer: IpAddr,
    pulse: Arc<Pulse>,
    /// Who works, when it is not the connection's own task.
    workers: Option<Handle>,
    /// Knows what they work on, so that a stop can wait for its end.
    work: TaskTracker,
}

impl hyper::service::Service<Request<Incoming>> for ConnectionService {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Answering;

    fn call(&self, request: Request<Incoming>) -> Answering {
        self.pulse.beat();
        match pipeline::front(&self.inner, request, Caller::Network(self.peer)) {
            Front::Answered(reply) => Answering::Ready(Some(reply)),
            Front::Open(opened) => {
                let (inner, busy) = (self.inner.clone(), self.pulse.busy());
                let work = async move {
                    let reply = pipeline::back(inner, opened.map_body(body_of)).await;
                    reply.map(|body| body.keeping(busy))
                };
                Answering::Working(match &self.workers {
                    None => Box::pin(work),
                    Some(workers) => {
                        let work = AbortOnDropHandle::new(self.work.spawn_on(work, workers));
                        Box::pin(async { work.await.unwrap_or_else(|_| Failure::internal().into_reply()) })
                    }
                })
            }
        }
    }
}

/// The body as the pipeline takes it. Most requests have none, and pay for none.
fn body_of(body: Incoming) -> Body {
    if body.is_end_stream() { Body::empty() } else { Body::new(body) }
}

/// An answer that is there, or one that is being worked on. The first costs no allocation.
enum Answering {
    Ready(Option<Response<ReplyBody>>),
    Working(Pin<Box<dyn Future<Output = Response<ReplyBody>> + Send>>),
}

impl Future for Answering {
    type Output = Result<Response<ReplyBody>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Ready(reply) => reply.take().map_or(Poll::Pending, |reply| Poll::Ready(Ok(reply))),
            Self::Working(work) => work.as_mut().poll(cx).map(Ok),
        }
    }
}
