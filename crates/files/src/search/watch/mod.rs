//! File-change events of a tree, read at each search.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod recursive;

#[cfg(target_os = "linux")]
pub(super) use self::linux::TreeWatch;
#[cfg(not(target_os = "linux"))]
pub(super) use self::recursive::TreeWatch;

/// A change of a tree. Paths are relative to its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TreeChange {
    /// Entries of this directory were created or removed.
    Entries(Box<str>),
    /// This directory was created, removed or replaced, including everything below it.
    Directory(Box<str>),
    /// The change is unknown: everything must be read again.
    Everything,
}

/// Returns the parent directory; `None` for the root.
pub(super) fn parent(directory: &str) -> Option<&str> {
    (!directory.is_empty()).then(|| directory.rsplit_once('/').map_or("", |(parent, _)| parent))
}

/// Joins a directory and a name.
pub(super) fn below(directory: &str, name: &str) -> Box<str> {
    if directory.is_empty() { name.into() } else { format!("{directory}/{name}").into() }
}
