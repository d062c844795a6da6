//! Work that blocks, away from the threads that serve requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::HttpError;

/// Runs work that blocks on the disk beside the request threads.
///
/// # Errors
/// 500 when it panics.
pub(crate) async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, HttpError> {
    tokio::task::spawn_blocking(work).await.map_err(|_| HttpError::internal())
}

/// How many of one heavy kind of work go on at once. The others wait, first come, first served, and
/// leave the processors to lighter ones.
#[derive(Clone)]
pub(crate) struct Limiter(Arc<Semaphore>);

impl Limiter {
    /// One permit for each processor.
    pub(crate) fn one_per_processor() -> Self {
        Self(Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from))))
    }

    /// Waits for a permit, which is held until it is dropped.
    pub(crate) async fn acquire(&self) -> Result<OwnedSemaphorePermit, HttpError> {
        self.0.clone().acquire_owned().await.map_err(|_| HttpError::internal())
    }

    /// As [`spawn_blocking`], with a permit that is held until the work is done, also when nobody waits
    /// for it any more.
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
