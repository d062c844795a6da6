//! Runs blocking work outside of the threads that serve requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::HttpError;

/// Runs blocking work on tokio's blocking pool.
///
/// # Errors
/// Fails with a 500 when the work panics.
pub(crate) async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| HttpError::internal())
}

/// Limits how many operations of one expensive kind run at once. Further ones wait in FIFO order, which
/// leaves processor time for cheap requests.
#[derive(Clone)]
pub(crate) struct Limiter(Arc<Semaphore>);

impl Limiter {
    /// Creates a limiter with one permit per processor.
    pub(crate) fn one_per_processor() -> Self {
        Self(Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from))))
    }

    /// Waits for a permit. Dropping it releases it.
    pub(crate) async fn acquire(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        self.0.clone().acquire_owned().await.map_err(|_| HttpError::internal())
    }

    /// Runs blocking work like [`spawn_blocking`] and holds a permit until the work finishes. Cancelling the
    /// future does not release the permit early, because tokio cannot cancel blocking work.
    pub(crate) async fn spawn_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, HttpError> {
        let permit = self.acquire().await?;
        spawn_blocking(move || {
            let _permit = permit;
            work()
        })
        .await
    }
}
