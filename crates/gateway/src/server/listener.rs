//! The listener on 127.0.0.1: binds the first free port, spawns a task per connection, reopens a lost
//! listener, and shuts down without leaving tasks behind.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use loopgate_files::RunDir;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::connection::{self, ConnectionServer, ShutdownTokens};
use super::connections::{self, Connections};
use super::discovery::DiscoveryFile;
use super::state::ServerState;
#[cfg(unix)]
use crate::control::{Control, ControlSocket};

/// Initial and maximum delay between attempts to reopen the listener.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// Delay of the first removal of old run viewer data after the start, and interval of further ones.
const FIRST_REMOVAL: Duration = Duration::from_secs(2);
const REMOVAL_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Why no port could be bound.
#[derive(Debug, Error)]
pub enum BindError {
    /// Every candidate port is in use.
    #[error("failed to bind gateway server to any candidate port ({}): {source}", list(ports))]
    AllTaken {
        /// Candidate ports in the order of the attempts.
        ports: Vec<u16>,
        /// Error of the last attempt.
        source: io::Error,
    },
    /// Binding failed for a reason other than a port in use.
    #[error("failed to bind gateway server to port {port}: {source}")]
    Refused { port: u16, source: io::Error },
    /// The list of candidate ports was empty.
    #[error("no candidate port was given for the gateway server")]
    NoPort,
}

fn list(ports: &[u16]) -> String {
    ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A gateway with a bound port that is not serving yet.
pub struct BoundGateway {
    state: Arc<ServerState>,
    listener: TcpListener,
    port: u16,
    /// Ports for reopening the listener, in order of preference.
    candidates: Vec<u16>,
    discovery: Option<DiscoveryFile>,
}

impl BoundGateway {
    pub(crate) async fn bind(state: Arc<ServerState>, ports: &[u16]) -> Result<Self, BindError> {
        let (listener, port) = first_free(ports).await?;
        let discovery = announce(&state, port).await;
        // For port 0, the bound port is preferred when reopening: clients know it already.
        let candidates =
            ports.iter().flat_map(|&candidate| if candidate == 0 { vec![port, 0] } else { vec![candidate] });
        Ok(Self { candidates: candidates.collect(), state, listener, port, discovery })
    }

    /// Returns the bound port.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `shutdown` resolves. Then stops accepting, lets responses in flight finish within the
    /// grace period, and closes all connections forcibly, including streams.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { state, listener, mut discovery, candidates, .. } = self;
        let connections = TaskTracker::new();
        let shutdown_signal = ShutdownTokens::default();
        let server = ConnectionServer {
            state: state.clone(),
            protocol: Arc::new(connection::protocol(state.pipeline.config.limits.header_timeout)),
            shutdown: shutdown_signal.clone(),
        };
        #[cfg(unix)]
        serve_control(&state, &connections, &shutdown_signal);
        let background_tasks = [
            AbortOnDropHandle::new(tokio::spawn(state.pipeline.activity.clone().persist_changes())),
            AbortOnDropHandle::new(tokio::spawn(remove_old_runs())),
        ];
        {
            let permits = Connections::new(state.pipeline.config.limits.connections);
            let serve = |stream, peer, permit| {
                connections.spawn(server.clone().serve(stream, peer, permit));
            };
            let listening = keep_listening(&state, listener, &candidates, &mut discovery, &permits, serve);
            let (shutdown, listening) = (pin!(shutdown), pin!(listening));
            // Leaving the block drops the listener, so the port is free before connections are drained.
            futures_util::future::select(shutdown, listening).await;
        }
        connections.close();
        shutdown_signal.graceful.cancel();
        if tokio::time::timeout(state.pipeline.config.limits.stop_grace, connections.wait()).await.is_err() {
            shutdown_signal.forced.cancel();
            connections.wait().await;
        }
        // Stops the periodic writer before the final write.
        drop(background_tasks);
        // After the last connection ended, so that the file contains every request.
        state.pipeline.activity.clone().write().await;
        if let Some(discovery) = discovery {
            discovery.withdraw().await;
        }
    }
}

#[cfg(test)]
impl BoundGateway {
    /// Shuts down the listening socket without the listener's knowledge.
    pub(crate) fn shut_down_socket_for_test(&self) {
        use std::os::fd::AsFd as _;
        let socket = self.listener.as_fd().try_clone_to_owned().unwrap();
        std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both).unwrap();
    }
}

/// Removes old run viewer data, shortly after the start and then daily. Delayed so as not to slow the start
/// down.
async fn remove_old_runs() {
    let mut days = tokio::time::interval_at(Instant::now() + FIRST_REMOVAL, REMOVAL_INTERVAL);
    loop {
        days.tick().await;
        if tokio::task::spawn_blocking(RunDir::remove_stale).await.is_err() {
            return;
        }
    }
}

/// Publishes the port to the pipeline and in the discovery file.
async fn announce(state: &ServerState, port: u16) -> Option<DiscoveryFile> {
    state.pipeline.set_port(port);
    DiscoveryFile::announce(state.pipeline.config.state_dir.clone()?, port).await
}

/// Whether the listening socket itself is unusable. Other errors concern a single connection or are
/// transient.
fn is_lost(error: &io::Error) -> bool {
    // EBADF and EINVAL: the socket is closed or no longer listening.
    const BAD_DESCRIPTOR: i32 = 9;
    error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == Some(BAD_DESCRIPTOR)
}

/// Accepts connections and reopens the listener when it is lost. Never returns.
async fn keep_listening(
    state: &ServerState,
    mut listener: TcpListener,
    candidates: &[u16],
    discovery: &mut Option<DiscoveryFile>,
    permits: &Arc<Connections>,
    mut serve: impl FnMut(TcpStream, SocketAddr, connections::ConnectionPermit),
) {
    loop {
        let reason = tokio::select! {
            error = accept(&listener, permits, &mut serve) => format!("the listener was lost: {error}"),
            () = state.health.unreachable() => "liveness probe timed out or failed".to_owned(),
        };
        // Releases the port before it is bound again.
        drop(listener);
        tracing::error!(reason, "listener lost");
        state.health.recovering(reason);
        let port;
        (listener, port) = reopen(candidates).await;
        *discovery = announce(state, port).await;
        state.health.recovered();
        tracing::warn!(port, "listener reopened");
    }
}

/// Accepts connections until the listener is lost.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Connections>,
    serve: &mut impl FnMut(TcpStream, SocketAddr, connections::ConnectionPermit),
) -> io::Error {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Some(permit) = permits.admit(None).await {
                    serve(stream, peer, permit);
                }
            }
            Err(error) if is_lost(&error) => return error,
            Err(error) => permits.recover(&error).await,
        }
    }
}

/// Binds a candidate port, with exponential backoff between attempts.
async fn reopen(candidates: &[u16]) -> (TcpListener, u16) {
    let mut pause = FIRST_RETRY;
    loop {
        match first_free(candidates).await {
            Ok(opened) => return opened,
            Err(error) => tracing::error!(%error, ?pause, "failed to reopen the listener, retrying"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_RETRY);
    }
}

/// Serves the control socket alongside the listener.
#[cfg(unix)]
fn serve_control(state: &ServerState, tasks: &TaskTracker, shutdown: &ShutdownTokens) {
    let control = Control {
        approvals: state.pipeline.approvals.clone(),
        activity: state.pipeline.activity.clone(),
        sign_in: state.sign_in.get().cloned(),
        runtime: state.pipeline.config.runtime.clone(),
        app: state.pipeline.app.clone(),
    };
    if let Some(socket) = ControlSocket::bind(&state.pipeline.config.data_dir) {
        tasks.spawn(socket.serve(control, shutdown.graceful.clone()));
    }
}

/// Binds the first free port. Only `AddrInUse` falls through to the next candidate.
async fn first_free(ports: &[u16]) -> Result<(TcpListener, u16), BindError> {
    let mut last = None;
    for &port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => {
                let bound = listener.local_addr().map_err(|source| BindError::Refused { port, source })?;
                return Ok((listener, bound.port()));
            }
            Err(source) if source.kind() == io::ErrorKind::AddrInUse => last = Some(source),
            Err(source) => return Err(BindError::Refused { port, source }),
        }
    }
    let source = last.ok_or(BindError::NoPort)?;
    Err(BindError::AllTaken { ports: ports.to_vec(), source })
}
