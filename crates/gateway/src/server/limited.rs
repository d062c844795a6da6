//! Serves an axum router over TCP with a limit of open connections, for the control plane in this process.

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

use super::connection::linger;
use super::connections::{ConnectionPermit, Connections, share_of_descriptors};
use super::in_flight::InFlight;

/// Serves until the future is dropped.
///
/// # Errors
/// Does not fail at present; see [`axum::serve()`].
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
                    // Responses are small and complete. Nagle's algorithm would delay them until the client's
                    // delayed ACK, by 40 ms.
                    let _ = stream.set_nodelay(true);
                    let closed = Box::pin(permit.closed.clone().cancelled_owned());
                    let in_flight = permit.in_flight.clone();
                    return (LimitedStream { open: Some((stream, permit)), closed, in_flight }, peer);
                }
                Err(error) => self.connections.recover(&error).await,
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that reports end of file when its permit is revoked, and lingers when hyper drops it.
struct LimitedStream {
    /// `None` only while it is dropped.
    open: Option<(TcpStream, ConnectionPermit)>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    in_flight: InFlight,
}

impl LimitedStream {
    /// The stream; fails while the connection is dropped.
    fn stream(&mut self) -> io::Result<Pin<&mut TcpStream>> {
        let open = self.open.as_mut().ok_or(io::ErrorKind::NotConnected)?;
        Ok(Pin::new(&mut open.0))
    }
}

impl AsyncRead for LimitedStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        // End of file makes hyper finish the response in flight and close the connection.
        if self.closed.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Ok(()));
        }
        self.stream()?.poll_read(cx, buf)
    }
}

impl AsyncWrite for LimitedStream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.stream()?.poll_shutdown(cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.stream()?.poll_write_vectored(cx, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }
}

impl Drop for LimitedStream {
    /// Hyper drops a connection whose request body it has not read, for example after a 413. Closing the
    /// socket then would reset it before the client has read the response, so the rest of the body is read
    /// first.
    fn drop(&mut self) {
        let Some((stream, permit)) = self.open.take() else { return };
        // Outside of a runtime, at its shutdown, the socket is closed at once.
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { linger(stream, &permit).await });
        }
    }
}

/// Connection info of a request: the client's address and the requests in flight.
#[derive(Clone)]
struct ConnectionRequests {
    peer: SocketAddr,
    in_flight: InFlight,
}

impl Connected<IncomingStream<'_, LimitedListener>> for ConnectionRequests {
    fn connect_info(stream: IncomingStream<'_, LimitedListener>) -> Self {
        Self { peer: *stream.remote_addr(), in_flight: stream.io().in_flight.clone() }
    }
}

/// Keeps a connection open while it serves a request, and permanently once it is upgraded to a WebSocket.
/// Handlers extract the client's address as `ConnectInfo<SocketAddr>`.
async fn count_in_flight(
    ConnectInfo(ConnectionRequests { peer, in_flight }): ConnectInfo<ConnectionRequests>,
    mut request: Request,
    next: Next,
) -> Response {
    request.extensions_mut().insert(ConnectInfo(peer));
    let guard = in_flight.start();
    let response = next.run(request).await;
    // The upgraded connection outlives this request, and is never idle.
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        in_flight.start_endless();
    }
    guard.until_sent(response)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::routing::{get, post};
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn within<F: Future>(work: F) -> F::Output {
        tokio::time::timeout(std::time::Duration::from_secs(20), work).await.unwrap()
    }

    #[tokio::test]
    async fn idle_connections_are_closed_and_streams_stay_open() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let endless = || async { Body::from_stream(futures_util::stream::pending::<io::Result<&str>>()) };
        let router = Router::new().route("/stream", get(endless)).route("/", get(|| async { "here" }));
        tokio::spawn(serve(listener, router, Connections::new(3)));
        let request = async |path: &str| {
            let mut stream = TcpStream::connect(address).await.unwrap();
            let head = format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n");
            stream.write_all(head.as_bytes()).await.unwrap();
            let mut start = [0; 12];
            within(stream.read_exact(&mut start)).await.unwrap();
            assert_eq!(&start, b"HTTP/1.1 200");
            stream
        };
        // One busy stream, then far more idle connections than the limit of three.
        let mut stream = request("/stream").await;
        let mut idle = Vec::new();
        for _ in 0..20 {
            idle.push(request("/").await);
        }
        let mut remainder = Vec::new();
        within(idle[0].read_to_end(&mut remainder)).await.unwrap();
        assert!(
            remainder.ends_with(b"here"),
            "the request was answered before its idle connection was closed"
        );
        remainder.clear();
        let ended = tokio::select! {
            biased;
            _ = stream.read_to_end(&mut remainder) => true,
            _ = request("/") => false,
        };
        assert!(!ended, "a response in flight keeps its connection open");
    }

    #[tokio::test]
    async fn refusal_reaches_a_client_that_reads_after_its_upload() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let router = Router::new().route("/", post(|| async { StatusCode::PAYLOAD_TOO_LARGE }));
        tokio::spawn(serve(listener, router, Connections::new(3)));
        let mut stream = TcpStream::connect(address).await.unwrap();
        // Far larger than the socket buffers: a server that stops reading makes the write fail.
        let length = 64 * 1024 * 1024;
        let head = format!("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        let mut response = Vec::new();
        within(async {
            stream.write_all(head.as_bytes()).await.unwrap();
            stream.write_all(&vec![0; length]).await.expect("the server reads on after its response");
            stream.read_to_end(&mut response).await.unwrap();
        })
        .await;
        assert!(response.starts_with(b"HTTP/1.1 413"), "{}", String::from_utf8_lossy(&response));
    }
}
