//! Where changes cannot be taken at the moment of a question, nothing is watched.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::{Deaf, Event, Hear, WatchId};

/// There are none.
#[derive(Debug)]
pub struct Watches(Infallible);

impl Watches {
    /// Never.
    ///
    /// # Errors
    /// Always `Unsupported`.
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Whether everything that changes below a directory can be heard.
    ///
    /// # Errors
    /// None.
    pub fn hear_all_on(_: &Path) -> io::Result<bool> {
        Ok(false)
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn begin(&self, _: &Path, _: Hear) -> io::Result<Option<WatchId>> {
        match self.0 {}
    }

    /// Never called.
    pub fn end(&self, _: WatchId) {
        match self.0 {}
    }

    /// Never called.
    #[must_use]
    pub fn are_silent(&self) -> bool {
        match self.0 {}
    }

    /// Never called.
    ///
    /// # Errors
    /// None.
    pub fn take(&self, _: impl FnMut(Event<'_>)) -> Result<(), Deaf> {
        match self.0 {}
    }
}
