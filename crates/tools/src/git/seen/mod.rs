//! Answers about repositories that were asked about before.
//!
//! An answer of git's is kept for as long as nothing changes that it was made of. Whether anything
//! has is asked of the kernel with every question, so that an answer is never older than its
//! question. Where that cannot be told, or something has changed, git answers.

mod contents;
mod enter;
mod file;
mod heard;
mod kept;
mod layout;
mod outside;
mod partial;
mod repository;
mod watch;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use loopgate_home::Program;
use thiserror::Error;

use self::contents::Contents;
use self::kept::{Answers, Kept};
use self::repository::Repository;
use super::{Branches, FileDiff, FileDiffError, FilePath, Git, GitError, Status};

/// Repositories that are watched at once, and directories in all of them; the one that was asked
/// last stays in any case.
const MOST_REPOSITORIES: usize = 16;
const MOST_DIRECTORIES: usize = 40_000;
/// One that nobody asked about for so long is forgotten when somebody asks about another.
const IDLE: Duration = Duration::from_secs(600);
/// How long a repository that cannot be watched is left alone.
const REST: Duration = Duration::from_secs(60);
/// The same for one that just moves too much.
const SHORT_REST: Duration = Duration::from_millis(200);

/// Repositories that were asked about.
#[derive(Debug)]
pub struct SeenRepositories {
    git: Git,
    slots: Arc<Mutex<Slots>>,
}

/// By the directory that was asked about.
type Slots = HashMap<PathBuf, Arc<Slot>>;

/// What is known of one repository.
#[derive(Debug)]
struct Slot {
    directory: PathBuf,
    used: Mutex<Instant>,
    watched: Mutex<Watched>,
}

#[derive(Debug)]
enum Watched {
    /// Until then.
    Not(Instant),
    /// That is being begun.
    Begun,
    Yes(Arc<Kept>),
}

/// Why a repository is not watched.
#[derive(Debug, Error)]
enum Refusal {
    /// Something could change unheard.
    #[error("{0}")]
    Unusual(&'static str),
    /// Something that is looked at once moved at that time.
    #[error("it is changing just now")]
    Moving,
    /// Git did not tell what there is to watch.
    #[error(transparent)]
    Git(GitError),
    /// The disk, or the system's limits.
    #[error(transparent)]
    Disk(#[from] io::Error),
}

impl SeenRepositories {
    /// Nothing has been asked yet.
    #[must_use]
    pub fn new(git: Git) -> Self {
        Self { git, slots: Arc::default() }
    }

    /// As [`Git::status`], at this moment.
    ///
    /// # Errors
    /// As there.
    pub async fn status(&self, directory: &Path) -> Result<Arc<Status>, GitError> {
        let slot = self.slot(directory);
        let Some(kept) = self.kept(&slot).await else {
            let status = self.git.status(directory).await?;
            self.begin(slot);
            return Ok(Arc::new(status));
        };
        let status = kept.status().await;
        tend(&slot, kept);
        status
    }

    /// Branches and worktrees at this moment; a directory that is no repository has none.
    ///
    /// # Errors
    /// [`GitError`] when git could not be asked.
    pub async fn branches(&self, directory: &Path) -> Result<Branches, GitError> {
        let slot = self.slot(directory);
        let listing = match self.kept(&slot).await {
            Some(kept) => {
                let listing = kept.listing().await;
                tend(&slot, kept);
                listing?
            }
            None => {
                let listing = self.git.listing(directory, None).await?;
                self.begin(slot);
                Arc::new(listing)
            }
        };
        Ok(Branches::of(listing, directory).await)
    }

    /// As [`Git::diff_to_worktree`], at this moment.
    ///
    /// # Errors
    /// As there.
    pub async fn diff_to_worktree(
        &self,
        directory: &Path,
        path: &FilePath,
    ) -> Result<FileDiff, FileDiffError> {
        let slot = self.slot(directory);
        let Some(kept) = self.kept(&slot).await else {
            let diff = self.git.diff_to_worktree(directory, path).await;
            self.begin(slot);
            return diff;
        };
        let diff = kept.diff(path).await;
        tend(&slot, kept);
        diff
    }

    fn slot(&self, directory: &Path) -> Arc<Slot> {
        let now = Instant::now();
        let mut slots = lock(&self.slots);
        slots.retain(|known, slot| known == directory || now - *lock(&slot.used) < IDLE);
        if let Some(slot) = slots.get(directory) {
            *lock(&slot.used) = now;
            return slot.clone();
        }
        let slot = Arc::new(Slot {
            directory: directory.to_owned(),
            used: Mutex::new(now),
            watched: Mutex::new(Watched::Not(now)),
        });
        slots.insert(directory.to_owned(), slot.clone());
        make_room(&mut slots, directory);
        slot
    }

    /// What is kept of a repository that is watched, if the git that answered is the one that would.
    async fn kept(&self, slot: &Slot) -> Option<Arc<Kept>> {
        let kept = match &*lock(&slot.watched) {
            Watched::Yes(kept) => kept.clone(),
            Watched::Not(_) | Watched::Begun => return None,
        };
        let same = self.git.programs.executable(Program::Git).await == kept.repository.program();
        if !same {
            slot.forget(&kept);
        }
        same.then_some(kept)
    }

    /// Begins to watch a repository, unless that was tried just now. Does not wait for it.
    fn begin(&self, slot: Arc<Slot>) {
        if !slot.is_to_be_begun() {
            return;
        }
        let (git, slots) = (self.git.clone(), self.slots.clone());
        tokio::spawn(async move {
            slot.begin(&git).await;
            make_room(&mut lock(&slots), &slot.directory);
        });
    }
}

/// Does in the background what the next question needs.
fn tend(slot: &Slot, kept: Arc<Kept>) {
    let told = kept.repository.told();
    if told.lost {
        slot.forget(&kept);
    } else if told.judge && !kept.judging.swap(true, Ordering::AcqRel) {
        tokio::spawn(async move {
            kept.judge().await;
            kept.judging.store(false, Ordering::Release);
        });
    }
}

impl Slot {
    fn is_to_be_begun(&self) -> bool {
        let mut watched = lock(&self.watched);
        let due = matches!(&*watched, Watched::Not(until) if *until <= Instant::now());
        if due {
            *watched = Watched::Begun;
        }
        due
    }

    /// Begins to watch, and asks git what will be asked next.
    async fn begin(&self, git: &Git) {
        let program = git.programs.executable(Program::Git).await;
        let repository = match Repository::watch(git, &self.directory, program).await {
            Ok(repository) => Arc::new(repository),
            Err(refusal) => {
                tracing::debug!(%refusal, "a repository is not watched");
                let rest = if matches!(refusal, Refusal::Moving) { SHORT_REST } else { REST };
                *lock(&self.watched) = Watched::Not(Instant::now() + rest);
                return;
            }
        };
        let kept = Arc::new(Kept {
            git: git.clone(),
            directory: self.directory.clone(),
            repository,
            status: Answers::default(),
            listing: Answers::default(),
            contents: Contents::default(),
            judging: AtomicBool::new(false),
        });
        *lock(&self.watched) = Watched::Yes(kept.clone());
        kept.judge().await;
        let _ = kept.listing().await;
    }

    /// Ends the watch.
    fn forget(&self, kept: &Arc<Kept>) {
        let mut watched = lock(&self.watched);
        if matches!(&*watched, Watched::Yes(known) if Arc::ptr_eq(known, kept)) {
            *watched = Watched::Not(Instant::now() + SHORT_REST);
        }
    }

    fn directories(&self) -> usize {
        match &*lock(&self.watched) {
            Watched::Yes(kept) => kept.repository.told().directories,
            Watched::Not(_) | Watched::Begun => 0,
        }
    }
}

/// Forgets the repositories that were asked about longest ago, until the others fit.
fn make_room(slots: &mut Slots, last: &Path) {
    loop {
        let directories: usize = slots.values().map(|slot| slot.directories()).sum();
        if slots.len() <= MOST_REPOSITORIES && directories <= MOST_DIRECTORIES {
            return;
        }
        let others = slots.values().filter(|slot| slot.directory != last);
        let Some(oldest) = others.min_by_key(|slot| *lock(&slot.used)) else { return };
        let oldest = oldest.directory.clone();
        slots.remove(&oldest);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
