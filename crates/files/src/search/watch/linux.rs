//! Watching with one watch a directory, and one a file of rules.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use loopgate_home::{Event, Hear, WatchId, Watches, What};

use super::{Change, below, parent};
use crate::search::walk::{GIT, RULES_FILE};

/// Watches on a tree. They end with this value.
#[derive(Debug)]
pub(in crate::search) struct Watch {
    watches: Watches,
    known: Mutex<Known>,
    /// A directory could not be watched, so silence means nothing.
    deaf: AtomicBool,
}

#[derive(Debug, Default)]
struct Known {
    by_watch: HashMap<WatchId, Watched>,
    /// Watches of a directory: its own, and that of its rules.
    by_directory: HashMap<Box<str>, Vec<WatchId>>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Watched {
    Directory(Box<str>),
    /// The file of rules in this directory.
    Rules(Box<str>),
}

impl Watch {
    /// `None` when the system gives none.
    pub(in crate::search) fn new() -> Option<Self> {
        Some(Self { watches: Watches::new().ok()?, known: Mutex::default(), deaf: AtomicBool::new(false) })
    }

    /// Begins to watch a directory of the tree; from now on its changes are told.
    pub(in crate::search) fn add(&self, directory: &str, place: &Path) {
        match self.watches.begin(place, Hear::Names) {
            Ok(Some(watch)) => self.known().insert(watch, Watched::Directory(directory.into())),
            // It went away: its parent tells.
            Ok(None) => {}
            Err(_) => self.deaf.store(true, Ordering::Relaxed),
        }
    }

    /// Begins to watch the rules of a directory, which is watched already.
    pub(in crate::search) fn add_rules(&self, directory: &str, place: &Path) {
        if let Ok(Some(watch)) = self.watches.begin(&place.join(RULES_FILE), Hear::Writing) {
            self.known().insert(watch, Watched::Rules(directory.into()));
        }
    }

    /// Ends the watches of a directory.
    pub(in crate::search) fn remove(&self, directory: &str) {
        let mut known = self.known();
        for watch in known.by_directory.remove(directory).unwrap_or_default() {
            known.by_watch.remove(&watch);
            self.watches.end(watch);
        }
    }

    /// Whether every change is heard.
    pub(in crate::search) fn hears_all(&self) -> bool {
        !self.deaf.load(Ordering::Relaxed)
    }

    /// Everything that happened since the last call.
    pub(in crate::search) fn changes(&self) -> Vec<Change> {
        let mut changes = Vec::new();
        if self.watches.take(|event| changes.extend(self.read(&event))).is_err() {
            changes.push(Change::Everything);
        }
        changes
    }

    fn read(&self, event: &Event<'_>) -> Option<Change> {
        let name = event.name.map(|name| name.to_string_lossy());
        let mut known = self.known();
        let ended = event.what == What::Ended;
        let watched =
            if ended { known.forget(event.watch) } else { known.by_watch.get(&event.watch).cloned() };
        drop(known);
        Some(match (watched?, name.as_deref()) {
            (Watched::Rules(directory), _) | (Watched::Directory(directory), Some(GIT | RULES_FILE)) => {
                Change::Directory(directory)
            }
            (Watched::Directory(directory), Some(name)) if event.directory => {
                Change::Directory(below(&directory, name))
            }
            (Watched::Directory(directory), Some(_)) => Change::Entries(directory),
            // The directory itself: it is gone, or no longer where it was.
            (Watched::Directory(directory), None) if parent(&directory).is_some() => {
                Change::Directory(directory)
            }
            (Watched::Directory(_), None) => Change::Everything,
        })
    }

    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn insert(&mut self, watch: WatchId, watched: Watched) {
        let (Watched::Directory(directory) | Watched::Rules(directory)) = &watched;
        let watches = self.by_directory.entry(directory.clone()).or_default();
        if !watches.contains(&watch) {
            watches.push(watch);
        }
        self.by_watch.insert(watch, watched);
    }

    fn forget(&mut self, watch: WatchId) -> Option<Watched> {
        let watched = self.by_watch.remove(&watch)?;
        let (Watched::Directory(directory) | Watched::Rules(directory)) = &watched;
        if let Some(watches) = self.by_directory.get_mut(directory) {
            watches.retain(|known| *known != watch);
        }
        Some(watched)
    }
}
