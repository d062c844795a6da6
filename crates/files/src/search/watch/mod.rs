//! Hearing of changes in a tree.
//!
//! Changes are taken when a question comes, on the thread that answers it. On Linux the kernel
//! queues a change before the call that made it returns, so that no answer is older than its
//! question; a thread that forwards events could only promise "soon".

#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod linux;

#[cfg(not(target_os = "linux"))]
pub(super) use self::elsewhere::Watch;
#[cfg(target_os = "linux")]
pub(super) use self::linux::Watch;

/// What happened in a tree. Directories are relative to its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Change {
    /// Entries of this directory came or went.
    Entries(Box<str>),
    /// This directory came, went, or is another one now: what was known below it is void.
    Directory(Box<str>),
    /// Nothing that was known can be relied on.
    Everything,
}

/// The directory above; `None` for the root itself.
pub(super) fn parent(directory: &str) -> Option<&str> {
    (!directory.is_empty()).then(|| directory.rsplit_once('/').map_or("", |(parent, _)| parent))
}

/// A name below a directory.
pub(super) fn below(directory: &str, name: &str) -> Box<str> {
    if directory.is_empty() { name.into() } else { format!("{directory}/{name}").into() }
}
