//! Where changes cannot be taken at the moment of a question, nothing is watched.

use std::convert::Infallible;
use std::io;
use std::path::Path;

use super::{Deaf, Event, Part};

/// There is none.
#[derive(Debug)]
pub(in crate::git::seen) struct Watch(Infallible);

impl Watch {
    pub(in crate::git::seen) fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub(in crate::git::seen) fn hears_on(_: &Path) -> io::Result<bool> {
        Ok(false)
    }

    pub(in crate::git::seen) fn add(&mut self, _: Part, _: &Path, _: &Path) -> io::Result<bool> {
        match self.0 {}
    }

    pub(in crate::git::seen) fn remove(&mut self, _: Part, _: &Path) {
        match self.0 {}
    }

    pub(in crate::git::seen) fn len(&self) -> usize {
        match self.0 {}
    }

    pub(in crate::git::seen) fn take(&mut self) -> Result<Vec<Event>, Deaf> {
        match self.0 {}
    }
}
