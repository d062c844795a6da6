//! Whether the gateway can be reached: the state of the listener, and liveness probes that the gateway
//! sends to itself over the network.

use std::io;
use std::net::Ipv4Addr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::connections::is_exhausted;

/// For the gateway to answer itself.
const PROBE_LIMIT: Duration = Duration::from_secs(2);
/// How every good answer begins.
const GOOD: &[u8] = b"HTTP/1.1 200";

/// Whether the gateway can be reached.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ListenerHealth {
    /// Why it cannot, for a person, while it is being brought back.
    pub recovering: Option<String>,
    /// How often it had to be brought back.
    pub recoveries: u64,
}

/// The health as it changes, and the probes that found no listener.
#[derive(Default)]
pub(crate) struct ListenerMonitor {
    state: watch::Sender<ListenerHealth>,
    /// The last probe without an answer.
    failed: watch::Sender<u64>,
    /// Counts probes and recoveries: what an older one found means nothing any more.
    latest: AtomicU64,
}

impl ListenerMonitor {
    pub(crate) fn subscribe(&self) -> watch::Receiver<ListenerHealth> {
        self.state.subscribe()
    }

    /// The listener is gone.
    pub(crate) fn recovering(&self, reason: String) {
        self.latest.fetch_add(1, Ordering::Relaxed);
        self.state.send_modify(|health| {
            *health = ListenerHealth { recovering: Some(reason), recoveries: health.recoveries + 1 };
        });
    }

    /// It is back.
    pub(crate) fn recovered(&self) {
        self.state.send_modify(|health| health.recovering = None);
    }

    /// Waits until a probe finds that the listener does not answer. One that began before says
    /// nothing of a listener that was opened since.
    pub(crate) async fn unreachable(&self) {
        let before = self.latest.load(Ordering::Relaxed);
        // The sender lives as long as this does.
        let _ = self.failed.subscribe().wait_for(|probe| *probe > before).await;
    }

    /// Asks for `/health` as any client would.
    pub(crate) async fn probe(&self, port: u16) {
        let probe = self.latest.fetch_add(1, Ordering::Relaxed) + 1;
        let answered = tokio::time::timeout(PROBE_LIMIT, answers(port)).await;
        self.note(probe, answered.unwrap_or(Ok(false)));
    }

    /// Takes in what a probe found. One that could not ask has found nothing.
    fn note(&self, probe: u64, answered: io::Result<bool>) {
        let newest = self.latest.load(Ordering::Relaxed) == probe;
        let found_nobody = match answered {
            Ok(answered) => !answered,
            Err(error) if is_exhausted(&error) => {
                tracing::warn!(%error, "the gateway could not ask itself");
                false
            }
            Err(_) => true,
        };
        if newest && found_nobody {
            self.failed.send_replace(probe);
        }
    }
}

async fn answers(port: u16) -> io::Result<bool> {
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await?;
    let request = format!("GET /health HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut head = [0; GOOD.len()];
    stream.read_exact(&mut head).await?;
    Ok(head == GOOD)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[tokio::test]
    async fn probe_result_of_a_closed_listener_is_ignored() {
        let nobody =
            std::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap().port();
        let monitor = ListenerMonitor::default();
        monitor.probe(nobody).await;
        monitor.recovering("lost".to_owned());
        monitor.recovered();
        let mut doubted = std::pin::pin!(monitor.unreachable());
        assert!(doubted.as_mut().now_or_never().is_none());
        monitor.probe(nobody).await;
        assert!(doubted.now_or_never().is_some());
    }

    #[cfg(unix)]
    #[test]
    fn failed_probe_is_inconclusive() {
        use rustix::io::Errno;
        let monitor = ListenerMonitor::default();
        let mut doubted = std::pin::pin!(monitor.unreachable());
        for errno in [Errno::MFILE, Errno::NFILE] {
            monitor.note(0, Err(errno.into()));
            assert!(doubted.as_mut().now_or_never().is_none(), "{errno}");
        }
        monitor.latest.store(1, Ordering::Relaxed);
        monitor.note(1, Err(Errno::CONNREFUSED.into()));
        assert!(doubted.now_or_never().is_some());
    }
}
