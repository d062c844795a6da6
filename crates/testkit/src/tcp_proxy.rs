//! A TCP proxy on loopback that can cut and restore its connections, and limit what clients send, to simulate a
//! network failure or a slow line.

use std::net::Ipv4Addr;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// Segment size of Ethernet in bytes. With the one of loopback, the kernel buffers megabytes for a client.
const SEGMENT_SIZE: u32 = 1460;
/// Receive buffer of a connection on a slow line, in bytes.
const RECEIVE_BUFFER: usize = 16 * 1024;
/// Number of times per second that a slow line forwards data.
const STEPS_PER_SECOND: u32 = 20;

/// Limits of the data that clients send.
#[derive(Debug, Clone, Copy)]
pub struct Uplink {
    pub bytes_per_second: u32,
    /// Number of bytes of a connection after which the line forwards nothing more, without closing it.
    pub stalls_after: Option<usize>,
}

/// Forwards connections to a loopback port while the link is up. Stops when dropped.
#[derive(Debug)]
pub struct TcpProxy {
    port: u16,
    link_up: watch::Sender<bool>,
    _accept_task: AbortOnDropHandle<()>,
}

impl TcpProxy {
    /// Starts a proxy in front of a loopback port, with the link up.
    pub async fn to(upstream_port: u16) -> anyhow::Result<Self> {
        Self::start(upstream_port, None).await
    }

    /// Starts a proxy in front of a loopback port that forwards slowly what clients send.
    pub async fn slow(upstream_port: u16, uplink: Uplink) -> anyhow::Result<Self> {
        Self::start(upstream_port, Some(uplink)).await
    }

    async fn start(upstream_port: u16, uplink: Option<Uplink>) -> anyhow::Result<Self> {
        // Bound before the upstream is contacted: the upstream may be started later.
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("bind the proxy")?;
        if uplink.is_some() {
            // Connections inherit both. A client then waits as it does on a real line, instead of writing everything
            // into buffers of the kernel.
            let socket = socket2::SockRef::from(&listener);
            socket.set_tcp_mss(SEGMENT_SIZE)?;
            socket.set_recv_buffer_size(RECEIVE_BUFFER)?;
        }
        let port = listener.local_addr()?.port();
        let link_up = watch::Sender::new(true);
        let state = link_up.clone();
        let accept_task = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut connections = JoinSet::new();
            while let Ok((client, _)) = listener.accept().await {
                // Reap finished tasks, so that the set does not grow with every connection.
                while connections.try_join_next().is_some() {}
                let mut link_up = state.subscribe();
                // While the link is down, the connection is accepted and dropped, so the client sees a reset
                // or end of stream.
                if *link_up.borrow_and_update() {
                    connections.spawn(async move {
                        tokio::select! {
                            // The branch that loses is dropped, and closes both of its sockets.
                            () = forward(client, upstream_port, uplink) => {}
                            _ = link_up.wait_for(|up| !up) => {}
                        }
                    });
                }
            }
        }));
        Ok(Self { port, link_up, _accept_task: accept_task })
    }

    /// Returns the port on which the proxy listens.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Closes all open connections, and every new connection until [`Self::mend`].
    pub fn cut(&self) {
        self.link_up.send_replace(false);
    }

    /// Forwards new connections again.
    pub fn mend(&self) {
        self.link_up.send_replace(true);
    }
}

/// Copies in both directions until one side closes or fails, then closes both.
async fn forward(mut client: TcpStream, upstream_port: u16, uplink: Option<Uplink>) {
    let Ok(mut upstream) = TcpStream::connect((Ipv4Addr::LOCALHOST, upstream_port)).await else { return };
    // An error means that one side closed the connection. Both are closed when this function returns.
    let Some(uplink) = uplink else {
        let _ = tokio::io::copy_bidirectional(&mut client, &mut upstream).await;
        return;
    };
    let (from_client, mut to_client) = client.split();
    let (mut from_upstream, to_upstream) = upstream.split();
    let _ = tokio::join!(
        send_slowly(from_client, to_upstream, uplink),
        tokio::io::copy(&mut from_upstream, &mut to_client)
    );
}

async fn send_slowly(
    mut from: impl AsyncRead + Unpin,
    mut to: impl AsyncWrite + Unpin,
    uplink: Uplink,
) -> std::io::Result<()> {
    let mut buffer = vec![0; uplink.bytes_per_second.div_ceil(STEPS_PER_SECOND) as usize];
    let mut remaining = uplink.stalls_after.unwrap_or(usize::MAX);
    loop {
        if remaining == 0 {
            std::future::pending::<()>().await;
        }
        let most = buffer.len().min(remaining);
        let read = from.read(&mut buffer[..most]).await?;
        if read == 0 {
            return to.shutdown().await;
        }
        remaining -= read;
        to.write_all(&buffer[..read]).await?;
        tokio::time::sleep(Duration::from_secs(1) / STEPS_PER_SECOND).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn cut_closes_open_connections_and_refuses_new_ones_until_mended() {
        let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let upstream_port = echo.local_addr().unwrap().port();
        let _echo_task = AbortOnDropHandle::new(tokio::spawn(async move {
            while let Ok((mut stream, _)) = echo.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    let _ = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        }));
        let tcp_proxy = TcpProxy::to(upstream_port).await.unwrap();
        let call = async || {
            let mut stream = TcpStream::connect(("127.0.0.1", tcp_proxy.port())).await.unwrap();
            let sent = stream.write_all(b"?").await;
            let mut received = [0];
            let read = stream.read_exact(&mut received).await;
            sent.and(read).map(|_| stream)
        };
        let mut open = call().await.unwrap();
        // A cut connection ends either with a reset or with end of file.
        tcp_proxy.cut();
        assert!(matches!(open.read(&mut [0]).await, Ok(0) | Err(_)));
        assert!(call().await.is_err());
        tcp_proxy.mend();
        call().await.unwrap();
    }
}
