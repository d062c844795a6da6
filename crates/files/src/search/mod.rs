//! File search by a substring of the path.
//!
//! A tree is walked once, and its file names are then indexed in memory. Each search first applies the queued
//! file-change events and reads changed directories again; a tree that cannot be watched is walked at each
//! search. Files that git ignores are skipped.
//!
//! A search sees all earlier changes in the tree. Ignore rules outside of the tree (`.gitignore` of parent
//! directories, `info/exclude`, the user's excludes file) and changes by other machines to a network file
//! system are not watched; they are seen after at most 30 seconds ([`MAX_AGE`]), when the tree is walked
//! again. Idle indexes are evicted.

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

/// Maximum age of an index since its tree was walked. Bounds how long unwatched changes remain unseen.
const MAX_AGE: Duration = Duration::from_secs(30);
/// Time after its last use at which an index is evicted.
const MAX_IDLE: Duration = Duration::from_secs(600);
/// Interval between evictions of idle indexes.
const EVICT_EVERY: Duration = Duration::from_secs(60);
/// Maximum number of indexes. The most recently used one is never evicted.
const MAX_INDEXES: usize = 16;
/// Maximum number of files in all indexes together, which bounds their memory.
const MAX_FILES: usize = 400_000;
/// Maximum number of watches on one tree: the per-user limit of the system is shared with editors. A tree
/// with more directories is walked at each search.
const MAX_WATCHES: usize = 20_000;

/// Result of a search.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Matches {
    /// Paths relative to the directory, with forward slashes, best match first.
    pub files: Vec<String>,
    /// Whether there are more matches, or the tree was too large to be searched completely.
    pub truncated: bool,
}

/// Searches trees by file name.
#[derive(Debug)]
pub struct FileSearch {
    sandbox: Arc<Sandbox>,
    indexes: Arc<Indexes>,
    max_watches: usize,
    max_age: Duration,
    /// Task that evicts idle indexes. Runs while there are indexes; aborted on drop.
    evictor: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Indexes {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
}

/// Holds the index of one tree.
#[derive(Debug)]
struct Slot {
    used: Mutex<Instant>,
    /// Locked while the tree is walked, so that concurrent searches walk it once.
    index: Mutex<Option<Arc<Index>>>,
}

impl std::fmt::Debug for Index {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Index").field("files", &self.files()).finish_non_exhaustive()
    }
}

impl FileSearch {
    /// Creates a search without indexes.
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

    /// Returns the best matches below a directory. Blocks on disk I/O when the tree is not indexed or has
    /// changed.
    ///
    /// # Errors
    /// Fails when the directory cannot be read; with `NotFound` when it does not exist.
    pub fn search(&self, directory: &SandboxedPath, query: &str) -> io::Result<Matches> {
        let query = SearchQuery::new(query);
        let index = self.index(directory, directory.open_directory()?)?;
        let result = index.search(&query);
        Ok(Matches { truncated: result.best.more || result.truncated, files: result.best.paths })
    }

    /// Starts the eviction of idle indexes, unless it is running. Must be called within a Tokio runtime.
    pub fn start_eviction(&self) {
        let mut evictor = lock(&self.evictor);
        if evictor.as_ref().is_none_or(JoinHandle::is_finished) {
            *evictor = Some(tokio::spawn(evict(Arc::downgrade(&self.indexes))));
        }
    }

    /// Returns a current index of the directory. `handle` is the directory that was opened at its path.
    fn index(&self, directory: &SandboxedPath, handle: Directory) -> io::Result<Arc<Index>> {
        let (path, identity) = (directory.canonical(), handle.identity()?);
        let slot = self.indexes.slot(path);
        let mut current = lock(&slot.index);
        if let Some(index) = current.as_ref() {
            let index = index.clone();
            // The index has its own lock, so concurrent searches need not wait here.
            drop(current);
            if index.refresh(identity, self.max_age) {
                return Ok(index);
            }
            // Another search may have walked the tree again while the lock was released.
            current = lock(&slot.index);
            let newer = current.as_ref().filter(|current| !Arc::ptr_eq(current, &index)).cloned();
            if let Some(newer) = newer.filter(|newer| newer.refresh(identity, self.max_age)) {
                return Ok(newer);
            }
        }
        // A stale index is dropped before the walk, which would otherwise double the memory.
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

    // Checking each directory against the deny list is slow, so only trees that contain a denied path do it.
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

    /// Evicts the least recently used indexes until the limits hold. `last` is retained.
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

    /// Evicts indexes that were not used for [`MAX_IDLE`]. Returns whether none are left.
    fn evict_idle(&self, now: Instant) -> bool {
        let mut slots = lock(&self.slots);
        slots.retain(|_, slot| now.saturating_duration_since(*lock(&slot.used)) < MAX_IDLE);
        slots.is_empty()
    }
}

impl Slot {
    // An index that is being read counts once it is complete; waiting for it would block all searches.
    fn files(&self) -> usize {
        self.index.try_lock().ok().and_then(|index| index.as_ref().map(|index| index.files())).unwrap_or(0)
    }
}

async fn evict(indexes: Weak<Indexes>) {
    loop {
        tokio::time::sleep(EVICT_EVERY).await;
        // A weak reference, so that the task does not keep the indexes of a dropped search.
        let Some(indexes) = indexes.upgrade() else { return };
        // `start_eviction` starts another task when there are indexes again.
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
