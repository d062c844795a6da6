//! The set of cached repositories.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopgate_home::{WatchLimits, Watches};
use loopgate_tools::git::{Branches, Git, GitError, Status};
use tokio::task::JoinSet;

use crate::WatchError;
use crate::repository::CachedRepository;

/// Limits of the cache, as parts of the user's limits. The rest is for the user's other programs, such as editors.
const SHARE: usize = 2;
/// Time after its last use at which an entry is evicted by the next request.
const MAX_IDLE: Duration = Duration::from_secs(600);
/// Maximum age of a cached result. Bounds how long unreported changes remain unseen.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(30);
/// Delay before another attempt to watch a repository that cannot be watched.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// Delay before another attempt to watch a repository that changed while it was opened.
const RETRY_CHANGED_AFTER: Duration = Duration::from_millis(200);

/// Serves status and branches of repositories from memory while they are valid. See the [crate](crate) for
/// the conditions.
#[derive(Debug)]
pub struct GitCache {
    git: Git,
    max_age: Duration,
    /// Maximum number of watched directories, and of repositories: each has an event queue of its own.
    limits: WatchLimits,
    entries: Arc<Entries>,
    /// Tasks that open repositories; aborted on drop.
    opening: Mutex<JoinSet<()>>,
}

/// Entries by requested directory.
type Entries = Mutex<HashMap<PathBuf, RepositoryEntry>>;

#[derive(Debug)]
struct RepositoryEntry {
    last_used: Instant,
    state: EntryState,
}

#[derive(Debug)]
enum EntryState {
    /// Git runs for each request; the repository may be opened from `retry_at` on.
    Closed {
        retry_at: Instant,
        /// Whether the repository could not be watched because a limit of the user is reached.
        is_limit_reached: bool,
    },
    /// A task is opening the repository.
    Opening,
    Open(Arc<CachedRepository>),
}

impl GitCache {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(git: Git) -> Self {
        let WatchLimits { watches, instances } = Watches::limits();
        let limits = WatchLimits { watches: watches / SHARE, instances: (instances / SHARE).max(1) };
        Self::with_limits(git, MAX_AGE, limits)
    }

    pub(crate) fn with_limits(git: Git, max_age: Duration, limits: WatchLimits) -> Self {
        Self { git, max_age, limits, entries: Arc::default(), opening: Mutex::default() }
    }

    /// Returns the number of requested repositories that are not cached because a limit of the user's watches is
    /// reached.
    #[must_use]
    pub fn beyond_limits(&self) -> usize {
        let entries = lock(&self.entries);
        let is_beyond = |entry: &&RepositoryEntry| {
            matches!(entry.state, EntryState::Closed { is_limit_reached: true, .. })
        };
        entries.values().filter(is_beyond).count()
    }

    /// Returns the status of a repository; see [`Git::status`].
    ///
    /// # Errors
    /// As [`Git::status`].
    pub async fn status(&self, directory: &Path) -> Result<Arc<Status>, GitError> {
        let Some(repository) = self.repository(directory).await else {
            let status = self.git.status(directory).await?;
            self.open(directory);
            return Ok(Arc::new(status));
        };
        let status = repository.status().await;
        self.close_if_invalid(&repository);
        status
    }

    /// Returns branches and worktrees; none for a directory that is not a repository.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot be run.
    pub async fn branches(&self, directory: &Path) -> Result<Branches, GitError> {
        let listing = match self.repository(directory).await {
            Some(repository) => {
                let listing = repository.listing().await;
                self.close_if_invalid(&repository);
                listing?
            }
            None => {
                let listing = self.git.listing(directory).await?;
                self.open(directory);
                Arc::new(listing)
            }
        };
        Ok(Branches::of(listing, directory).await)
    }

    /// Returns the cached repository of a directory, unless the directory is missing, or another git program would
    /// be run now than when the repository was opened.
    pub(crate) async fn repository(&self, directory: &Path) -> Option<Arc<CachedRepository>> {
        let repository = {
            let now = Instant::now();
            let mut entries = lock(&self.entries);
            // Eviction here needs no timer. The requested directory stays: it is in use.
            entries.retain(|path, entry| path == directory || now - entry.last_used < MAX_IDLE);
            let entry = entries.get_mut(directory)?;
            entry.last_used = now;
            let EntryState::Open(repository) = &entry.state else { return None };
            repository.clone()
        };
        // The listing of branches depends on the git directory only, which exists longer than a removed worktree.
        let is_present = tokio::fs::try_exists(directory).await.unwrap_or(false);
        if !is_present || repository.program() != self.git.executable().await {
            repository.close();
            self.close_if_invalid(&repository);
            return None;
        }
        Some(repository)
    }

    /// Starts to open a repository, unless that is in progress or failed recently.
    fn open(&self, directory: &Path) {
        let now = Instant::now();
        let mut entries = lock(&self.entries);
        let entry = entries.entry(directory.to_owned()).or_insert_with(|| RepositoryEntry {
            last_used: now,
            state: EntryState::Closed { retry_at: now, is_limit_reached: false },
        });
        if !matches!(entry.state, EntryState::Closed { retry_at, .. } if retry_at <= now) {
            return;
        }
        entry.state = EntryState::Opening;
        evict(&mut entries, directory, self.limits);
        drop(entries);
        let (git, directory) = (self.git.clone(), directory.to_owned());
        let (max_age, limits) = (self.max_age, self.limits);
        let entries = self.entries.clone();
        let mut opening = lock(&self.opening);
        // Removes finished tasks, which the set would otherwise keep.
        while opening.try_join_next().is_some() {}
        opening.spawn(async move {
            let state = match CachedRepository::open(git, &directory, max_age).await {
                Ok(repository) => EntryState::Open(Arc::new(repository)),
                Err(error) => {
                    tracing::debug!(%error, "repository not cached");
                    EntryState::closed(&error)
                }
            };
            let mut entries = lock(&entries);
            // The entry may have been evicted in the meantime; the watches are then dropped with the
            // repository.
            if let Some(entry) = entries.get_mut(&directory) {
                entry.state = state;
                evict(&mut entries, &directory, limits);
            }
        });
    }

    fn close_if_invalid(&self, repository: &Arc<CachedRepository>) {
        if repository.is_valid() {
            return;
        }
        let mut entries = lock(&self.entries);
        // A newer repository may have taken its place since the caller got this one.
        let entry = entries.get_mut(repository.directory());
        if let Some(entry) = entry
            .filter(|entry| matches!(&entry.state, EntryState::Open(open) if Arc::ptr_eq(open, repository)))
        {
            entry.state = EntryState::closed(&WatchError::Changed);
        }
    }

    /// Waits until no repository is being opened.
    #[cfg(test)]
    pub(crate) async fn wait_until_open(&self) {
        let opening = std::mem::take(&mut *lock(&self.opening));
        opening.join_all().await;
    }

    /// Allows every closed repository to be opened immediately.
    #[cfg(test)]
    pub(crate) fn retry_now(&self) {
        for entry in lock(&self.entries).values_mut() {
            if let EntryState::Closed { retry_at, .. } = &mut entry.state {
                *retry_at = Instant::now();
            }
        }
    }
}

impl EntryState {
    fn closed(error: &WatchError) -> Self {
        let pause = if matches!(error, WatchError::Changed) { RETRY_CHANGED_AFTER } else { RETRY_AFTER };
        let is_limit_reached = matches!(error, WatchError::Io(error) if Watches::is_limit_reached(error));
        Self::Closed { retry_at: Instant::now() + pause, is_limit_reached }
    }

    fn watches(&self) -> usize {
        match self {
            Self::Open(repository) => repository.watches(),
            Self::Closed { .. } | Self::Opening => 0,
        }
    }
}

/// Evicts the least recently used entries until the limits hold. `current` is retained.
fn evict(entries: &mut HashMap<PathBuf, RepositoryEntry>, current: &Path, limits: WatchLimits) {
    loop {
        let watches: usize = entries.values().map(|entry| entry.state.watches()).sum();
        if entries.len() <= limits.instances && watches <= limits.watches {
            return;
        }
        let others = entries.iter().filter(|(directory, _)| *directory != current);
        let Some((oldest, _)) = others.min_by_key(|(_, entry)| entry.last_used) else { return };
        let oldest = oldest.clone();
        entries.remove(&oldest);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
