//! Limits the number of open connections below the descriptor limit of the process, so that files, programs,
//! the control socket and liveness probes get descriptors even when clients hold idle connections. At the
//! limit, the oldest idle connection is closed to accept another.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::in_flight::InFlight;

/// Upper bound when raising the descriptor limit. Programs that are started inherit the limit, and some
/// allocate or scan tables of that size.
#[cfg(unix)]
const MAX_LIMIT: u64 = 65_536;
/// Descriptors that are not available for connections: databases, logs and file watches.
const OTHER_DESCRIPTORS: usize = 32;
/// Equal shares of the remaining descriptors: gateway connections, control plane connections, and everything
/// else.
const SHARES: usize = 3;
/// Lower bound for the connections of a listener.
const MIN_CONNECTIONS: usize = 4;
/// Connections beyond the limit that serve liveness probes only.
const RESERVED: usize = 4;
/// Descriptors that a listener keeps open in order to release them when the process runs out of descriptors.
const SPARE: usize = if cfg!(unix) { 2 } else { 0 };
/// Delay after a failed accept, which would otherwise be retried in a busy loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Raises the soft descriptor limit of this process, and of the programs that it starts, to the hard limit,
/// but at most to 65536. Best-effort: on failure the limit is unchanged.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let target = limit.maximum.unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        if limit.current.is_some_and(|current| current < target) {
            // Connections are limited by whatever limit is in effect, so a failure is harmless.
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(target), ..limit });
        }
    }
}

/// Returns the connections that one listener may have under the current descriptor limit.
pub(crate) fn share_of_descriptors() -> usize {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(MAX_LIMIT);
    #[cfg(not(unix))]
    let limit = 8192_u64;
    (usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(OTHER_DESCRIPTORS) / SHARES)
        .max(MIN_CONNECTIONS)
}

/// Open connections of one listener.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    state: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// Open connections by ascending id, thus ordered by acceptance.
    open: BTreeMap<u64, OpenConnection>,
    next: u64,
    spare: Vec<File>,
}

#[derive(Debug)]
struct OpenConnection {
    in_flight: InFlight,
    closed: CancellationToken,
    /// Cancelled when the descriptor has been closed.
    ended: CancellationToken,
}

/// Permission for one open connection. Dropping it releases the slot.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    connections: Arc<Connections>,
    id: u64,
    /// Requests of the connection. While there are none, the connection may be closed.
    pub(crate) in_flight: InFlight,
    /// Cancelled to make the holder close the connection.
    pub(crate) closed: CancellationToken,
    /// Whether the connection exceeds the limit and serves liveness probes only.
    pub(crate) reserved: bool,
    _ended: DropGuard,
}

impl Connections {
    /// Creates a limit of `most` connections, plus the reserved ones.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let mut state = OpenConnections::default();
        state.refill();
        Arc::new(Self { most, state: Mutex::new(state) })
    }

    /// Returns a permit for an accepted connection. The holder must drop the connection before the permit.
    /// When an idle connection is closed in exchange, waits for its descriptor, so that a burst of
    /// connections cannot exhaust all descriptors. Returns `None` when all connections are busy, including
    /// the reserved ones.
    pub(crate) async fn admit(self: &Arc<Self>) -> Option<ConnectionPermit> {
        let oldest = {
            let mut state = self.lock();
            state.refill();
            if self.has_room(&state) { None } else { state.close_oldest_idle() }
        };
        // Bounded: a connection task that is slow to end must not block the accept loop.
        if let Some(ended) = oldest {
            let _ = tokio::time::timeout(ACCEPT_PAUSE, ended.cancelled()).await;
        }
        // Connections may have ended while the lock was released.
        let mut state = self.lock();
        state.refill();
        if state.open.len() >= self.most + RESERVED {
            return None;
        }
        let reserved = !self.has_room(&state);
        let (in_flight, closed, ended) =
            (InFlight::default(), CancellationToken::new(), CancellationToken::new());
        let id = state.next;
        state.next += 1;
        let connection =
            OpenConnection { in_flight: in_flight.clone(), closed: closed.clone(), ended: ended.clone() };
        state.open.insert(id, connection);
        Some(ConnectionPermit {
            connections: self.clone(),
            id,
            in_flight,
            closed,
            reserved,
            _ended: ended.drop_guard(),
        })
    }

    /// Returns when accepting may be retried after an error. When the process has run out of descriptors,
    /// releases the spare ones and closes the oldest idle connection.
    pub(crate) async fn recover(&self, error: &io::Error) {
        if !is_exhausted(error) {
            tracing::warn!(%error, "failed to accept a connection");
        } else if self.lock().release_spares() {
            // Descriptors have been released, so accepting can continue at once.
            tracing::warn!(%error, "out of file descriptors; closing idle connections");
            return;
        }
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }

    /// Whether a connection fits the limit and spare descriptors are left for its requests.
    fn has_room(&self, state: &OpenConnections) -> bool {
        state.open.len() < self.most && (SPARE == 0 || !state.spare.is_empty())
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl OpenConnections {
    fn refill(&mut self) {
        while self.spare.len() < SPARE {
            // Out of descriptors again: retried with the next connection.
            let Ok(file) = File::open("/dev/null") else { return };
            self.spare.push(file);
        }
    }

    /// Releases descriptors. Returns whether there were spare ones.
    fn release_spares(&mut self) -> bool {
        self.close_oldest_idle();
        let had_spares = !self.spare.is_empty();
        self.spare.clear();
        had_spares
    }

    /// Closes the oldest idle connection. Returns a token that is cancelled once its descriptor is closed.
    fn close_oldest_idle(&mut self) -> Option<CancellationToken> {
        let idle = self.open.iter().find(|(_, connection)| connection.in_flight.is_idle());
        let oldest = idle.map(|(id, _)| *id).and_then(|id| self.open.remove(&id))?;
        oldest.closed.cancel();
        Some(oldest.ended)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.lock().open.remove(&self.id);
    }
}

/// Whether the process or the system is out of descriptors.
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    #[cfg(unix)]
    return [rustix::io::Errno::MFILE, rustix::io::Errno::NFILE]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::OutOfMemory;
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn admitted(connections: &Arc<Connections>, count: usize) -> Vec<ConnectionPermit> {
        let mut permits = Vec::new();
        for _ in 0..count {
            permits.push(connections.admit().await.unwrap());
        }
        permits
    }

    #[tokio::test(start_paused = true)]
    async fn oldest_idle_connection_is_closed_and_busy_ones_stay_open() {
        let connections = Connections::new(3);
        let permits = admitted(&connections, 3).await;
        // The first connection is the oldest but busy, so the second one is closed.
        let busy = permits[0].in_flight.start();
        let fourth = connections.admit().await.unwrap();
        let closed: Vec<bool> = permits.iter().map(|permit| permit.closed.is_cancelled()).collect();
        assert_eq!(closed, [false, true, false]);
        assert!(!fourth.reserved);
        drop(busy);
        let _fifth = connections.admit().await.unwrap();
        assert!(permits[0].closed.is_cancelled(), "the oldest connection is idle now");
    }

    #[tokio::test(start_paused = true)]
    async fn admission_waits_for_the_descriptor_of_the_closed_connection() {
        let connections = Connections::new(1);
        let first = connections.admit().await.unwrap();
        let next = connections.admit();
        let mut next = std::pin::pin!(next);
        // Its descriptor counts as open until the permit is dropped.
        assert!(futures_util::poll!(next.as_mut()).is_pending());
        assert!(first.closed.is_cancelled());
        let started = tokio::time::Instant::now();
        drop(first);
        assert!(!next.await.unwrap().reserved);
        assert_eq!(started.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn connections_beyond_the_limit_are_reserved_for_health() {
        let connections = Connections::new(2);
        let mut permits = Vec::new();
        // Two regular connections and all reserved ones, each busy for good.
        for _ in 0..2 + RESERVED {
            let permit = connections.admit().await.unwrap();
            permit.in_flight.start_endless();
            permits.push(permit);
        }
        assert!(permits.iter().enumerate().all(|(nth, permit)| permit.reserved == (nth >= 2)));
        assert!(connections.admit().await.is_none());
        drop(permits);
        assert!(!connections.admit().await.unwrap().reserved);
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn spare_descriptors_are_released_and_reacquired() {
        let connections = Connections::new(2);
        let idle = connections.admit().await.unwrap();
        let exhausted = io::Error::from(rustix::io::Errno::MFILE);
        let started = tokio::time::Instant::now();
        connections.recover(&exhausted).await;
        assert!(idle.closed.is_cancelled() && connections.lock().spare.is_empty());
        assert_eq!(started.elapsed(), Duration::ZERO);
        // A second failure has no spare descriptors left to release, so it has to wait.
        connections.recover(&exhausted).await;
        assert_eq!(started.elapsed(), ACCEPT_PAUSE, "no spare descriptors are left");
        assert!(!connections.admit().await.unwrap().reserved);
        assert_eq!(connections.lock().spare.len(), SPARE);
    }
}
