//! Handlers, one file a resource. Each declares its routes beside itself.

pub(crate) mod approvals;
pub(crate) mod binary_paths;
pub(crate) mod exchange;
pub(crate) mod files;
pub(crate) mod git;
pub(crate) mod health;
pub(crate) mod health_check;
pub(crate) mod mcp_auth;
pub(crate) mod openapi;
pub(crate) mod orchestrator;
#[cfg(test)]
pub(crate) mod panicking;
pub(crate) mod pulls;
pub(crate) mod repos;
pub(crate) mod version;

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::answer::Failure;

/// How many of one heavy kind of work go on at once; the others wait for their turn, the first one
/// first, and leave the processors to lighter ones.
#[derive(Clone)]
pub(crate) struct Turns(Arc<Semaphore>);

impl Turns {
    /// One for each processor.
    pub(crate) fn one_a_processor() -> Self {
        Self(Arc::new(Semaphore::new(std::thread::available_parallelism().map_or(1, usize::from))))
    }

    /// Waits for a turn, which lasts until it is dropped.
    pub(crate) async fn wait(&self) -> Result<OwnedSemaphorePermit, Failure> {
        self.0.clone().acquire_owned().await.map_err(|_| Failure::internal())
    }
}

/// As [`on_disk`], when it is its turn.
async fn in_turn<T: Send + 'static>(
    turns: &Turns,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    let turn = turns.wait().await?;
    on_disk(move || {
        // Held until the work is done, also when nobody waits for it any more.
        let _turn = turn;
        work()
    })
    .await
}

/// Runs work that blocks on the disk beside the request threads.
pub(crate) async fn on_disk<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Failure::internal())
}
