//! Finding files by a piece of their path.
//!
//! The names of a tree are read once and then kept in memory, as the tree is: a warm answer reads
//! no directory but those that changed since the last one. What git ignores is left out. Trees that
//! nobody asks about are forgotten.

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
use self::rank::Query;
use self::walk::{Denied, Root};

/// An index that was not asked for so long is forgotten.
const IDLE: Duration = Duration::from_secs(600);
/// Pause between two looks for such indexes.
const SWEEP_EVERY: Duration = Duration::from_secs(60);
/// Indexes, and files in all of them, that are kept at once; the last one asked stays in any case.
const MOST_INDEXES: usize = 16;
const MOST_FILES: usize = 400_000;
/// Watches on one tree: the system has a limited number, which editors want as well. A tree with more
/// directories is read with every search.
const MOST_WATCHES: usize = 20_000;

/// What a search found.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Matches {
    /// Paths relative to the directory, with slashes, best first.
    pub files: Vec<String>,
    /// Whether more matched, or the tree was too large to be looked at as a whole.
    pub truncated: bool,
}

/// Searches trees, and keeps their names for the next search.
#[derive(Debug)]
pub struct FileSearch {
    sandbox: Arc<Sandbox>,
    kept: Arc<Kept>,
    most_watches: usize,
    /// Forgets idle indexes; runs while there are any.
    sweeper: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Debug, Default)]
struct Kept {
    slots: Mutex<HashMap<PathBuf, Arc<Slot>>>,
}

/// Place of one tree's index.
#[derive(Debug)]
struct Slot {
    used: Mutex<Instant>,
    /// Whoever reads the tree holds it, so that searches at the same time read it once.
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
        Self { sandbox, kept: Arc::default(), most_watches: MOST_WATCHES, sweeper: Mutex::default() }
    }

    /// The best matches below a directory, as it is now. Blocks on the disk when the tree is not
    /// known or has changed.
    ///
    /// # Errors
    /// The directory cannot be read. One that does not exist is `NotFound`.
    pub fn search(&self, directory: &SandboxedPath, query: &str) -> io::Result<Matches> {
        let query = Query::new(query);
        let index = self.index(directory, directory.open_directory()?)?;
        let answer = index.search(&query);
        Ok(Matches { truncated: answer.best.more || answer.cut, files: answer.best.paths })
    }

    /// Sees to it that idle indexes are forgotten. To be called in an asynchronous context; costs
    /// nothing when it is seen to already.
    pub fn keep_tidy(&self) {
        let mut sweeper = lock(&self.sweeper);
        if sweeper.as_ref().is_none_or(JoinHandle::is_finished) {
            *sweeper = Some(tokio::spawn(sweep(Arc::downgrade(&self.kept))));
        }
    }

    /// `handle` is the directory that was found at the path.
    fn index(&self, directory: &SandboxedPath, handle: Directory) -> io::Result<Arc<Index>> {
        let (path, identity) = (directory.canonical(), handle.identity()?);
        let slot = self.kept.slot(path);
        let mut kept = lock(&slot.index);
        if let Some(index) = kept.as_ref() {
            let index = index.clone();
            // The others need not wait for it: the index has a lock of its own.
            drop(kept);
            if index.refresh(identity) {
                return Ok(index);
            }
            kept = lock(&slot.index);
            let another = kept.as_ref().filter(|now| !Arc::ptr_eq(now, &index)).cloned();
            if let Some(another) = another.filter(|another| another.refresh(identity)) {
                return Ok(another);
            }
        }
        *kept = None;
        let denied = self.denied_below(path);
        let root = Root::new(directory.clone(), handle, self.sandbox.clone(), denied);
        let index = Arc::new(Index::read(root, self.most_watches)?);
        if index.is_lasting() {
            *kept = Some(index.clone());
            drop(kept);
            self.kept.make_room(path);
        }
        Ok(index)
    }

    /// Only a tree that holds a denied place pays for looking at each directory.
    fn denied_below(&self, path: &Path) -> Option<Denied> {
        self.sandbox.denies_below(path).then(|| {
            let sandbox = self.sandbox.clone();
            Arc::new(move |directory: &Path| sandbox.denies(directory)) as Denied
        })
    }
}

impl Drop for FileSearch {
    fn drop(&mut self) {
        if let Some(sweeper) = lock(&self.sweeper).take() {
            sweeper.abort();
        }
    }
}

impl Kept {
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

    /// Forgets the indexes that were asked longest ago, until the others fit. `last` stays.
    fn make_room(&self, last: &Path) {
        let mut slots = lock(&self.slots);
        loop {
            let files: usize = slots.values().map(|slot| slot.files()).sum();
            if slots.len() <= MOST_INDEXES && files <= MOST_FILES {
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

    /// Forgets what was not asked for a while. Answers whether nothing is left.
    fn forget_idle(&self, now: Instant) -> bool {
        let mut slots = lock(&self.slots);
        slots.retain(|_, slot| now.saturating_duration_since(*lock(&slot.used)) < IDLE);
        slots.is_empty()
    }
}

impl Slot {
    /// One that is being read counts when it is there.
    fn files(&self) -> usize {
        self.index.try_lock().ok().and_then(|index| index.as_ref().map(|index| index.files())).unwrap_or(0)
    }
}

async fn sweep(kept: Weak<Kept>) {
    loop {
        tokio::time::sleep(SWEEP_EVERY).await;
        let Some(kept) = kept.upgrade() else { return };
        if kept.forget_idle(Instant::now()) {
            return;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
