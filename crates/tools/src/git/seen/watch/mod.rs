//! Hearing of changes in directories.
//!
//! Changes are taken when a question comes. On Linux the kernel queues a change before the call that
//! made it returns, so that silence at that moment means that nothing has changed.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsString;
use std::path::PathBuf;

#[cfg(not(target_os = "linux"))]
pub(super) use self::elsewhere::Watch;
#[cfg(target_os = "linux")]
pub(super) use self::linux::Watch;

/// Which of the directories that belong to a repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Part {
    /// The working tree.
    Tree,
    /// The records of this working tree alone.
    Own,
    /// The records that all working trees share.
    Common,
}

/// A watched directory: its part, and its path in there.
pub(super) type Place = (Part, PathBuf);

/// Something that happened to an entry of a watched directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) place: Place,
    pub(super) name: OsString,
    pub(super) what: What,
    /// Whether the entry is a directory.
    pub(super) directory: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// It has this name now.
    Came,
    /// It is no more.
    Deleted,
    /// It has another name, here or elsewhere.
    MovedAway,
    /// Its content or its mode may be another.
    Changed,
}

/// Silence does not mean anything any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Deaf;
