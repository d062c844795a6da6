//! Finding files by a piece of their path.
//!
//! The names of a tree are walked once and then indexed in memory. Each search reads the queued
//! file-change events first and re-reads the directories that changed; without watches, it walks the tree.
//! What git ignores is skipped.
//!
//! An index is not older than the search for changes in the tree. Rules outside the tree (`.gitignore`
//! of directories above it, `info/exclude`, the user's excludes) are not watched, nor are the changes of other
//! machines to a network file system: they are seen after 30 seconds ([`MAX_AGE`]) at the latest, when the
//! tree is walked anew. Indexes that nobody uses are evicted.

mod index;
mod listing;
mod rank;
mod rules;
mod walk;
mod watch;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use loopgate_home::{Directory, Sandbox, SandboxedPath};
use tokio::task::JoinHandle;

use self::index::Index;
use self::rank::SearchQuery;
use self::walk::{DenyPredicate, Root};

/// An index is used at most so long after its tree was walked.
const MAX_AGE: Duration = Duration::from_secs(30);
/// An index that was not used for so long is evicted.
const MAX_IDLE: Duration = Duration::from_secs(600);
/// Pause between two evictions.
const EVICT_EVERY: Duration = Duration::from_secs(60);
/// Indexes, and files in all of them. The one that was used last stays in any case.
const MAX_INDEXES: usize = 16;
const MAX_FILES: usize = 400_000;
/// Watches on one tree: the system has a limited number, which editors want as well. A tree with more
/// directories is read with every search.
const MAX_WATCHES: usize = 20_000;

/// What a search found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Matches {
    /// Paths relative to the directory, with slashes, best first.
    pub files: Vec<String>,
    /// Whether more matched, or the tree was too large to be looked at as a whole.
    pub truncated: bool,
}

/// Searches trees by file name.
#[derive(Debug)]
pub struct FileSearch {
    sandbox: Arc<Sandbox>,
    indexes: Arc<Indexes>,
    max_watches: usize,
    max_age: Duration,
    /// Evicts idle indexes; runs while there are any, and is aborted when this is dropped.
    evictor: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Indexes {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
}

/// The place of one tree's index.
#[derive(Debug)]
struct Slot {
    used: Mutex<Instant>,
    /// Held while the tree is walked, so that concurrent searches walk it once.
    index: Mutex<Option<Arc<Index>>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("files", &self.files()).finish_non_exhaustive()
    }
}

impl FileSearch {
    /// Nothing is read yet.
    #[must_use]
    pub fn new(sandbox: Arc<Sandbox>) -> Self {
        Self {
            sandbox,
            indexes: Arc::default(),
            max_watches: MAX_WATCHES,
            max_age: MAX_AGE,
            evictor: Mutex::default(),
        }
    }

    /// The best matches below a directory, as it is now. Blocks on the disk when the tree is not
    /// known or has changed.
    ///
    /// # Errors
    /// The directory cannot be read. One that does not exist is `NotFound`.
    pub fn search(&self, directory: &SandboxedPath, query: &str) -> io::Result<Matches> {
        let query = SearchQuery::new(query);
        let index = self.index(directory, directory.open_directory()?)?;
        let answer = index.search(&query);
        Ok(Matches { truncated: answer.best.more || answer.cut, files: answer.best.paths })
    }

    /// Starts the eviction of idle indexes, unless it runs. Must be called within a Tokio runtime.
    pub fn start_eviction(&self) {
        let mut evictor = lock(&self.evictor);
        if evictor.as_ref().is_none_or(JoinHandle::is_finished) {
            *evictor = Some(tokio::spawn(evict(Arc::downgrade(&self.indexes))));
        }
    }

    /// `handle` is the directory that was found at the path.
    fn index(&self, directory: &SandboxedPath, handle: Directory) -> io::Result<Arc<Index>> {
        let (path, identity) = (directory.canonical(), handle.identity()?);
        let slot = self.indexes.slot(path);
        let mut current = lock(&slot.index);
        if let Some(index) = current.as_ref() {
            let index = index.clone();
            // Others need not wait for the refresh: the index has a lock of its own.
            drop(current);
            if index.refresh(identity, self.max_age) {
                return Ok(index);
            }
            current = lock(&slot.index);
            let newer = current.as_ref().filter(|now| !Arc::ptr_eq(now, &index)).cloned();
            if let Some(newer) = newer.filter(|newer| newer.refresh(identity, self.max_age)) {
                return Ok(newer);
            }
        }
        *current = None;
        let denied = self.denied_below(path);
        let root = Root::new(directory.clone(), handle, self.sandbox.clone(), denied);
        let index = Arc::new(Index::read(root, self.max_watches)?);
        if index.is_updatable() {
            *current = Some(index.clone());
            drop(current);
            self.indexes.evict_excess(path);
        }
        Ok(index)
    }

    /// Only a tree that holds a denied place pays for looking at each directory.
    fn denied_below(&self, path: &Path) -> Option<DenyPredicate> {
        self.sandbox.denies_below(path).then(|| {
            let sandbox = self.sandbox.clone();
            Arc::new(move |directory: &Path| sandbox.denies(directory)) as DenyPredicate
        })
    }
}

impl Drop for FileSearch {
    fn drop(&mut self) {
        if let Some(evictor) = lock(&self.evictor).take() {
            evictor.abort();
        }
    }
}

impl Indexes {
    fn slot(&self, path: &Path) -> Arc<Slot> {
        let mut slots = lock(&self.slots);
        let now = Instant::now();
        if let Some(slot) = slots.get(path) {
            *lock(&slot.used) = now;
            return slot.clone();
        }
        let slot = Arc::new(Slot { used: Mutex::new(now), index: Mutex::default() });
        slots.insert(path.to_owned(), slot.clone());
        slot
    }

    /// Evicts the indexes that were used longest ago until the others are within the limits. `last` stays.
    fn evict_excess(&self, last: &Path) {
        let mut slots = lock(&self.slots);
        loop {
            let files: usize = slots.values().map(|slot| slot.files()).sum();
            if slots.len() <= MAX_INDEXES && files <= MAX_FILES {
                return;
            }
            let others = slots.iter().filter(|(path, _)| path.as_path() != last);
            let oldest = others.min_by_key(|(_, slot)| *lock(&slot.used)).map(|(path, _)| path.clone());
            match oldest {
                Some(path) => slots.remove(&path),
                None => return,
            };
        }
    }

    /// Evicts what was not used for [`MAX_IDLE`]; whether nothing is left.
    fn evict_idle(&self, now: Instant) -> bool {
        let mut slots = lock(&self.slots);
        slots.retain(|_, slot| now.saturating_duration_since(*lock(&slot.used)) < MAX_IDLE);
        slots.is_empty()
    }
}

impl Slot {
    /// One that is being read counts when it is there.
    fn files(&self) -> usize {
        self.index.try_lock().ok().and_then(|index| index.as_ref().map(|index| index.files())).unwrap_or(0)
    }
}

async fn evict(indexes: Weak<Indexes>) {
    loop {
        tokio::time::sleep(EVICT_EVERY).await;
        let Some(indexes) = indexes.upgrade() else { return };
        if indexes.evict_idle(Instant::now()) {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
