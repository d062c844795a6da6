//! Work that blocks on the disk, away from the threads that serve requests.

use std::io;

/// Work that blocks on the disk.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other)
}
