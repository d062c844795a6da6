//! File-change events of directories and files.
//!
//! Events are read by whoever is about to use a cached result, on its own thread. On Linux the kernel
//! queues an event before the system call that caused it returns, so an empty queue means that nothing
//! has changed; a thread that forwards events could only promise "soon". Elsewhere there is no such
//! queue, and [`Watches::new`] fails.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::ffi::OsStr;

#[cfg(target_os = "linux")]
pub use self::linux::Watches;
#[cfg(not(target_os = "linux"))]
pub use self::unsupported::Watches;

/// Identifies a watch; never reused within one [`Watches`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WatchId(i32);

/// Which events a watch reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMask {
    /// Entries of a directory that are created, removed or renamed.
    Entries,
    /// Those, and writes and changes of metadata of the entries. Includes the closing of a written file,
    /// because writes through `mmap` are not reported.
    Everything,
    /// Writes to a file.
    Writes,
}

/// One event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchEvent<'a> {
    /// The watch that reports it.
    pub watch: WatchId,
    /// The entry of the watched directory; absent when it is about the watched path itself.
    pub name: Option<&'a OsStr>,
    /// What happened.
    pub kind: EventKind,
    /// Whether the entry is a directory.
    pub is_directory: bool,
}

/// What happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// The entry was created, or renamed to this name.
    Created,
    /// The entry was removed.
    Deleted,
    /// The entry was renamed to another name, in this directory or elsewhere.
    MovedAway,
    /// Content or metadata may have changed, or the watched path itself was moved or removed.
    Modified,
    /// The watch was removed, with what it watched or on request.
    WatchRemoved,
}

/// Events were dropped, so an empty queue means nothing any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsLost;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
