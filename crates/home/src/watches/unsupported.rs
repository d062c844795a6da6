//! Platforms without a queue that is complete at the moment it is read: nothing can be watched.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::{EventsLost, WatchEvent, WatchId, WatchMask};

/// Cannot be constructed.
#[derive(Debug)]
pub struct Watches(Infallible);

impl Watches {
    /// Always fails.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Always `false`.
    ///
    /// # Errors
    /// None.
    pub fn are_complete_on(_: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn add(&self, _: &Path, _: WatchMask) -> io::Result<Option<WatchId>> {
        match self.0 {}
    }

    /// Never called.
    pub fn remove(&self, _: WatchId) {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn drain(&self, _: impl FnMut(WatchEvent<'_>)) -> Result<(), EventsLost> {
        match self.0 {}
    }
}
