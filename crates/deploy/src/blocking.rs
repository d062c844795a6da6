//! File access outside the async worker threads.

use std::io;

/// Runs blocking work on tokio's blocking pool. Fails when the work panics or the runtime shuts down.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
