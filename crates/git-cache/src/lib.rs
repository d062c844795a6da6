#![doc = include_str!("../README.md")]

mod cache;
mod repository;
mod watch_state;

pub use self::cache::GitCache;

use std::io;

use loopgate_tools::git::{GitError, UntraceableConfig};
use thiserror::Error;

#[derive(Debug, Error)]
enum WatchError {
    /// Changes could occur without an event.
    #[error("{0}")]
    Unsupported(&'static str),
    /// The repository changed while it was being opened.
    #[error("the repository changed while it was opened")]
    Changed,
    /// Git failed to report what has to be watched.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system returned an error, or a limit on watches is reached.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<UntraceableConfig> for WatchError {
    fn from(error: UntraceableConfig) -> Self {
        Self::Unsupported(error.reason())
    }
}

#[cfg(test)]
mod tests;
