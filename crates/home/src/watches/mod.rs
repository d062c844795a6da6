//! Hearing of changes in directories and files.
//!
//! Changes are taken when a question comes, on the thread that answers it. On Linux the kernel
//! queues a change before the call that made it returns, so that silence at that moment means that
//! nothing has changed; a thread that forwards events could only promise "soon". Elsewhere there is
//! no such queue, and no watch can be had. What a change means, only its taker knows.

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

use std::ffi::OsStr;

#[cfg(not(target_os = "linux"))]
pub use self::elsewhere::Watches;
#[cfg(target_os = "linux")]
pub use self::linux::Watches;

/// One watch. Another one never has the same number in one queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WatchId(i32);

/// What is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hear {
    /// Of a directory, which names come and go in it.
    Names,
    /// Of a directory, everything that happens to its entries. The end of a writing is heard because
    /// writing through memory is not.
    Everything,
    /// Of a file, that it was written.
    Writing,
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event<'a> {
    /// Where it was heard.
    pub watch: WatchId,
    /// The entry of the directory to which it happened; absent when that is the watched place.
    pub name: Option<&'a OsStr>,
    /// What it was.
    pub what: What,
    /// Whether the entry is a directory.
    pub directory: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// The entry has this name now.
    Came,
    /// The entry is no more.
    Deleted,
    /// The entry has another name, here or elsewhere.
    MovedAway,
    /// Content or mode may be another, or the watched place is no longer where it was.
    Changed,
    /// The watch has ended with what was watched.
    Ended,
}

/// Silence does not mean anything any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deaf;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
