//! How many connections are open at once: fewer than this process may have descriptors, so that files,
//! programs, the owner's socket and questions about its health find some, however many idle connections
//! others hold. Where one more comes, the oldest idle one is closed for it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio_util::sync::{CancellationToken, DropGuard};

use super::in_flight::InFlight;

/// As many descriptors as a limit is raised to, where the system lets it be.
#[cfg(unix)]
const MAX_LIMIT: u64 = 65_536;
/// Descriptors that are not shared out: for databases, logs and watches.
const KEPT_DESCRIPTORS: usize = 32;
/// What is left is shared between the gateway's connections, the control plane's, and all else.
const SHARES: usize = 3;
/// Minimum of connections of a listener.
const MIN_CONNECTIONS: usize = 4;
/// Connections beyond the limit, for questions about health alone.
const RESERVED: usize = 4;
/// Descriptors that a listener holds only to give them up when there are no others.
const SPARE: usize = if cfg!(unix) { 2 } else { 0 };
/// Pause after a failed accept, so that it is not tried in a tight loop.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Lets this process, and what it starts, have as many descriptors as the system grants it, up to
/// 65536. Where that fails everything stays as it is.
pub fn raise_descriptor_limit() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        let limit = getrlimit(Resource::Nofile);
        let wanted = limit.maximum.unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        if limit.current.is_some_and(|current| current < wanted) {
            let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(wanted), ..limit });
        }
    }
}

/// Connections that one listener may have by the present limit.
pub(crate) fn share_of_descriptors() -> usize {
    #[cfg(unix)]
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(MAX_LIMIT);
    #[cfg(not(unix))]
    let limit = 8192_u64;
    (usize::try_from(limit).unwrap_or(usize::MAX).saturating_sub(KEPT_DESCRIPTORS) / SHARES)
        .max(MIN_CONNECTIONS)
}

/// The open connections of one listener.
#[derive(Debug)]
pub(crate) struct Connections {
    most: usize,
    state: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// In the order in which they were accepted.
    open: BTreeMap<u64, OpenConnection>,
    next: u64,
    spare: Vec<File>,
}

#[derive(Debug)]
struct OpenConnection {
    in_flight: InFlight,
    closed: CancellationToken,
    /// Cancelled when its descriptor is free again.
    ended: CancellationToken,
}

/// The permit of an open connection; free again when this is dropped.
#[derive(Debug)]
pub(crate) struct ConnectionPermit {
    connections: Arc<Connections>,
    id: u64,
    /// Its requests; a connection without any may be closed.
    pub(crate) in_flight: InFlight,
    /// Cancelled when it has to.
    pub(crate) closed: CancellationToken,
    /// Whether it is beyond the limit.
    pub(crate) reserved: bool,
    _ended: DropGuard,
}

impl Connections {
    /// Room for `most` connections.
    pub(crate) fn new(most: usize) -> Arc<Self> {
        let mut state = OpenConnections::default();
        state.refill();
        Arc::new(Self { most, state: Mutex::new(state) })
    }

    /// A permit for a connection that was accepted; its holder drops the connection first. Where an idle
    /// one has to go for it, that one's descriptor is waited for, so that a burst does not use up all of
    /// them. `None` when all are busy, the reserved ones too.
    pub(crate) async fn admit(self: &Arc<Self>) -> Option<ConnectionPermit> {
        let oldest = {
            let mut state = self.lock();
            state.refill();
            if self.has_room(&state) { None } else { state.close_oldest_idle() }
        };
        if let Some(ended) = oldest {
            let _ = tokio::time::timeout(ACCEPT_PAUSE, ended.cancelled()).await;
        }
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

    /// Returns when the next accept may be tried after one that failed. Without descriptors the spare
    /// ones are given up for it, and the oldest idle connection is closed.
    pub(crate) async fn recover(&self, error: &io::Error) {
        if !is_exhausted(error) {
            tracing::warn!(%error, "a connection could not be accepted");
        } else if self.lock().give_up() {
            tracing::warn!(%error, "no descriptors are left; idle connections are closed");
            return;
        }
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }

    /// Whether one more may be open, and there are descriptors for what it asks.
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
            let Ok(file) = File::open("/dev/null") else { return };
            self.spare.push(file);
        }
    }

    /// Whether there was something to give up.
    fn give_up(&mut self) -> bool {
        self.close_oldest_idle();
        let had_some = !self.spare.is_empty();
        self.spare.clear();
        had_some
    }

    /// Tells the oldest idle connection to close; answers what is cancelled when it did.
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

/// Whether the process, or the system, has no descriptors left.
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
    async fn oldest_idle_connection_goes_and_busy_ones_stay() {
        let connections = Connections::new(3);
        let permits = admitted(&connections, 3).await;
        let busy = permits[0].in_flight.start();
        let fourth = connections.admit().await.unwrap();
        let closed: Vec<bool> = permits.iter().map(|permit| permit.closed.is_cancelled()).collect();
        assert_eq!(closed, [false, true, false]);
        assert!(!fourth.reserved);
        drop(busy);
        let _fifth = connections.admit().await.unwrap();
        assert!(permits[0].closed.is_cancelled(), "it is the oldest, and idle now");
    }

    #[tokio::test(start_paused = true)]
    async fn next_connection_waits_until_the_closed_one_has_let_go() {
        let connections = Connections::new(1);
        let first = connections.admit().await.unwrap();
        let next = connections.admit();
        let mut next = std::pin::pin!(next);
        assert!(futures_util::poll!(next.as_mut()).is_pending());
        assert!(first.closed.is_cancelled());
        let begun = tokio::time::Instant::now();
        drop(first);
        assert!(!next.await.unwrap().reserved);
        assert_eq!(begun.elapsed(), Duration::ZERO);
    }

    #[tokio::test(start_paused = true)]
    async fn beyond_the_limit_a_few_are_let_in_for_health_alone() {
        let connections = Connections::new(2);
        let mut permits = Vec::new();
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
        let begun = tokio::time::Instant::now();
        connections.recover(&exhausted).await;
        assert!(idle.closed.is_cancelled() && connections.lock().spare.is_empty());
        assert_eq!(begun.elapsed(), Duration::ZERO);
        connections.recover(&exhausted).await;
        assert_eq!(begun.elapsed(), ACCEPT_PAUSE, "there is nothing left to give up");
        assert!(!connections.admit().await.unwrap().reserved);
        assert_eq!(connections.lock().spare.len(), SPARE);
    }
}
