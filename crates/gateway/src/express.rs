//! A thread of its own for connections on which somebody asks whether the gateway lives.
//!
//! The threads that do the work share the processors with those who ask for it, and wait for whole
//! turns of theirs. This one sleeps nearly always, so the system lets it run as soon as somebody
//! asks. What else comes on such a connection is worked on where all work is.

use std::io;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tokio::net::TcpStream;
use tokio::runtime::{Builder, Handle};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::{CancellationToken, DropGuard};

/// How a request begins whose connection is served here.
const HEALTH: &[u8] = b"GET /health ";
/// Connections that are served here at once. A crowd of them is work, and goes where all work goes.
const MOST: usize = 4;

/// The thread. It ends when this is dropped.
pub(crate) struct Express {
    handle: Handle,
    /// Connections that it may still take.
    pub(crate) places: Arc<Semaphore>,
    _stop: DropGuard,
}

impl Express {
    /// Starts the thread.
    pub(crate) fn start() -> io::Result<Self> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (handle, stop) = (runtime.handle().clone(), CancellationToken::new());
        let stopped = stop.clone();
        let run = move || {
            #[cfg(all(target_os = "linux", target_env = "gnu"))]
            ask_for_short_turns();
            runtime.block_on(stopped.cancelled());
        };
        thread::Builder::new().name("health".to_owned()).spawn(run)?;
        Ok(Self { handle, places: Arc::new(Semaphore::new(MOST)), _stop: stop.drop_guard() })
    }

    /// Where its tasks run.
    pub(crate) const fn handle(&self) -> &Handle {
        &self.handle
    }

    /// A place for one connection, while there is one.
    pub(crate) fn place(&self) -> Option<OwnedSemaphorePermit> {
        self.places.clone().try_acquire_owned().ok()
    }
}

/// Has the present thread run in the shortest turns that the kernel gives. It gets no more of a
/// processor by that, but since Linux 6.12 it gets it sooner: at once, when what runs there has longer
/// turns. An older kernel leaves everything as it is.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn ask_for_short_turns() {
    const NANOSECONDS: u64 = 100_000;
    let Ok(nice) = rustix::process::getpriority_process(None) else { return };
    let attributes = libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: libc::SCHED_FLAG_RESET_ON_FORK as u64,
        sched_nice: nice,
        sched_priority: 0,
        sched_runtime: NANOSECONDS,
        sched_deadline: 0,
        sched_period: 0,
    };
    #[expect(unsafe_code, reason = "the C library has no function for it")]
    // SAFETY: the kernel reads `size` bytes behind the pointer, and those are there.
    unsafe {
        libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0);
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

#[cfg(test)]
mod tests {
    use tokio::sync::oneshot;

    use super::*;

    #[tokio::test]
    async fn the_thread_ends_with_its_owner() {
        let express = Express::start().unwrap();
        let (held, ended) = oneshot::channel::<()>();
        express.handle().spawn(async {
            std::future::pending::<()>().await;
            drop(held);
        });
        drop(express);
        // What the thread still had was dropped with it.
        tokio::time::timeout(Duration::from_secs(20), ended).await.unwrap().unwrap_err();
    }
}
