//! The listener on 127.0.0.1: binding with fallbacks, one task a connection, another listener when
//! one is lost, and a stop that leaves nothing behind.

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

/// Pauses between attempts to listen again: the first, and the longest.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
/// Time after the start when old runs of the run viewer are removed first, and between two times.
const FIRST_REMOVAL: Duration = Duration::from_secs(2);
const REMOVAL_INTERVAL: Duration = Duration::from_secs(24 * 60 * 60);

/// Why nothing listens.
#[derive(Debug, Error)]
pub enum BindError {
    /// Every candidate is taken.
    #[error("failed to bind gateway server to any candidate port ({}): {source}", list(ports))]
    AllTaken {
        /// The candidates.
        ports: Vec<u16>,
        /// What the system said about the last one.
        source: io::Error,
    },
    /// The system refused for another reason than a taken port.
    #[error("failed to bind gateway server to port {port}: {source}")]
    Refused {
        /// The port.
        port: u16,
        /// What the system said.
        source: io::Error,
    },
    /// No candidate was named.
    #[error("no port was named for the gateway server")]
    NoPort,
}

fn list(ports: &[u16]) -> String {
    ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// A gateway that holds its port and is not serving yet.
pub struct BoundGateway {
    state: Arc<ServerState>,
    listener: TcpListener,
    port: u16,
    /// Where it may listen, in order of preference.
    candidates: Vec<u16>,
    discovery: Option<DiscoveryFile>,
}

impl BoundGateway {
    pub(crate) async fn bind(state: Arc<ServerState>, ports: &[u16]) -> Result<Self, BindError> {
        let (listener, port) = first_free(ports).await?;
        let discovery = announce(&state, port).await;
        // Where any port will do, the one that was taken is as good as any, and known.
        let candidates =
            ports.iter().flat_map(|&wanted| if wanted == 0 { vec![port, 0] } else { vec![wanted] });
        Ok(Self { candidates: candidates.collect(), state, listener, port, discovery })
    }

    /// The port that is really held.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `shutdown` ends. Then nothing new is accepted, answers on their way have a
    /// short grace, and every connection is closed by force, streams too.
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
        let keepers = [
            AbortOnDropHandle::new(tokio::spawn(state.pipeline.activity.clone().keep_written())),
            AbortOnDropHandle::new(tokio::spawn(remove_old_runs())),
        ];
        {
            let permits = Connections::new(state.pipeline.config.limits.connections);
            let serve = |stream, peer, permit| {
                connections.spawn(server.clone().serve(stream, peer, permit));
            };
            let listening = keep_listening(&state, listener, &candidates, &mut discovery, &permits, serve);
            let (shutdown, listening) = (pin!(shutdown), pin!(listening));
            futures_util::future::select(shutdown, listening).await;
        }
        connections.close();
        shutdown_signal.graceful.cancel();
        if tokio::time::timeout(state.pipeline.config.limits.stop_grace, connections.wait()).await.is_err() {
            shutdown_signal.forced.cancel();
            connections.wait().await;
        }
        drop(keepers);
        state.pipeline.activity.clone().write().await;
        if let Some(discovery) = discovery {
            discovery.withdraw().await;
        }
    }
}

#[cfg(test)]
impl BoundGateway {
    /// Ends the listening socket behind the listener's back.
    pub(crate) fn lose_for_test(&self) {
        use std::os::fd::AsFd as _;
        let socket = self.listener.as_fd().try_clone_to_owned().unwrap();
        std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both).unwrap();
    }
}

/// Removes old runs: a little after the start, which has other things to do, and then every day.
async fn remove_old_runs() {
    let mut days = tokio::time::interval_at(Instant::now() + FIRST_REMOVAL, REMOVAL_INTERVAL);
    loop {
        days.tick().await;
        if tokio::task::spawn_blocking(RunDir::remove_stale).await.is_err() {
            return;
        }
    }
}

/// Writes the port to the discovery file.
async fn announce(state: &ServerState, port: u16) -> Option<DiscoveryFile> {
    state.pipeline.set_port(port);
    DiscoveryFile::announce(state.pipeline.config.state_dir.clone()?, port).await
}

/// Whether the socket itself has ended; everything else is the trouble of one connection, or passes.
fn is_lost(error: &io::Error) -> bool {
    const BAD_DESCRIPTOR: i32 = 9;
    error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == Some(BAD_DESCRIPTOR)
}

/// Hands on what connects, and opens another listener in the place of one that is lost. Does not
/// end by itself.
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
            () = state.health.unreachable() => "it did not answer itself".to_owned(),
        };
        drop(listener);
        tracing::error!(reason, "the gateway listens no more");
        state.health.recovering(reason);
        let port;
        (listener, port) = reopen(candidates).await;
        *discovery = announce(state, port).await;
        state.health.recovered();
        tracing::warn!(port, "the gateway listens again");
    }
}

/// Hands on what connects, until the listener is lost.
async fn accept(
    listener: &TcpListener,
    permits: &Arc<Connections>,
    serve: &mut impl FnMut(TcpStream, SocketAddr, connections::ConnectionPermit),
) -> io::Error {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Some(permit) = permits.admit().await {
                    serve(stream, peer, permit);
                }
            }
            Err(error) if is_lost(&error) => return error,
            Err(error) => permits.recover(&error).await,
        }
    }
}

/// Tries, at growing distances, until a port is held; answers which.
async fn reopen(candidates: &[u16]) -> (TcpListener, u16) {
    let mut pause = FIRST_RETRY;
    loop {
        match first_free(candidates).await {
            Ok(opened) => return opened,
            Err(error) => tracing::error!(%error, ?pause, "the gateway cannot listen; it is tried again"),
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_RETRY);
    }
}

/// Opens the owner's socket beside the listener.
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

/// Only a taken port moves on to the next candidate.
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
