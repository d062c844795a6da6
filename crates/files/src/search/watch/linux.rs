//! One watch for each directory, and one for each file of rules.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use loopgate_home::{EventKind, WatchEvent, WatchId, WatchMask, Watches};

use super::{TreeChange, below, parent};
use crate::search::rules::{GIT, RULES_FILE};

/// Watches on a tree. Dropping it removes them.
#[derive(Debug)]
pub(in crate::search) struct Watch {
    /// `None` when the system gives none.
    watches: Option<Watches>,
    known: Mutex<WatchMaps>,
    /// Watches that may still be added.
    left: AtomicUsize,
    /// Everything is watched. Otherwise an empty queue means nothing.
    complete: AtomicBool,
}

#[derive(Debug, Default)]
struct WatchMaps {
    by_watch: HashMap<WatchId, WatchTarget>,
    /// Watches of a directory: its own, and that of its rules.
    by_directory: HashMap<Box<str>, Vec<WatchId>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum WatchTarget {
    Directory(Box<str>),
    /// The file of rules in this directory.
    Rules(Box<str>),
}

impl Watch {
    /// At most `max_watches` watches. It is not [complete](Self::is_complete) where the system gives none, or
    /// more would be needed.
    pub(in crate::search) fn new(max_watches: usize) -> Self {
        let refused = |error: &std::io::Error| tracing::debug!(%error, "a tree cannot be watched");
        let watches = Watches::new().inspect_err(refused).ok();
        let complete = AtomicBool::new(watches.is_some());
        Self { watches, known: Mutex::default(), left: AtomicUsize::new(max_watches), complete }
    }

    /// Watches a directory of the tree.
    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        self.watch(place, WatchMask::Entries, || WatchTarget::Directory(directory.into()));
    }

    /// Watches the rules of a directory that is watched already.
    pub(in crate::search) fn add_rules(&self, directory: &str, place: &Path) {
        self.watch(&place.join(RULES_FILE), WatchMask::Writes, || WatchTarget::Rules(directory.into()));
    }

    fn watch(&self, place: &Path, mask: WatchMask, watched: impl FnOnce() -> WatchTarget) {
        let Some(watches) = self.watches.as_ref().filter(|_| self.is_complete()) else { return };
        let order = Ordering::Relaxed;
        let room = self.left.try_update(order, order, |left| left.checked_sub(1)).is_ok();
        match if room { watches.add(place, mask) } else { Err(std::io::ErrorKind::QuotaExceeded.into()) } {
            Ok(Some(watch)) => self.known().insert(watch, watched()),
            // It was removed: its parent reports that.
            Ok(None) => drop(self.left.fetch_add(1, order)),
            Err(_) => self.complete.store(false, order),
        }
    }

    /// Removes the watches of a directory.
    pub(in crate::search) fn remove(&self, directory: &str) {
        let mut known = self.known();
        for watch in known.by_directory.remove(directory).unwrap_or_default() {
            known.by_watch.remove(&watch);
            self.left.fetch_add(1, Ordering::Relaxed);
            if let Some(watches) = &self.watches {
                watches.remove(watch);
            }
        }
    }

    /// Whether events cover every change of the tree.
    pub(in crate::search) fn is_complete(&self) -> bool {
        self.complete.load(Ordering::Relaxed)
    }

    /// The changes since the last call.
    pub(in crate::search) fn changes(&self) -> Vec<TreeChange> {
        let mut changes = Vec::new();
        let taken =
            self.watches.as_ref().map(|watches| watches.drain(|event| changes.extend(self.read(&event))));
        if taken != Some(Ok(())) {
            changes.push(TreeChange::Everything);
        }
        changes
    }

    fn read(&self, event: &WatchEvent<'_>) -> Option<TreeChange> {
        let name = event.name.map(|name| name.to_string_lossy());
        let mut known = self.known();
        let ended = event.kind == EventKind::WatchRemoved;
        let watched =
            if ended { known.forget(event.watch) } else { known.by_watch.get(&event.watch).cloned() };
        drop(known);
        if ended && watched.is_some() {
            self.left.fetch_add(1, Ordering::Relaxed);
        }
        Some(match (watched?, name.as_deref()) {
            (WatchTarget::Rules(directory), _)
            | (WatchTarget::Directory(directory), Some(GIT | RULES_FILE)) => TreeChange::Directory(directory),
            (WatchTarget::Directory(directory), Some(name)) if event.is_directory => {
                TreeChange::Directory(below(&directory, name))
            }
            (WatchTarget::Directory(directory), Some(_)) => TreeChange::Entries(directory),
            // The directory itself: it is gone, or no longer where it was.
            (WatchTarget::Directory(directory), None) if parent(&directory).is_some() => {
                TreeChange::Directory(directory)
            }
            (WatchTarget::Directory(_), None) => TreeChange::Everything,
        })
    }

    fn known(&self) -> std::sync::MutexGuard<'_, WatchMaps> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl WatchMaps {
    fn insert(&mut self, watch: WatchId, watched: WatchTarget) {
        let (WatchTarget::Directory(directory) | WatchTarget::Rules(directory)) = &watched;
        let watches = self.by_directory.entry(directory.clone()).or_default();
        if !watches.contains(&watch) {
            watches.push(watch);
        }
        self.by_watch.insert(watch, watched);
    }

    fn forget(&mut self, watch: WatchId) -> Option<WatchTarget> {
        let watched = self.by_watch.remove(&watch)?;
        let (WatchTarget::Directory(directory) | WatchTarget::Rules(directory)) = &watched;
        if let Some(watches) = self.by_directory.get_mut(directory) {
            watches.retain(|known| *known != watch);
        }
        Some(watched)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_watches_everything_counts_as_changed() {
        let dir = tempfile::tempdir().unwrap();
        let complete = AtomicBool::new(false);
        let watch = Watch { watches: None, known: Mutex::default(), left: AtomicUsize::new(9), complete };
        watch.add("", dir.path());
        watch.add_rules("", dir.path());
        watch.remove("");
        assert!(!watch.is_complete());
        assert_eq!(watch.changes(), [TreeChange::Everything]);
    }
}
