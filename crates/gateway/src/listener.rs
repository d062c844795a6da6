//! The listener on 127.0.0.1: binding with fallbacks, one task a connection, and a stop that
//! leaves nothing behind.

use std::convert::Infallible;
use std::future::{Future, poll_fn};
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use thiserror::Error;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::answer::ReplyBody;
#[cfg(unix)]
use crate::control::{Control, ControlSocket};
use crate::discovery::DiscoveryFile;
use crate::gateway::Inner;
use crate::idle::Pulse;
use crate::pipeline::{self, Caller, Front};
use crate::routes::files::run_viewer;

/// Bytes of a request's head; more is answered 431.
const MAX_HEAD: usize = 16 * 1024;
/// Bytes that are read at once from a connection, and wait to be written to it.
const BUFFER: usize = 64 * 1024;
/// Pause after a failed accept, so that a lack of descriptors does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// Pauses between two tries to listen anew: the first, and the longest that they grow to.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// How long, and how much, a closed connection is still read, so that a client in the middle of an
/// upload sees its answer instead of a reset.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 8 * 1024 * 1024;

/// Why nothing listens.
#[derive(Debug, Error)]
pub enum BindError {
    /// Every candidate is taken.
    #[error("failed to bind gateway server to any candidate port ({}): {source}", list(ports))]
    AllTaken {
        /// The candidates.
        ports: Vec<u16>,
        /// What the system said about the last one.
        source: io::Error,
    },
    /// The system refused for another reason than a taken port.
    #[error("failed to bind gateway server to port {port}: {source}")]
    Refused {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// No candidate was named.
    #[error("no port was named for the gateway server")]
    NoPort,
}

fn list(ports: &[u16]) -> String {
    ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A gateway that holds its port and is not serving yet.
pub struct Bound {
    inner: Arc<Inner>,
    listener: TcpListener,
    port: u16,
    /// Where it may listen, in order of preference.
    candidates: Vec<u16>,
    discovery: Option<DiscoveryFile>,
}

impl Bound {
    pub(crate) async fn bind(inner: Arc<Inner>, ports: &[u16]) -> Result<Self, BindError> {
        let (listener, port) = first_free(ports).await?;
        let discovery = announce(&inner, port).await;
        // Where any port will do, the one that was taken is as good as any, and known.
        let candidates =
            ports.iter().flat_map(|&wanted| if wanted == 0 { vec![port, 0] } else { vec![wanted] });
        Ok(Self { candidates: candidates.collect(), inner, listener, port, discovery })
    }

    /// The port that is really held.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `shutdown` ends. Then nothing new is accepted, answers on their way have a
    /// short grace, and every connection is closed by force, streams too.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { inner, listener, mut discovery, candidates, .. } = self;
        let mut door = Door { listener, candidates };
        let connections = TaskTracker::new();
        let stop = Stop::default();
        let builder = Arc::new(protocol());
        #[cfg(unix)]
        serve_control(&inner, &connections, &stop);
        let keepers = [
            AbortOnDropHandle::new(tokio::spawn(inner.activity.clone().keep())),
            AbortOnDropHandle::new(tokio::spawn(run_viewer::keep_swept())),
        ];
        let mut shutdown = pin!(shutdown);
        loop {
            let accepted = tokio::select! {
                () = &mut shutdown => break,
                accepted = door.listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, peer)) => {
                    let connection = connection(inner.clone(), builder.clone(), stream, peer, stop.clone());
                    connections.spawn(connection);
                }
                Err(error) if is_lost(&error) => {
                    tracing::error!(%error, "the listener was lost");
                    let port = tokio::select! {
                        () = &mut shutdown => break,
                        port = door.reopen() => port,
                    };
                    discovery = announce(&inner, port).await;
                    tracing::warn!(port, "the gateway listens again");
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
        drop(door);
        connections.close();
        stop.gently.cancel();
        if tokio::time::timeout(inner.config.limits.stop_grace, connections.wait()).await.is_err() {
            stop.by_force.cancel();
            connections.wait().await;
        }
        drop(keepers);
        inner.activity.clone().write().await;
        if let Some(discovery) = discovery {
            discovery.withdraw().await;
        }
    }
}

#[cfg(test)]
impl Bound {
    /// Ends the listening socket behind the listener's back.
    pub(crate) fn lose_for_test(&self) {
        use std::os::fd::AsFd as _;
        let socket = self.listener.as_fd().try_clone_to_owned().unwrap();
        std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both).unwrap();
    }
}

/// Tells everybody who looks which port is held.
async fn announce(inner: &Inner, port: u16) -> Option<DiscoveryFile> {
    inner.set_port(port);
    DiscoveryFile::announce(inner.config.state_dir.clone()?, port).await
}

/// Whether the socket itself has ended; everything else is the trouble of one connection, or passes.
fn is_lost(error: &io::Error) -> bool {
    const BAD_DESCRIPTOR: i32 = 9;
    error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == Some(BAD_DESCRIPTOR)
}

/// The listener, and where another may be opened in its place.
struct Door {
    listener: TcpListener,
    candidates: Vec<u16>,
}

impl Door {
    /// Tries, at growing distances, until a port is held; answers which.
    async fn reopen(&mut self) -> u16 {
        let mut pause = FIRST_RETRY;
        loop {
            match first_free(&self.candidates).await {
                Ok((listener, port)) => {
                    self.listener = listener;
                    return port;
                }
                Err(error) => tracing::error!(%error, ?pause, "the gateway cannot listen; it is tried again"),
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_RETRY);
        }
    }
}

/// Opens the owner's socket beside the listener.
#[cfg(unix)]
fn serve_control(inner: &Inner, tasks: &TaskTracker, stop: &Stop) {
    let control = Control {
        approvals: inner.approvals.clone(),
        activity: inner.activity.clone(),
        sign_in: inner.sign_in.get().cloned(),
        runtime: inner.config.runtime.clone(),
    };
    if let Some(socket) = ControlSocket::bind(&inner.config.data_dir) {
        tasks.spawn(socket.serve(control, stop.gently.clone()));
    }
}

/// Only a taken port moves on to the next candidate.
async fn first_free(ports: &[u16]) -> Result<(TcpListener, u16), BindError> {
    let mut last = None;
    for &port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => {
                let bound = listener.local_addr().map_err(|source| BindError::Refused { port, source })?;
                return Ok((listener, bound.port()));
            }
            Err(source) if source.kind() == io::ErrorKind::AddrInUse => last = Some(source),
            Err(source) => return Err(BindError::Refused { port, source }),
        }
    }
    let source = last.ok_or(BindError::NoPort)?;
    Err(BindError::AllTaken { ports: ports.to_vec(), source })
}

fn protocol() -> http1::Builder {
    let mut builder = http1::Builder::new();
    // How long a head may take is watched by the connection's pulse.
    builder.header_read_timeout(None).max_header_size(MAX_HEAD).max_buf_size(BUFFER);
    builder
}

/// The two ways in which connections are told to end.
#[derive(Clone, Default)]
struct Stop {
    gently: CancellationToken,
    by_force: CancellationToken,
}

async fn connection(
    inner: Arc<Inner>,
    builder: Arc<http1::Builder>,
    stream: TcpStream,
    peer: SocketAddr,
    stop: Stop,
) {
    // Answers are small and written at once; waiting for more would only delay them.
    let _ = stream.set_nodelay(true);
    let pulse = Arc::new(Pulse::default());
    let timeout = inner.config.limits.header_timeout;
    let service = ConnectionService { inner, peer: peer.ip(), pulse: pulse.clone() };
    let mut connection = builder.serve_connection(TokioIo::new(stream), service);
    let ended = tokio::select! {
        biased;
        ended = poll_fn(|cx| connection.poll_without_shutdown(cx)) => ended,
        () = pulse.waits_too_long(timeout) => return,
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
                Answering::Working(Box::pin(async move {
                    let reply = pipeline::back(inner, opened.map_body(Body::new)).await;
                    reply.map(|body| body.keeping(busy))
                }))
            }
        }
    }
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
