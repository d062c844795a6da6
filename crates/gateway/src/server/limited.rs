//! Serves an axum router over TCP with limits of connections and timeouts, for the control plane in this
//! process.

use std::future::Future as _;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::response::Response;
use futures_util::future::FutureExt as _;
use http::Request;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};
use tokio_util::task::TaskTracker;
use tower::ServiceExt as _;

use super::connection::{ConnectionService, linger, protocol};
use super::connections::{ConnectionPermit, Connections, share_of_descriptors};
use super::in_flight::InFlight;

/// Time to receive the head of a request. Also the idle timeout of a connection.
const HEAD_TIMEOUT: Duration = Duration::from_secs(60);

/// A router and its listener, with limits of connections.
pub struct LimitedServer {
    listener: TcpListener,
    router: Router,
    connections: Arc<Connections>,
}

impl LimitedServer {
    /// Serves a router with a third of the available descriptors. One client address may use half of them,
    /// except the addresses of reverse proxies. Handlers extract the client's address as
    /// `ConnectInfo<SocketAddr>`.
    #[must_use]
    pub fn new(listener: TcpListener, router: Router, proxies: Vec<IpAddr>) -> Self {
        let connections = Connections::per_address(share_of_descriptors(), proxies);
        Self { listener, router, connections }
    }

    /// Serves until `stop` is cancelled. Then stops accepting, and returns when the requests in flight have
    /// been answered. WebSockets are not waited for. Dropping the future aborts the requests.
    pub async fn serve(self, stop: CancellationToken) {
        let protocol = protocol(HEAD_TIMEOUT);
        let open = TaskTracker::new();
        let aborted = CancellationToken::new();
        let _abort_on_drop = aborted.clone().drop_guard();
        loop {
            let accepted = tokio::select! {
                accepted = self.accept() => accepted,
                () = stop.cancelled() => break,
            };
            let (stream, peer, permit) = accepted;
            let router = self.router.clone();
            let handler = Box::new(move |request| answer(router.clone(), request, peer).boxed());
            let service = ConnectionService::new(&permit, handler);
            let stream = TokioIo::new(LimitedStream::new(stream, permit));
            let connection = protocol.serve_connection(stream, service).with_upgrades();
            let (stop, aborted) = (stop.clone(), aborted.clone());
            open.spawn(async move {
                let mut connection = pin!(connection);
                let ended = tokio::select! {
                    ended = &mut connection => ended,
                    () = stop.cancelled() => {
                        // Closes the connection when it is idle, or after the response in flight.
                        connection.as_mut().graceful_shutdown();
                        tokio::select! {
                            ended = connection => ended,
                            () = aborted.cancelled() => return,
                        }
                    }
                    () = aborted.cancelled() => return,
                };
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection closed early");
                }
            });
        }
        // Releases the port before the connections have ended.
        drop(self.listener);
        open.close();
        open.wait().await;
    }

    async fn accept(&self) -> (TcpStream, SocketAddr, ConnectionPermit) {
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let Some(permit) = self.connections.admit(Some(peer.ip())).await else { continue };
                    // Responses are small and complete. Nagle's algorithm would delay them until the client's
                    // delayed ACK, by 40 ms.
                    let _ = stream.set_nodelay(true);
                    return (stream, peer, permit);
                }
                Err(error) => self.connections.recover(&error).await,
            }
        }
    }
}

async fn answer(router: Router, mut request: Request<Body>, peer: SocketAddr) -> Response {
    request.extensions_mut().insert(ConnectInfo(peer));
    let Ok(response) = router.oneshot(request).await;
    response
}

/// A connection that reports end of file when its permit is revoked, and lingers when hyper drops it.
struct LimitedStream {
    /// `None` only while it is dropped.
    open: Option<(TcpStream, ConnectionPermit)>,
    closed: Pin<Box<WaitForCancellationFutureOwned>>,
    in_flight: InFlight,
}

impl LimitedStream {
    fn new(stream: TcpStream, permit: ConnectionPermit) -> Self {
        let closed = Box::pin(permit.closed.clone().cancelled_owned());
        let in_flight = permit.in_flight.clone();
        Self { open: Some((stream, permit)), closed, in_flight }
    }

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
        let written = self.stream()?.poll_write(cx, buf);
        self.in_flight.polled(written)
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
        let written = self.stream()?.poll_write_vectored(cx, bufs);
        self.in_flight.polled(written)
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

#[cfg(test)]
mod tests {
    use axum::routing::{get, post};
    use http::StatusCode;
    use http::header::CONTENT_LENGTH;
    use http_body_util::BodyExt as _;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    use tokio::sync::Notify;

    use super::*;

    async fn within<F: Future>(work: F) -> F::Output {
        tokio::time::timeout(Duration::from_secs(20), work).await.unwrap()
    }

    /// A server with a limit of connections. It stops when the token is cancelled.
    async fn serve(
        router: Router,
        most: usize,
    ) -> (SocketAddr, CancellationToken, tokio::task::JoinHandle<()>) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        let server = LimitedServer { listener, router, connections: Connections::new(most) };
        (address, stop.clone(), tokio::spawn(server.serve(stop)))
    }

    async fn send(address: SocketAddr, request: &str) -> TcpStream {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request.as_bytes()).await.unwrap();
        stream
    }

    /// Sends a request and reads the status of its response.
    async fn get_status(address: SocketAddr, path: &str) -> (TcpStream, String) {
        let mut stream = send(address, &format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n")).await;
        let mut start = [0; 12];
        within(stream.read_exact(&mut start)).await.unwrap();
        (stream, String::from_utf8_lossy(&start[9..]).into_owned())
    }

    /// Reads until the server closes the connection.
    async fn read_all(stream: &mut TcpStream) -> String {
        let mut text = Vec::new();
        // A reset also ends the response.
        let _ = within(stream.read_to_end(&mut text)).await;
        String::from_utf8_lossy(&text).into_owned()
    }

    fn pages() -> Router {
        let endless = || async { Body::from_stream(futures_util::stream::pending::<io::Result<&str>>()) };
        let upload = |request: Request<Body>| async move {
            let whole = request.into_body().collect().await.is_ok();
            if whole { StatusCode::OK } else { StatusCode::BAD_REQUEST }
        };
        Router::new()
            .route("/", get(|| async { "here" }))
            .route("/health", get(|| async { "ok" }))
            .route("/stream", get(endless))
            .route("/upload", post(upload))
    }

    #[tokio::test]
    async fn idle_connections_are_closed_and_streams_stay_open() {
        let (address, ..) = serve(pages(), 3).await;
        // One busy stream, then far more idle connections than the limit of three.
        let (mut stream, _) = get_status(address, "/stream").await;
        let mut idle = Vec::new();
        for _ in 0..20 {
            let (connection, status) = get_status(address, "/").await;
            assert_eq!(status, "200");
            idle.push(connection);
        }
        let remainder = read_all(&mut idle[0]).await;
        assert!(
            remainder.ends_with("here"),
            "the request was answered before its idle connection was closed"
        );
        let mut remainder = Vec::new();
        let ended = tokio::select! {
            biased;
            _ = stream.read_to_end(&mut remainder) => true,
            _ = get_status(address, "/") => false,
        };
        assert!(!ended, "a response in flight keeps its connection open");
    }

    #[tokio::test]
    async fn half_sent_requests_do_not_exclude_other_clients() {
        let (address, ..) = serve(pages(), 3).await;
        let heads = [
            "GET / HTTP/1.1\r\nHost: local",
            "POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
        ];
        let mut half_sent = Vec::new();
        for nth in 0..20 {
            half_sent.push(send(address, heads[nth % 2]).await);
            half_sent[nth].write_all(b"abc").await.unwrap();
            let (_, status) = get_status(address, "/").await;
            assert_eq!(status, "200", "after {nth} half-sent requests");
        }
        let (_, status) = get_status(address, "/health").await;
        assert_eq!(status, "200");
    }

    #[tokio::test]
    async fn client_that_reads_no_response_does_not_exclude_other_clients() {
        // More than the socket buffers of both ends.
        let large = || async { vec![0_u8; 64 * 1024 * 1024] };
        let (address, ..) = serve(pages().route("/large", get(large)), 2).await;
        let mut unread = Vec::new();
        for _ in 0..4 {
            // The status has arrived, so the server is writing the body.
            unread.push(get_status(address, "/large").await);
            let (_, status) = get_status(address, "/").await;
            assert_eq!(status, "200");
        }
    }

    #[tokio::test]
    async fn health_is_answered_when_all_connections_are_busy() {
        let (address, ..) = serve(pages(), 2).await;
        let _busy = (get_status(address, "/stream").await, get_status(address, "/stream").await);
        for _ in 0..10 {
            let (mut probe, status) = get_status(address, "/health").await;
            assert_eq!(status, "200");
            read_all(&mut probe).await;
            let (mut other, status) = get_status(address, "/").await;
            assert_eq!(status, "503");
            read_all(&mut other).await;
        }
    }

    #[tokio::test]
    async fn long_heads_are_rejected() {
        let (address, ..) = serve(pages(), 2).await;
        let mut stream =
            send(address, &format!("GET / HTTP/1.1\r\nHost: a\r\nX-Long: {}", "x".repeat(20_000))).await;
        assert!(read_all(&mut stream).await.starts_with("HTTP/1.1 431"));
    }

    #[tokio::test]
    async fn refusal_reaches_a_client_that_reads_after_its_upload() {
        let router = Router::new().route("/", post(|| async { StatusCode::PAYLOAD_TOO_LARGE }));
        let (address, ..) = serve(router, 3).await;
        // Far larger than the socket buffers: a server that stops reading makes the write fail.
        let length = 64 * 1024 * 1024;
        let mut stream = send(
            address,
            &format!("POST / HTTP/1.1\r\nHost: localhost\r\n{CONTENT_LENGTH}: {length}\r\n\r\n"),
        )
        .await;
        within(stream.write_all(&vec![0; length])).await.expect("the server reads on after its response");
        let response = read_all(&mut stream).await;
        assert!(response.starts_with("HTTP/1.1 413"), "{response}");
    }

    #[tokio::test]
    async fn request_in_flight_is_answered_after_the_stop() {
        let (started, finish) = (Arc::new(Notify::new()), Arc::new(Notify::new()));
        let slow = {
            let (started, finish) = (started.clone(), finish.clone());
            move || async move {
                started.notify_one();
                finish.notified().await;
                "finished"
            }
        };
        let (address, stop, server) = serve(pages().route("/slow", get(slow)), 8).await;
        let (mut idle, _) = get_status(address, "/").await;
        let mut stream = send(address, "GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
        within(started.notified()).await;
        stop.cancel();
        read_all(&mut idle).await;
        assert!(!server.is_finished(), "the server waits for the request");
        finish.notify_one();
        assert!(read_all(&mut stream).await.ends_with("finished"));
        within(server).await.unwrap();
        assert!(TcpStream::connect(address).await.is_err());
    }
}
