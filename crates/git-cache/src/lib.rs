#![doc = include_str!("../README.md")]

mod cache;
mod external_files;
mod repository;
mod watch_state;

pub use self::cache::GitCache;

use std::io;

use loopgate_tools::git::GitError;
use thiserror::Error;

/// Why a repository is not cached.
#[derive(Debug, Error)]
enum WatchError {
    /// Something in it could change without an event.
    #[error("{0}")]
    Unsupported(&'static str),
    /// It changed while it was opened.
    #[error("it changed while it was opened")]
    Changed,
    /// Git did not say what there is to watch.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system, or the limit of watches.
    #[error(transparent)]
    Io(#[from] io::Error),
}

#[cfg(test)]
mod tests;
