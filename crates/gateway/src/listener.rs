//! The listener on 127.0.0.1: binding with fallbacks, one task a connection, another listener when
//! one is lost, and a stop that leaves nothing behind.

use std::future::Future;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use crate::connection::{self, Serving, Stop};
use crate::connections::{self, Connections};
#[cfg(unix)]
use crate::control::{Control, ControlSocket};
use crate::discovery::DiscoveryFile;
use crate::gateway::Inner;
use crate::routes::files::run_viewer;

/// Pauses between two tries to listen anew: the first, and the longest that they grow to.
const FIRST_RETRY: Duration = Duration::from_millis(100);
const LONGEST_RETRY: Duration = Duration::from_secs(10);
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
pub struct Bound {
    inner: Arc<Inner>,
    listener: TcpListener,
    port: u16,
    /// Where it may listen, in order of preference.
    candidates: Vec<u16>,
    discovery: Option<DiscoveryFile>,
}

impl Bound {
    pub(crate) async fn bind(inner: Arc<Inner>, ports: &[u16]) -> Result<Self, BindError> {
        let (listener, port) = first_free(ports).await?;
        let discovery = announce(&inner, port).await;
        // Where any port will do, the one that was taken is as good as any, and known.
        let candidates =
            ports.iter().flat_map(|&wanted| if wanted == 0 { vec![port, 0] } else { vec![wanted] });
        Ok(Self { candidates: candidates.collect(), inner, listener, port, discovery })
    }

    /// The port that is really held.
    #[must_use]
    pub const fn port(&self) -> u16 {
        self.port
    }

    /// Serves until `shutdown` ends. Then nothing new is accepted, answers on their way have a
    /// short grace, and every connection is closed by force, streams too.
    pub async fn serve(self, shutdown: impl Future<Output = ()>) {
        let Self { inner, listener, mut discovery, candidates, .. } = self;
        let connections = TaskTracker::new();
        let stop = Stop::default();
        let serving = Serving {
            inner: inner.clone(),
            protocol: Arc::new(connection::protocol(inner.config.limits.header_timeout)),
            stop: stop.clone(),
        };
        #[cfg(unix)]
        serve_control(&inner, &connections, &stop);
        let keepers = [
            AbortOnDropHandle::new(tokio::spawn(inner.activity.clone().keep())),
            AbortOnDropHandle::new(tokio::spawn(run_viewer::keep_swept())),
        ];
        {
            let places = Connections::new(inner.config.limits.connections);
            let serve = |stream, peer, place| {
                connections.spawn(serving.clone().serve(stream, peer, place));
            };
            let listening = keep_listening(&inner, listener, &candidates, &mut discovery, &places, serve);
            let (shutdown, listening) = (pin!(shutdown), pin!(listening));
            futures_util::future::select(shutdown, listening).await;
        }
        connections.close();
        stop.gently.cancel();
        if tokio::time::timeout(inner.config.limits.stop_grace, connections.wait()).await.is_err() {
            stop.by_force.cancel();
            connections.wait().await;
        }
        drop(keepers);
        inner.activity.clone().write().await;
        if let Some(discovery) = discovery {
            discovery.withdraw().await;
        }
    }
}

#[cfg(test)]
impl Bound {
    /// Ends the listening socket behind the listener's back.
    pub(crate) fn lose_for_test(&self) {
        use std::os::fd::AsFd as _;
        let socket = self.listener.as_fd().try_clone_to_owned().unwrap();
        std::net::TcpStream::from(socket).shutdown(std::net::Shutdown::Both).unwrap();
    }
}

/// Tells everybody who looks which port is held.
async fn announce(inner: &Inner, port: u16) -> Option<DiscoveryFile> {
    inner.set_port(port);
    DiscoveryFile::announce(inner.config.state_dir.clone()?, port).await
}

/// Whether the socket itself has ended; everything else is the trouble of one connection, or passes.
fn is_lost(error: &io::Error) -> bool {
    const BAD_DESCRIPTOR: i32 = 9;
    error.kind() == io::ErrorKind::InvalidInput || error.raw_os_error() == Some(BAD_DESCRIPTOR)
}

/// Hands on what connects, and opens another listener in the place of one that is lost. Does not
/// end by itself.
async fn keep_listening(
    inner: &Inner,
    mut listener: TcpListener,
    candidates: &[u16],
    discovery: &mut Option<DiscoveryFile>,
    places: &Arc<Connections>,
    mut serve: impl FnMut(TcpStream, SocketAddr, connections::Place),
) {
    loop {
        let reason = tokio::select! {
            error = accept(&listener, places, &mut serve) => format!("the listener was lost: {error}"),
            () = inner.health.doubted() => "it did not answer itself".to_owned(),
        };
        drop(listener);
        tracing::error!(reason, "the gateway listens no more");
        inner.health.recovering(reason);
        let port;
        (listener, port) = reopen(candidates).await;
        *discovery = announce(inner, port).await;
        inner.health.recovered();
        tracing::warn!(port, "the gateway listens again");
    }
}

/// Hands on what connects, until the listener is lost.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Connections>,
    serve: &mut impl FnMut(TcpStream, SocketAddr, connections::Place),
) -> io::Error {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                if let Some(place) = places.admit() {
                    serve(stream, peer, place);
                }
            }
            Err(error) if is_lost(&error) => return error,
            Err(error) => places.recover(&error).await,
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
fn serve_control(inner: &Inner, tasks: &TaskTracker, stop: &Stop) {
    let control = Control {
        approvals: inner.approvals.clone(),
        activity: inner.activity.clone(),
        sign_in: inner.sign_in.get().cloned(),
        runtime: inner.config.runtime.clone(),
        app: inner.app.clone(),
    };
    if let Some(socket) = ControlSocket::bind(&inner.config.data_dir) {
        tasks.spawn(socket.serve(control, stop.gently.clone()));
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
