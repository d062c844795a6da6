//! A cached repository: its watches, and the latest results with the generation for which they are valid.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_home::{FileVersions, Repository, Watches};
use loopgate_tools::git::{BranchListing, Git, GitError, Status};

use crate::WatchError;
use crate::watch_state::{Generation, Layout, WatchState};

/// A repository that is being watched.
#[derive(Debug)]
pub(crate) struct CachedRepository {
    git: Git,
    directory: PathBuf,
    /// Git program that produced the cached results.
    program: PathBuf,
    max_age: Duration,
    validity: Arc<Validity>,
    status: CacheSlot<Status>,
    listing: CacheSlot<BranchListing>,
}

/// Detects whether anything has changed. Blocks on file system I/O.
#[derive(Debug)]
struct Validity {
    /// Device and inode of the directories when the repository was opened.
    identities: [(PathBuf, Option<(u64, u64)>); 3],
    external: FileVersions,
    /// `None` once changes are no longer tracked.
    watch: Mutex<Option<WatchState>>,
    /// Number of watched directories; 0 once `watch` is `None`. Separate from `watch`, whose lock is held
    /// during I/O.
    watches: AtomicUsize,
}

/// The latest result. Locked while git runs; concurrent requests wait and share the result.
#[derive(Debug)]
struct CacheSlot<T>(tokio::sync::Mutex<Option<CacheEntry<T>>>);

#[derive(Debug)]
struct CacheEntry<T> {
    value: Arc<T>,
    started_at: Instant,
    /// Generation that the result describes; `None` when something changed while git ran.
    generation: Option<Generation>,
}

impl CachedRepository {
    /// Starts to watch a repository.
    pub(crate) async fn open(git: Git, directory: &Path, max_age: Duration) -> Result<Self, WatchError> {
        let program = git.executable().await;
        let repository = git.repository(directory).await?;
        let layout = layout(&repository, directory)?;
        let config = git.config_listing(&repository).await?;
        let mut files = config.external_files()?;
        files.push(git.trust_file());
        let (_, ignored) = git.status_with_ignored(directory).await?;
        let validity = tokio::task::spawn_blocking(move || Validity::open(layout, files, ignored)).await;
        let validity = validity.map_err(io::Error::other)??;
        // The configuration was read before anything was watched, so a change in between was not reported.
        if git.config_listing(&repository).await? != config {
            return Err(WatchError::Changed);
        }
        Ok(Self {
            git,
            directory: directory.to_owned(),
            program,
            max_age,
            validity: Arc::new(validity),
            status: CacheSlot::default(),
            listing: CacheSlot::default(),
        })
    }

    pub(crate) async fn status(&self) -> Result<Arc<Status>, GitError> {
        let requested_at = Instant::now();
        let mut cached = self.status.0.lock().await;
        let before = self.generation().await;
        if let Some(status) =
            cached.as_ref().and_then(|entry| entry.valid(requested_at, before, self.max_age))
        {
            return Ok(status);
        }
        // A second timestamp: waiting for the lock may have taken long, and a request is only served by a run
        // of git that started after the request.
        let started_at = Instant::now();
        let (status, ignored) = self.git.status_with_ignored(&self.directory).await?;
        let after = self.run_blocking(move |validity| validity.set_ignored(ignored)).await;
        Ok(CacheEntry::store(&mut cached, status, started_at, before, after))
    }

    pub(crate) async fn listing(&self) -> Result<Arc<BranchListing>, GitError> {
        let requested_at = Instant::now();
        let mut cached = self.listing.0.lock().await;
        let before = self.generation().await.map(Generation::of_git_dir);
        if let Some(listing) =
            cached.as_ref().and_then(|entry| entry.valid(requested_at, before, self.max_age))
        {
            return Ok(listing);
        }
        let started_at = Instant::now();
        let listing = self.git.listing(&self.directory).await?;
        let after = self.generation().await.map(Generation::of_git_dir);
        Ok(CacheEntry::store(&mut cached, listing, started_at, before, after))
    }

    /// Returns whether changes are still tracked. Otherwise the repository has to be opened again.
    pub(crate) fn is_valid(&self) -> bool {
        self.watches() > 0
    }

    pub(crate) fn close(&self) {
        self.validity.watches.store(0, Ordering::Release);
    }

    pub(crate) fn watches(&self) -> usize {
        self.validity.watches.load(Ordering::Acquire)
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn program(&self) -> &Path {
        &self.program
    }

    async fn generation(&self) -> Option<Generation> {
        self.run_blocking(Validity::generation).await
    }

    async fn run_blocking(
        &self,
        work: impl FnOnce(&Validity) -> Option<Generation> + Send + 'static,
    ) -> Option<Generation> {
        let validity = self.validity.clone();
        tokio::task::spawn_blocking(move || work(&validity)).await.ok().flatten()
    }
}

impl Validity {
    fn open(layout: Layout, files: Vec<PathBuf>, ignored: BTreeSet<PathBuf>) -> Result<Self, WatchError> {
        let directories = [&layout.root, &layout.git_dir, &layout.common_dir];
        for directory in directories {
            if !Watches::are_complete_on(directory)? {
                return Err(WatchError::Unsupported("the file system does not report all changes"));
            }
        }
        let identities = directories.map(|path| (path.clone(), identity(path)));
        let external = FileVersions::read(files)?.ok_or(WatchError::Changed)?;
        let watch = WatchState::open(layout, ignored)?;
        let watches = AtomicUsize::new(watch.watches());
        Ok(Self { identities, external, watch: Mutex::new(Some(watch)), watches })
    }

    /// Returns the current generation; `None` once changes are no longer tracked.
    fn generation(&self) -> Option<Generation> {
        self.update(WatchState::read_events)
    }

    /// As [`Self::generation`], after watching directories that are no longer ignored and removing the
    /// watches of those that now are.
    fn set_ignored(&self, ignored: BTreeSet<PathBuf>) -> Option<Generation> {
        self.update(|watch| {
            watch.set_ignored(ignored)?;
            watch.read_events()
        })
    }

    fn update(
        &self,
        update: impl FnOnce(&mut WatchState) -> Result<Generation, WatchError>,
    ) -> Option<Generation> {
        let mut guard = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        let watch = guard.as_mut()?;
        let is_same = |(path, opened): &(PathBuf, _)| identity(path) == *opened;
        let generation = if self.identities.iter().all(is_same) && self.external.are_unchanged() {
            update(watch).inspect_err(|error| tracing::debug!(%error, "repository no longer cached")).ok()
        } else {
            None
        };
        let watches = if generation.is_some() { watch.watches() } else { 0 };
        self.watches.store(watches, Ordering::Release);
        if generation.is_none() {
            // Dropping the state removes the watches, which count towards the limit of the user.
            *guard = None;
        }
        generation
    }
}

impl<T> Default for CacheSlot<T> {
    fn default() -> Self {
        Self(tokio::sync::Mutex::new(None))
    }
}

impl<T> CacheEntry<T> {
    /// Returns the result if git was started for it after the request arrived, or if nothing has changed
    /// since.
    fn valid(&self, requested_at: Instant, current: Option<Generation>, max_age: Duration) -> Option<Arc<T>> {
        let is_unchanged =
            || current.is_some() && self.generation == current && self.started_at.elapsed() < max_age;
        (self.started_at > requested_at || is_unchanged()).then(|| self.value.clone())
    }

    fn store(
        cached: &mut Option<Self>,
        value: T,
        started_at: Instant,
        before: Option<Generation>,
        after: Option<Generation>,
    ) -> Arc<T> {
        let value = Arc::new(value);
        let generation = after.filter(|after| before == Some(*after));
        *cached = Some(Self { value: value.clone(), started_at, generation });
        value
    }
}

fn layout(repository: &Repository, directory: &Path) -> Result<Layout, WatchError> {
    let Repository { git_dir, common_dir, .. } = repository;
    if repository.bare || !repository.prefix.as_os_str().is_empty() {
        return Err(WatchError::Unsupported("not the root of a working tree"));
    }
    let is_inside = |git_dir: &Path| git_dir.starts_with(directory) && git_dir != directory.join(".git");
    if is_inside(git_dir) || is_inside(common_dir) {
        return Err(WatchError::Unsupported("the git directory is inside the working tree"));
    }
    Ok(Layout { root: directory.to_owned(), git_dir: git_dir.clone(), common_dir: common_dir.clone() })
}

fn identity(directory: &Path) -> Option<(u64, u64)> {
    directory.metadata().ok().map(|metadata| (metadata.dev(), metadata.ino()))
}
