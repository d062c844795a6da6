//! Handlers, one file a resource. Each declares its routes beside itself.

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

use crate::answer::Failure;

/// Runs work that blocks on the disk beside the request threads.
async fn on_disk<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, Failure> {
    tokio::task::spawn_blocking(work).await.map_err(|_| Failure::internal())
}
