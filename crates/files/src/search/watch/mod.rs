//! File-change events of a tree, read with each search.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod recursive;

#[cfg(target_os = "linux")]
pub(super) use self::linux::Watch;
#[cfg(not(target_os = "linux"))]
pub(super) use self::recursive::Watch;

/// A change of a tree. Directories are relative to its root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum TreeChange {
    /// Entries of this directory were created or removed.
    Entries(Box<str>),
    /// This directory was created, removed or replaced, with everything below it.
    Directory(Box<str>),
    /// Anything may have changed.
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
