//! Limits the number of open connections below the descriptor limit of the process, so that files, programs,
//! the control socket and liveness probes get descriptors even when clients hold connections. At the limit,
//! the oldest connection that is idle, or else that waits for its client, is closed to accept another.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs::File;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
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
    /// Limit for one client address; `None` where all clients have the same address.
    most_per_address: Option<usize>,
    /// Addresses of reverse proxies, which connect for many clients and limit them.
    proxies: Vec<IpAddr>,
    state: Mutex<OpenConnections>,
}

#[derive(Debug, Default)]
struct OpenConnections {
    /// Open connections by ascending id, thus ordered by acceptance.
    open: BTreeMap<u64, OpenConnection>,
    /// Number of open connections that are reserved.
    reserved: usize,
    /// Number of open connections by the client's network.
    by_network: HashMap<IpAddr, usize>,
    next: u64,
    spare: Vec<File>,
    /// Whether the process has run out of descriptors since the last accepted connection.
    exhausted: bool,
}

#[derive(Debug)]
struct OpenConnection {
    in_flight: InFlight,
    /// The client's network, if its connections are limited.
    network: Option<IpAddr>,
    reserved: bool,
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
        Arc::new(Self::limited(most, None, Vec::new()))
    }

    /// Creates a limit of `most` connections, half of which one client address may use, so that no single
    /// client can exclude all others. Does not limit the addresses of `proxies`.
    pub(crate) fn per_address(most: usize, proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self::limited(most, Some((most / 2).max(1)), proxies))
    }

    fn limited(most: usize, most_per_address: Option<usize>, proxies: Vec<IpAddr>) -> Self {
        let mut state = OpenConnections::default();
        state.refill();
        Self { most, most_per_address, proxies, state: Mutex::new(state) }
    }

    /// Returns a permit for an accepted connection from an address. The holder must drop the connection before
    /// the permit. When another connection is closed in exchange, waits for its descriptor, so that a burst of
    /// connections cannot exhaust all descriptors. Returns `None` when all connections are busy, including
    /// the reserved ones.
    pub(crate) async fn admit(self: &Arc<Self>, address: Option<IpAddr>) -> Option<ConnectionPermit> {
        let network = address.and_then(|address| self.limited_network(address));
        let replaced = {
            let mut state = self.lock();
            state.exhausted = false;
            state.refill();
            if !self.has_room_for(&state, network) {
                state.close_oldest(network)
            } else if !self.has_room(&state) {
                state.close_oldest(None)
            } else {
                None
            }
        };
        // Bounded: a connection task that is slow to end must not block the accept loop.
        if let Some(ended) = replaced {
            let _ = tokio::time::timeout(ACCEPT_PAUSE, ended.cancelled()).await;
        }
        // Connections may have ended while the lock was released.
        let mut state = self.lock();
        state.refill();
        let reserved = !(self.has_room(&state) && self.has_room_for(&state, network));
        if reserved && state.reserved >= RESERVED {
            return None;
        }
        let (in_flight, closed, ended) =
            (InFlight::default(), CancellationToken::new(), CancellationToken::new());
        let id = state.insert(OpenConnection {
            in_flight: in_flight.clone(),
            network,
            reserved,
            closed: closed.clone(),
            ended: ended.clone(),
        });
        Some(ConnectionPermit {
            connections: self.clone(),
            id,
            in_flight,
            closed,
            reserved,
            _ended: ended.drop_guard(),
        })
    }

    /// Returns the network whose connections are counted for an address: the address itself, or the /64 prefix
    /// of an IPv6 address, since a single client usually controls a whole /64.
    fn limited_network(&self, address: IpAddr) -> Option<IpAddr> {
        // An IPv4 client of a dual-stack listener appears as `::ffff:a.b.c.d`.
        let address = address.to_canonical();
        if self.most_per_address.is_none() || self.proxies.contains(&address) {
            return None;
        }
        Some(match address {
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
            }
            IpAddr::V4(_) => address,
        })
    }

    /// Returns when accepting may be retried after an error. When the process has run out of descriptors,
    /// releases the spare ones and closes the oldest idle connection.
    pub(crate) async fn recover(&self, error: &io::Error) {
        if is_exhausted(error) {
            let mut state = self.lock();
            // Once, not with each attempt to accept a connection.
            if !std::mem::replace(&mut state.exhausted, true) {
                tracing::warn!(%error, "out of file descriptors; closing idle connections");
            }
            if state.release_spares() {
                // Descriptors have been released, so accepting can continue at once.
                return;
            }
        } else {
            tracing::warn!(%error, "failed to accept a connection");
        }
        tokio::time::sleep(ACCEPT_PAUSE).await;
    }

    /// Whether a connection fits the limit and spare descriptors are left for its requests.
    fn has_room(&self, state: &OpenConnections) -> bool {
        state.open.len() - state.reserved < self.most && (SPARE == 0 || !state.spare.is_empty())
    }

    /// Whether a connection fits the limit of its client.
    fn has_room_for(&self, state: &OpenConnections, network: Option<IpAddr>) -> bool {
        let (Some(most), Some(network)) = (self.most_per_address, network) else { return true };
        state.by_network.get(&network).is_none_or(|open| *open < most)
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
        self.close_oldest(None);
        let had_spares = !self.spare.is_empty();
        self.spare.clear();
        had_spares
    }

    /// Adds a connection and returns its id.
    fn insert(&mut self, connection: OpenConnection) -> u64 {
        self.reserved += usize::from(connection.reserved);
        if let Some(network) = connection.network {
            *self.by_network.entry(network).or_default() += 1;
        }
        let id = self.next;
        self.next += 1;
        self.open.insert(id, connection);
        id
    }

    fn remove(&mut self, id: u64) -> Option<OpenConnection> {
        let connection = self.open.remove(&id)?;
        self.reserved -= usize::from(connection.reserved);
        if let Some(network) = connection.network
            && let Entry::Occupied(mut open) = self.by_network.entry(network)
        {
            *open.get_mut() -= 1;
            if *open.get() == 0 {
                open.remove();
            }
        }
        Some(connection)
    }

    /// Closes the oldest idle connection, or else the oldest one that waits for its client; with a network,
    /// one of its connections. Returns a token that is cancelled once the descriptor is closed.
    fn close_oldest(&mut self, network: Option<IpAddr>) -> Option<CancellationToken> {
        let find = |matches: fn(&InFlight) -> bool| {
            let candidates =
                self.open.iter().filter(|(_, open)| network.is_none() || open.network == network);
            candidates.filter(|(_, open)| matches(&open.in_flight)).map(|(id, _)| *id).next()
        };
        let id = find(InFlight::is_idle).or_else(|| find(InFlight::waits_for_client))?;
        let oldest = self.remove(id)?;
        oldest.closed.cancel();
        Some(oldest.ended)
    }
}

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.connections.lock().remove(self.id);
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
            permits.push(connections.admit(None).await.unwrap());
        }
        permits
    }

    #[tokio::test(start_paused = true)]
    async fn oldest_idle_connection_is_closed_and_busy_ones_stay_open() {
        let connections = Connections::new(3);
        let permits = admitted(&connections, 3).await;
        // The first connection is the oldest but busy, so the second one is closed.
        let busy = permits[0].in_flight.start();
        let fourth = connections.admit(None).await.unwrap();
        let closed: Vec<bool> = permits.iter().map(|permit| permit.closed.is_cancelled()).collect();
        assert_eq!(closed, [false, true, false]);
        assert!(!fourth.reserved);
        drop(busy);
        let _fifth = connections.admit(None).await.unwrap();
        assert!(permits[0].closed.is_cancelled(), "the oldest connection is idle now");
    }

    #[tokio::test(start_paused = true)]
    async fn admission_waits_for_the_descriptor_of_the_closed_connection() {
        let connections = Connections::new(1);
        let first = connections.admit(None).await.unwrap();
        let next = connections.admit(None);
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
            let permit = connections.admit(None).await.unwrap();
            permit.in_flight.start_endless();
            permits.push(permit);
        }
        assert!(permits.iter().enumerate().all(|(nth, permit)| permit.reserved == (nth >= 2)));
        assert!(connections.admit(None).await.is_none());
        drop(permits);
        assert!(!connections.admit(None).await.unwrap().reserved);
    }

    #[tokio::test(start_paused = true)]
    async fn connection_that_waits_for_its_client_is_closed_when_none_is_idle() {
        let connections = Connections::new(2);
        let permits = admitted(&connections, 2).await;
        let busy: Vec<_> = permits.iter().map(|permit| permit.in_flight.start()).collect();
        let _ = permits[1].in_flight.polled(std::task::Poll::<()>::Pending);
        let third = connections.admit(None).await.unwrap();
        assert!(!third.reserved && permits[1].closed.is_cancelled() && !permits[0].closed.is_cancelled());
        drop(busy);
    }

    #[tokio::test(start_paused = true)]
    async fn one_address_uses_at_most_half_of_the_connections() {
        let address = |text: &str| Some(text.parse().unwrap());
        let connections = Connections::per_address(4, vec!["10.0.0.1".parse().unwrap()]);
        let mut busy = Vec::new();
        let mut admit = async |from: &str| {
            let permit = connections.admit(address(from)).await?;
            permit.in_flight.start_endless();
            let reserved = permit.reserved;
            busy.push(permit);
            Some(reserved)
        };
        assert_eq!(admit("2001:db8::1").await, Some(false));
        assert_eq!(admit("2001:db8::2").await, Some(false));
        // The third connection of a /64 prefix gets one of the reserved slots, although others are free.
        assert_eq!(admit("2001:db8::3").await, Some(true));
        assert_eq!(admit("192.0.2.1").await, Some(false));
        assert_eq!(admit("10.0.0.1").await, Some(false));
        assert_eq!(admit("::ffff:10.0.0.1").await, Some(true), "all four are busy");
        drop(busy);
        let connections = Connections::per_address(4, vec!["10.0.0.1".parse().unwrap()]);
        let mut permits = Vec::new();
        for _ in 0..4 {
            permits.push(connections.admit(address("10.0.0.1")).await.unwrap());
        }
        assert!(permits.iter().all(|permit| !permit.reserved), "a reverse proxy is not limited");
        permits[0].in_flight.start_endless();
        let _mine = connections.admit(address("192.0.2.1")).await.unwrap();
        assert!(permits[1].closed.is_cancelled());
        drop(permits);
        let first = connections.admit(address("192.0.2.1")).await.unwrap();
        let _third = connections.admit(address("192.0.2.1")).await.unwrap();
        assert!(
            !first.closed.is_cancelled(),
            "the oldest connection of the address is closed, not a newer one"
        );
    }

    #[cfg(unix)]
    #[tokio::test(start_paused = true)]
    async fn spare_descriptors_are_released_and_reacquired() {
        let connections = Connections::new(2);
        let idle = connections.admit(None).await.unwrap();
        let exhausted = io::Error::from(rustix::io::Errno::MFILE);
        let started = tokio::time::Instant::now();
        connections.recover(&exhausted).await;
        assert!(idle.closed.is_cancelled() && connections.lock().spare.is_empty());
        assert_eq!(started.elapsed(), Duration::ZERO);
        // A second failure has no spare descriptors left to release, so it has to wait.
        connections.recover(&exhausted).await;
        assert_eq!(started.elapsed(), ACCEPT_PAUSE, "no spare descriptors are left");
        assert!(!connections.admit(None).await.unwrap().reserved);
        assert_eq!(connections.lock().spare.len(), SPARE);
    }
}
