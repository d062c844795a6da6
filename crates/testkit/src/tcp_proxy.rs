//! A way to a server on loopback that can be cut and mended, as a network is.

use std::net::Ipv4Addr;

use anyhow::Context as _;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::task::AbortOnDropHandle;

/// Carries connections to a port while it is whole. It ends when this value is dropped.
#[derive(Debug)]
pub struct TcpProxy {
    port: u16,
    whole: watch::Sender<bool>,
    _carrying: AbortOnDropHandle<()>,
}

impl TcpProxy {
    /// A whole wire to a port of loopback.
    ///
    /// # Errors
    /// When no port is free for its near end.
    pub async fn to(far: u16) -> anyhow::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.context("bind a wire")?;
        let port = listener.local_addr()?.port();
        let whole = watch::Sender::new(true);
        let state = whole.clone();
        let carrying = AbortOnDropHandle::new(tokio::spawn(async move {
            let mut talks = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                while talks.try_join_next().is_some() {}
                let mut state = state.subscribe();
                if *state.borrow_and_update() {
                    talks.spawn(async move {
                        tokio::select! {
                            () = carry(near, far) => {}
                            _ = state.wait_for(|whole| !whole) => {}
                        }
                    });
                }
            }
        }));
        Ok(Self { port, whole, _carrying: carrying })
    }

    /// Port of its near end.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Breaks every connection, and each new one at once.
    pub fn cut(&self) {
        self.whole.send_replace(false);
    }

    /// Carries again.
    pub fn mend(&self) {
        self.whole.send_replace(true);
    }
}

/// Until either end is closed, or breaks: both then look broken to the other.
async fn carry(mut near: TcpStream, far: u16) {
    if let Ok(mut far) = TcpStream::connect((Ipv4Addr::LOCALHOST, far)).await {
        let _ = tokio::io::copy_bidirectional(&mut near, &mut far).await;
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    #[tokio::test]
    async fn cut_breaks_what_is_open_and_lets_nothing_through_until_it_is_mended() {
        let echo = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let far = echo.local_addr().unwrap().port();
        let _echoing = AbortOnDropHandle::new(tokio::spawn(async move {
            while let Ok((mut stream, _)) = echo.accept().await {
                tokio::spawn(async move {
                    let (mut read, mut write) = stream.split();
                    let _ = tokio::io::copy(&mut read, &mut write).await;
                });
            }
        }));
        let tcp_proxy = TcpProxy::to(far).await.unwrap();
        let call = async || {
            let mut stream = TcpStream::connect(("127.0.0.1", tcp_proxy.port())).await.unwrap();
            let sent = stream.write_all(b"?").await;
            let mut received = [0];
            let read = stream.read_exact(&mut received).await;
            sent.and(read).map(|_| stream)
        };
        let mut open = call().await.unwrap();
        tcp_proxy.cut();
        assert!(matches!(open.read(&mut [0]).await, Ok(0) | Err(_)));
        assert!(call().await.is_err());
        tcp_proxy.mend();
        call().await.unwrap();
    }
}
