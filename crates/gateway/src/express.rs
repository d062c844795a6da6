//! A thread of its own for connections on which somebody asks whether the gateway lives.
//!
//! The threads that do the work share the processors with those who ask for it, and wait for whole
//! turns of theirs. This one sleeps nearly always, so the system lets it run as soon as somebody
//! asks. What else comes on such a connection is worked on where all work is.

use std::io;
use std::thread;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How a request begins whose connection is served here.
const HEALTH: &[u8] = b"GET /health ";

/// The thread. It ends when this is dropped.
pub(crate) struct Express {
    handle: Handle,
    _stop: DropGuard,
}

impl Express {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, stop) = (runtime.handle().clone(), CancellationToken::new());
        let stopped = stop.clone();
        let run = move || runtime.block_on(stopped.cancelled());
        thread::Builder::new().name("health".to_owned()).spawn(run)?;
        Ok(Self { handle, _stop: stop.drop_guard() })
    }

    /// Where its tasks run.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }
}

/// Whether the first request of a connection is for `/health`. `None` when none begins in time.
pub(crate) async fn asks_for_health(stream: &TcpStream, within: Duration) -> Option<bool> {
    let mut start = [0; HEALTH.len()];
    let read = tokio::time::timeout(within, stream.peek(&mut start)).await.ok()?;
    Some(read.is_ok_and(|read| start[..read] == *HEALTH))
}

/// The same connection, for the runtime from which this is called.
pub(crate) fn moved(stream: TcpStream) -> io::Result<TcpStream> {
    TcpStream::from_std(stream.into_std()?)
}
