//! Watches based on inotify: one for each directory, and one for each `.gitignore`.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use loopgate_home::{EventKind, WatchEvent, WatchId, WatchMask, Watches};

use super::{TreeChange, below, parent};
use crate::search::rules::{GIT, RULES_FILE};

/// Watches on a tree. Dropping the value removes them.
#[derive(Debug)]
pub(in crate::search) struct TreeWatch {
    /// `None` when the system limit is reached.
    watches: Option<Watches>,
    maps: Mutex<WatchMaps>,
    /// Number of watches that may still be added.
    remaining: AtomicUsize,
    /// Whether the whole tree is watched. If not, an empty queue does not mean that nothing has changed.
    complete: AtomicBool,
}

#[derive(Debug, Default)]
struct WatchMaps {
    by_watch: HashMap<WatchId, WatchTarget>,
    /// Watches of a directory: its own and that of its `.gitignore`.
    by_directory: HashMap<Box<str>, Vec<WatchId>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum WatchTarget {
    Directory(Box<str>),
    /// The `.gitignore` in this directory.
    Rules(Box<str>),
}

impl TreeWatch {
    /// Creates up to `max_watches` watches. The result is not [complete](Self::is_complete) when the system
    /// limit is reached or the tree needs more watches.
    pub(in crate::search) fn new(max_watches: usize) -> Self {
        let log = |error: &std::io::Error| tracing::debug!(%error, "cannot watch tree");
        let watches = Watches::new().inspect_err(log).ok();
        let complete = AtomicBool::new(watches.is_some());
        Self { watches, maps: Mutex::default(), remaining: AtomicUsize::new(max_watches), complete }
    }

    /// Watches a directory of the tree. Best-effort: a failure makes the watch incomplete.
    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        self.watch(place, WatchMask::Entries, || WatchTarget::Directory(directory.into()));
    }

    /// Watches the `.gitignore` of a directory that is already watched.
    pub(in crate::search) fn add_rules(&self, directory: &str, place: &Path) {
        self.watch(&place.join(RULES_FILE), WatchMask::Writes, || WatchTarget::Rules(directory.into()));
    }

    fn watch(&self, place: &Path, mask: WatchMask, target: impl FnOnce() -> WatchTarget) {
        let Some(watches) = self.watches.as_ref().filter(|_| self.is_complete()) else { return };
        let order = Ordering::Relaxed;
        let has_capacity =
            self.remaining.try_update(order, order, |remaining| remaining.checked_sub(1)).is_ok();
        match if has_capacity {
            watches.add(place, mask)
        } else {
            Err(std::io::ErrorKind::QuotaExceeded.into())
        } {
            Ok(Some(watch)) => self.maps().insert(watch, target()),
            // The path was removed; an event of its parent directory reports that.
            Ok(None) => drop(self.remaining.fetch_add(1, order)),
            Err(_) => self.complete.store(false, order),
        }
    }

    /// Removes the watches of a directory.
    pub(in crate::search) fn remove(&self, directory: &str) {
        let mut maps = self.maps();
        for watch in maps.by_directory.remove(directory).unwrap_or_default() {
            maps.by_watch.remove(&watch);
            self.remaining.fetch_add(1, Ordering::Relaxed);
            if let Some(watches) = &self.watches {
                watches.remove(watch);
            }
        }
    }

    /// Returns whether events cover every change of the tree.
    pub(in crate::search) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Relaxed)
    }

    /// Returns the changes since the last call.
    pub(in crate::search) fn changes(&self) -> Vec<TreeChange> {
        let mut changes = Vec::new();
        let drained =
            self.watches.as_ref().map(|watches| watches.drain(|event| changes.extend(self.read(&event))));
        if drained != Some(Ok(())) {
            changes.push(TreeChange::Everything);
        }
        changes
    }

    fn read(&self, event: &WatchEvent<'_>) -> Option<TreeChange> {
        let name = event.name.map(|name| name.to_string_lossy());
        let mut maps = self.maps();
        let is_removed = event.kind == EventKind::WatchRemoved;
        let target =
            if is_removed { maps.forget(event.watch) } else { maps.by_watch.get(&event.watch).cloned() };
        drop(maps);
        if is_removed && target.is_some() {
            self.remaining.fetch_add(1, Ordering::Relaxed);
        }
        Some(match (target?, name.as_deref()) {
            // Both decide which entries of the whole subtree are ignored.
            (WatchTarget::Rules(directory), _)
            | (WatchTarget::Directory(directory), Some(GIT | RULES_FILE)) => TreeChange::Directory(directory),
            (WatchTarget::Directory(directory), Some(name)) if event.is_directory => {
                TreeChange::Directory(below(&directory, name))
            }
            (WatchTarget::Directory(directory), Some(_)) => TreeChange::Entries(directory),
            // The directory itself was removed or renamed.
            (WatchTarget::Directory(directory), None) if parent(&directory).is_some() => {
                TreeChange::Directory(directory)
            }
            (WatchTarget::Directory(_), None) => TreeChange::Everything,
        })
    }

    fn maps(&self) -> std::sync::MutexGuard<'_, WatchMaps> {
        self.maps.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchMaps {
    fn insert(&mut self, watch: WatchId, target: WatchTarget) {
        let (WatchTarget::Directory(directory) | WatchTarget::Rules(directory)) = &target;
        let watches = self.by_directory.entry(directory.clone()).or_default();
        if !watches.contains(&watch) {
            watches.push(watch);
        }
        self.by_watch.insert(watch, target);
    }

    fn forget(&mut self, watch: WatchId) -> Option<WatchTarget> {
        let target = self.by_watch.remove(&watch)?;
        let (WatchTarget::Directory(directory) | WatchTarget::Rules(directory)) = &target;
        if let Some(watches) = self.by_directory.get_mut(directory) {
            watches.retain(|id| *id != watch);
        }
        Some(target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_watches_report_everything_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let complete = AtomicBool::new(false);
        let watch =
            TreeWatch { watches: None, maps: Mutex::default(), remaining: AtomicUsize::new(9), complete };
        watch.add("", dir.path());
        watch.add_rules("", dir.path());
        watch.remove("");
        assert!(!watch.is_complete());
        assert_eq!(watch.changes(), [TreeChange::Everything]);
    }
}
