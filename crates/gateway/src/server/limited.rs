//! Serves a router over TCP with a limit on its open connections, for the part of the program that is
//! not the gateway.

use std::future::Future as _;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::Router;
use axum::extract::Request;
use axum::extract::connect_info::{ConnectInfo, Connected};
use axum::middleware::{Next, from_fn};
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use http::StatusCode;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::connections::{ConnectionPermit, Connections, share_of_descriptors};
use super::in_flight::InFlight;

/// Serves until it is dropped.
///
/// # Errors
/// None today; see [`axum::serve()`].
pub async fn serve_limited(listener: TcpListener, router: Router) -> io::Result<()> {
    serve(listener, router, Connections::new(share_of_descriptors())).await
}

async fn serve(listener: TcpListener, router: Router, connections: Arc<Connections>) -> io::Result<()> {
    let listener = LimitedListener { listener, connections };
    let router = router.layer(from_fn(count_in_flight));
    axum::serve(listener, router.into_make_service_with_connect_info::<ConnectionRequests>()).await
}

struct LimitedListener {
    listener: TcpListener,
    connections: Arc<Connections>,
}

impl Listener for LimitedListener {
    type Io = LimitedStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (LimitedStream, SocketAddr) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let Some(permit) = self.connections.admit().await else { continue };
                    // Answers are small and written at once; waiting to fill a packet costs 40 ms each.
                    let _ = stream.set_nodelay(true);
                    let closed = Box::pin(permit.closed.clone().cancelled_owned());
                    return (LimitedStream { stream, closed, permit }, peer);
                }
                Err(error) => self.connections.recover(&error).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection whose reads end when its permit is needed.
struct LimitedStream {
    stream: TcpStream,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    permit: ConnectionPermit,
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }
}

/// The client of the connection on which a request came, and the requests of that connection.
#[derive(Clone)]
struct ConnectionRequests {
    peer: SocketAddr,
    in_flight: InFlight,
}

impl Connected<IncomingStream<'_, LimitedListener>> for ConnectionRequests {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Self {
        Self { peer: *stream.remote_addr(), in_flight: stream.io().permit.in_flight.clone() }
    }
}

/// Keeps a connection from being closed while a request on it is answered, and for good when it
/// becomes a WebSocket. Handlers find the client's address as `ConnectInfo<SocketAddr>`.
async fn count_in_flight(
    ConnectInfo(ConnectionRequests { peer, in_flight }): ConnectInfo<ConnectionRequests>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(ConnectInfo(peer));
    let guard = in_flight.start();
    let response = next.run(request).await;
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        in_flight.start_endless();
    }
    guard.until_sent(response)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn within<F: Future>(work: F) -> F::Output {
        tokio::time::timeout(std::time::Duration::from_secs(20), work).await.unwrap()
    }

    #[tokio::test]
    async fn idle_connections_make_room_and_streams_stay() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endless = || async { Body::from_stream(futures_util::stream::pending::<io::Result<&str>>()) };
        let router = Router::new().route("/stream", get(endless)).route("/", get(|| async { "here" }));
        tokio::spawn(serve(listener, router, Connections::new(3)));
        let ask = async |path: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let request = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(request.as_bytes()).await.unwrap();
            let mut start = [0; 12];
            within(stream.read_exact(&mut start)).await.unwrap();
            assert_eq!(&start, b"HTTP/1.1 200");
            stream
        };
        let mut stream = ask("/stream").await;
        let mut idle = Vec::new();
        for _ in 0..20 {
            idle.push(ask("/").await);
        }
        let mut rest = Vec::new();
        within(idle[0].read_to_end(&mut rest)).await.unwrap();
        assert!(rest.ends_with(b"here"), "it was answered, and closed when it was idle");
        rest.clear();
        let ended = tokio::select! {
            biased;
            _ = stream.read_to_end(&mut rest) => true,
            _ = ask("/") => false,
        };
        assert!(!ended, "what is being answered is left alone");
    }
}
