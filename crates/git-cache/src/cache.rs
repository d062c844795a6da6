//! The repositories that are cached.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopgate_tools::git::{Branches, Git, GitError, Status};
use tokio::task::JoinSet;

use crate::WatchError;
use crate::repository::CachedRepository;

const MAX_REPOSITORIES: usize = 16;
const MAX_WATCHES: usize = 40_000;
/// An entry that was not used for so long is evicted with the next question.
const MAX_IDLE: Duration = Duration::from_secs(600);
/// A cached answer is given at most so long after git was asked for it.
pub(crate) const MAX_AGE: Duration = Duration::from_secs(30);
/// Pause before a repository that cannot be watched is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(60);
/// The same for one that has just changed too much.
const RETRY_CHANGED_AFTER: Duration = Duration::from_millis(200);

/// Answers about repositories, from memory while they are valid. See the [crate](crate) for what that means.
#[derive(Debug)]
pub struct GitCache {
    git: Git,
    max_age: Duration,
    entries: Arc<Entries>,
    /// Tasks that open repositories; aborted when the cache is dropped.
    opening: Mutex<JoinSet<()>>,
}

/// By the directory that is asked about.
type Entries = Mutex<HashMap<PathBuf, RepositoryEntry>>;

#[derive(Debug)]
struct RepositoryEntry {
    last_used: Instant,
    state: EntryState,
}

#[derive(Debug)]
enum EntryState {
    /// Git is asked every time; opening may be tried from then on.
    Closed { retry_at: Instant },
    /// A task is opening it.
    Opening,
    /// Its answers are cached.
    Open(Arc<CachedRepository>),
}

impl GitCache {
    /// Nothing is cached yet.
    #[must_use]
    pub fn new(git: Git) -> Self {
        Self::with_max_age(git, MAX_AGE)
    }

    pub(crate) fn with_max_age(git: Git, max_age: Duration) -> Self {
        Self { git, max_age, entries: Arc::default(), opening: Mutex::default() }
    }

    /// As [`Git::status`].
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

    /// Branches and worktrees; a directory that is no repository has none.
    ///
    /// # Errors
    /// [`GitError`] when git could not be asked.
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

    /// The cached repository of a directory, if it was opened with the git program that would be run now.
    pub(crate) async fn repository(&self, directory: &Path) -> Option<Arc<CachedRepository>> {
        let repository = {
            let now = Instant::now();
            let mut entries = lock(&self.entries);
            entries.retain(|known, entry| known == directory || now - entry.last_used < MAX_IDLE);
            let entry = entries.get_mut(directory)?;
            entry.last_used = now;
            let EntryState::Open(repository) = &entry.state else { return None };
            repository.clone()
        };
        if repository.program() != self.git.executable().await {
            repository.close();
            self.close_if_invalid(&repository);
            return None;
        }
        Some(repository)
    }

    /// Begins to open a repository, unless that is under way or has just failed.
    fn open(&self, directory: &Path) {
        let now = Instant::now();
        let mut entries = lock(&self.entries);
        let entry = entries.entry(directory.to_owned()).or_insert_with(|| RepositoryEntry {
            last_used: now,
            state: EntryState::Closed { retry_at: now },
        });
        if !matches!(entry.state, EntryState::Closed { retry_at } if retry_at <= now) {
            return;
        }
        entry.state = EntryState::Opening;
        evict(&mut entries, directory);
        drop(entries);
        let (git, directory, max_age) = (self.git.clone(), directory.to_owned(), self.max_age);
        let entries = self.entries.clone();
        let mut opening = lock(&self.opening);
        while opening.try_join_next().is_some() {}
        opening.spawn(async move {
            let state = match CachedRepository::open(git, &directory, max_age).await {
                Ok(repository) => EntryState::Open(Arc::new(repository)),
                Err(error) => {
                    tracing::debug!(%error, "a repository is not cached");
                    EntryState::closed(&error)
                }
            };
            let mut entries = lock(&entries);
            if let Some(entry) = entries.get_mut(&directory) {
                entry.state = state;
                evict(&mut entries, &directory);
            }
        });
    }

    fn close_if_invalid(&self, repository: &Arc<CachedRepository>) {
        if repository.is_valid() {
            return;
        }
        let mut entries = lock(&self.entries);
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

    /// Allows to open every closed repository now.
    #[cfg(test)]
    pub(crate) fn retry_now(&self) {
        for entry in lock(&self.entries).values_mut() {
            if let EntryState::Closed { retry_at } = &mut entry.state {
                *retry_at = Instant::now();
            }
        }
    }
}

impl EntryState {
    fn closed(error: &WatchError) -> Self {
        let pause = if matches!(error, WatchError::Changed) { RETRY_CHANGED_AFTER } else { RETRY_AFTER };
        Self::Closed { retry_at: Instant::now() + pause }
    }

    fn watches(&self) -> usize {
        match self {
            Self::Open(repository) => repository.watches(),
            Self::Closed { .. } | Self::Opening => 0,
        }
    }
}

/// Evicts the entries that were used longest ago until the others are within the limits; `current` stays.
fn evict(entries: &mut HashMap<PathBuf, RepositoryEntry>, current: &Path) {
    loop {
        let watches: usize = entries.values().map(|entry| entry.state.watches()).sum();
        if entries.len() <= MAX_REPOSITORIES && watches <= MAX_WATCHES {
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
