//! File-change events of directories and files.
//!
//! The thread that is about to use a cached result reads the events itself. On Linux the kernel queues an
//! event before the system call that caused it returns, so an empty queue means that nothing has changed; a
//! separate thread that forwards events would add a delay. On other systems no such queue exists, and
//! [`Watches::new`] fails.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

use std::ffi::OsStr;

#[cfg(target_os = "linux")]
pub use self::linux::Watches;
#[cfg(not(target_os = "linux"))]
pub use self::unsupported::Watches;

/// Limits of the user's watches, shared with the user's other programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchLimits {
    /// `fs.inotify.max_user_watches`.
    pub watches: usize,
    /// `fs.inotify.max_user_instances`: values of [`Watches`] at the same time.
    pub instances: usize,
}

/// Id of a watch; unique within one [`Watches`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct WatchId(i32);

/// Which events a watch reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WatchMask {
    /// Creation, removal and renaming of entries of a directory.
    Entries,
    /// As `Entries`, and writes and metadata changes of entries. Includes the closing of a written file,
    /// because writes through `mmap` are not reported.
    Everything,
    /// Writes to one file.
    Writes,
}

/// An event as reported by the system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchEvent<'a> {
    /// The watch that reports the event.
    pub watch: WatchId,
    /// The entry of the watched directory; absent when the event concerns the watched path itself.
    pub name: Option<&'a OsStr>,
    pub kind: EventKind,
    /// Whether the entry is a directory.
    pub is_directory: bool,
}

/// What happened to the entry.
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
    /// The watch was removed, together with the watched path or on request.
    WatchRemoved,
}

/// Events were dropped, so an empty queue no longer means that nothing has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventsLost;

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests;
