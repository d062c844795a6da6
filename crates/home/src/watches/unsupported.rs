//! Platforms without an event queue that is complete when it is read: watching is unsupported.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::{EventsLost, WatchEvent, WatchId, WatchLimits, WatchMask};

/// Uninhabited: [`Watches::new`] always fails.
#[derive(Debug)]
pub struct Watches(Infallible);

impl Watches {
    /// Fails on this platform.
    ///
    /// # Errors
    /// Always fails with `Unsupported`.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Returns that there are no watches on this platform.
    #[must_use]
    pub fn limits() -> WatchLimits {
        WatchLimits { watches: 0, instances: 0 }
    }

    /// Returns `false`: this platform has no watches, and no limits of them.
    #[must_use]
    pub fn is_limit_reached(_: &io::Error) -> bool {
        false
    }

    /// Returns `false` on this platform.
    ///
    /// # Errors
    /// Never fails.
    pub fn are_complete_on(_: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Unreachable: there are no values.
    ///
    /// # Errors
    /// Never fails.
    pub fn add(&self, _: &Path, _: WatchMask) -> io::Result<Option<WatchId>> {
        match self.0 {}
    }

    /// Unreachable: there are no values.
    pub fn remove(&self, _: WatchId) {
        match self.0 {}
    }

    /// Unreachable: there are no values.
    ///
    /// # Errors
    /// Never fails.
    pub fn drain(&self, _: impl FnMut(WatchEvent<'_>)) -> Result<(), EventsLost> {
        match self.0 {}
    }
}
