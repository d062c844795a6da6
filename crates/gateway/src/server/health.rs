//! Reachability of the gateway: the state of the listener, and probes that the gateway sends to itself over
//! the network.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::connections::is_exhausted;

/// Timeout of a probe. A gateway on the same machine responds within milliseconds, even under load.
const PROBE_LIMIT: Duration = Duration::from_secs(2);
/// Status line prefix of a successful probe.
const SUCCESS: &[u8] = b"HTTP/1.1 200";

/// Reachability of the gateway.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListenerHealth {
    /// Reason in prose while the listener is being reopened.
    pub recovering: Option<String>,
    /// Number of times the listener was reopened.
    pub recoveries: u64,
}

/// Publishes the health and collects failed probes.
#[derive(Default)]
pub(crate) struct ListenerMonitor {
    state: watch::Sender<ListenerHealth>,
    /// Number of the latest failed probe.
    failed: watch::Sender<u64>,
    /// Counter of probes and recoveries. Results of older probes are ignored.
    latest: AtomicU64,
}

impl ListenerMonitor {
    pub(crate) fn subscribe(&self) -> watch::Receiver<ListenerHealth> {
        self.state.subscribe()
    }

    /// Records the loss of the listener.
    pub(crate) fn recovering(&self, reason: String) {
        self.latest.fetch_add(1, Ordering::Relaxed);
        self.state.send_modify(|health| {
            *health = ListenerHealth { recovering: Some(reason), recoveries: health.recoveries + 1 };
        });
    }

    /// Records that the listener has been reopened.
    pub(crate) fn recovered(&self) {
        self.state.send_modify(|health| health.recovering = None);
    }

    /// Waits for a failed probe. Probes that started before this call are ignored, since they may concern the
    /// previous listener.
    pub(crate) async fn unreachable(&self) {
        let before = self.latest.load(Ordering::Relaxed);
        // Cannot fail: `self` owns the sender.
        let _ = self.failed.subscribe().wait_for(|probe| *probe > before).await;
    }

    /// Requests `/health` over a new connection, like a client.
    pub(crate) async fn probe(&self, port: u16) {
        let probe = self.latest.fetch_add(1, Ordering::Relaxed) + 1;
        let result = tokio::time::timeout(PROBE_LIMIT, responds(port)).await;
        self.record(probe, result.unwrap_or(Ok(false)));
    }

    /// Records the result of a probe. A probe that failed for lack of descriptors is inconclusive.
    fn record(&self, probe: u64, result: io::Result<bool>) {
        let newest = self.latest.load(Ordering::Relaxed) == probe;
        let unreachable = match result {
            Ok(responded) => !responded,
            Err(error) if is_exhausted(&error) => {
                tracing::warn!(%error, "liveness probe is inconclusive: out of file descriptors");
                false
            }
            Err(_) => true,
        };
        if newest && unreachable {
            self.failed.send_replace(probe);
        }
    }
}

async fn responds(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    // Written by hand: a client with a connection pool could reuse a connection and miss a dead listener.
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; SUCCESS.len()];
    stream.read_exact(&mut head).await?;
    Ok(head == SUCCESS)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn probe_result_of_a_closed_listener_is_ignored() {
        let closed_port =
            std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let monitor = ListenerMonitor::default();
        monitor.probe(closed_port).await;
        monitor.recovering("lost".to_owned());
        monitor.recovered();
        let mut unreachable = std::pin::pin!(monitor.unreachable());
        assert!(unreachable.as_mut().now_or_never().is_none());
        monitor.probe(closed_port).await;
        assert!(unreachable.now_or_never().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn probe_without_descriptors_is_inconclusive() {
        use rustix::io::Errno;
        let monitor = ListenerMonitor::default();
        let mut unreachable = std::pin::pin!(monitor.unreachable());
        for errno in [Errno::MFILE, Errno::NFILE] {
            monitor.record(0, Err(errno.into()));
            assert!(unreachable.as_mut().now_or_never().is_none(), "{errno}");
        }
        monitor.latest.store(1, Ordering::Relaxed);
        monitor.record(1, Err(Errno::CONNREFUSED.into()));
        assert!(unreachable.now_or_never().is_some());
    }
}
