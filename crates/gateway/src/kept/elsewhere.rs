//! Where the kernel does not tell of a change before the call that made it returns.

use std::path::Path;

use super::sources::Interest;
use super::{Changes, Number};

/// Never there.
#[derive(Debug)]
pub(super) enum Watches {}

impl Watches {
    pub(super) fn new() -> Option<Self> {
        None
    }

    pub(super) fn add(&mut self, _: &Path, _: &Interest, _: Number) -> bool {
        match *self {}
    }

    pub(super) fn remove(&mut self, _: Number) {
        match *self {}
    }

    pub(super) fn changes(&mut self) -> Changes {
        match *self {}
    }
}
