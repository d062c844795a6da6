//! One cached repository: its watches, and the last answers with the generation they are valid for.

use std::collections::BTreeSet;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_home::{Repository, Watches};
use loopgate_tools::git::{BranchListing, Git, GitError, Status};

use crate::WatchError;
use crate::external_files::{self, ExternalFiles};
use crate::watch_state::{Generation, Layout, WatchState};

/// A repository under watch.
#[derive(Debug)]
pub(crate) struct CachedRepository {
    git: Git,
    directory: PathBuf,
    /// The git program of the cached answers.
    program: PathBuf,
    max_age: Duration,
    validity: Arc<Validity>,
    status: CacheSlot<Status>,
    listing: CacheSlot<BranchListing>,
}

/// What tells whether anything has changed. Blocks on the file system.
#[derive(Debug)]
struct Validity {
    /// The directories that were opened, by device and inode.
    identities: [(PathBuf, Option<(u64, u64)>); 3],
    external: ExternalFiles,
    /// `None` once it is not known any more what has changed.
    watch: Mutex<Option<WatchState>>,
    /// How many directories are watched; 0 once `watch` is `None`. Read without its lock, which is held
    /// while directories are read.
    watches: AtomicUsize,
}

/// The last answer. Whoever asks git holds the lock; the others wait for what it says.
#[derive(Debug)]
struct CacheSlot<T>(tokio::sync::Mutex<Option<CacheEntry<T>>>);

#[derive(Debug)]
struct CacheEntry<T> {
    value: Arc<T>,
    asked_at: Instant,
    /// The generation it describes; `None` when something changed while git was asked.
    generation: Option<Generation>,
}

impl CachedRepository {
    /// Begins to watch a repository.
    pub(crate) async fn open(git: Git, directory: &Path, max_age: Duration) -> Result<Self, WatchError> {
        let program = git.executable().await;
        let repository = git.repository(directory).await?;
        let layout = layout(&repository, directory)?;
        let config = list_config(&git, &repository).await?;
        let variables = git.print_settings(&repository, &["var", "-l"]).await?;
        let own_config = [layout.common.join("config"), layout.own.join("config.worktree")];
        let environment = git.environment().await;
        let mut files = external_files::paths(&config, &variables, &environment, directory, &own_config)?;
        files.extend([program.clone(), git.trust_file()]);
        let (_, ignored) = git.status_with_ignored(directory).await?;
        let validity = tokio::task::spawn_blocking(move || Validity::open(layout, files, ignored)).await;
        let validity = validity.map_err(io::Error::other)??;
        // It was read before anything was watched.
        if list_config(&git, &repository).await? != config {
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
        let asked_at = Instant::now();
        let mut cached = self.status.0.lock().await;
        let before = self.generation().await;
        if let Some(status) = cached.as_ref().and_then(|entry| entry.valid(asked_at, before, self.max_age)) {
            return Ok(status);
        }
        let asked_at = Instant::now();
        let (status, ignored) = self.git.status_with_ignored(&self.directory).await?;
        let after = self.run_blocking(move |validity| validity.set_ignored(ignored)).await;
        Ok(CacheEntry::store(&mut cached, status, asked_at, before, after))
    }

    pub(crate) async fn listing(&self) -> Result<Arc<BranchListing>, GitError> {
        let asked_at = Instant::now();
        let mut cached = self.listing.0.lock().await;
        let before = self.generation().await.map(Generation::of_records);
        if let Some(listing) = cached.as_ref().and_then(|entry| entry.valid(asked_at, before, self.max_age)) {
            return Ok(listing);
        }
        let asked_at = Instant::now();
        let listing = self.git.listing(&self.directory).await?;
        let after = self.generation().await.map(Generation::of_records);
        Ok(CacheEntry::store(&mut cached, listing, asked_at, before, after))
    }

    /// Whether changes are still reported. Once `false`, it has to be reopened.
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
        let places = [&layout.root, &layout.own, &layout.common];
        for place in places {
            if !Watches::are_complete_on(place)? {
                return Err(WatchError::Unsupported("the file system may change without an event"));
            }
        }
        let identities = places.map(|place| (place.clone(), identity(place)));
        let external = ExternalFiles::read(files)?.ok_or(WatchError::Changed)?;
        let watch = WatchState::open(layout, ignored)?;
        let watches = AtomicUsize::new(watch.watches());
        Ok(Self { identities, external, watch: Mutex::new(Some(watch)), watches })
    }

    /// The current generation; `None` once changes are not reported any more.
    fn generation(&self) -> Option<Generation> {
        self.update(WatchState::read_events)
    }

    /// As [`Self::generation`], after watching what is not ignored any more, and not watching what is.
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
        let is_same = |(place, known): &(PathBuf, _)| identity(place) == *known;
        let generation = if self.identities.iter().all(is_same) && self.external.are_unchanged() {
            update(watch)
                .inspect_err(|error| tracing::debug!(%error, "a repository is not cached any more"))
                .ok()
        } else {
            None
        };
        let watches = if generation.is_some() { watch.watches() } else { 0 };
        self.watches.store(watches, Ordering::Release);
        if generation.is_none() {
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
    /// The answer, if git was asked for it after the question came, or if nothing has changed since.
    fn valid(&self, question: Instant, now: Option<Generation>, max_age: Duration) -> Option<Arc<T>> {
        let is_unchanged = || now.is_some() && self.generation == now && self.asked_at.elapsed() < max_age;
        (self.asked_at > question || is_unchanged()).then(|| self.value.clone())
    }

    fn store(
        cached: &mut Option<Self>,
        value: T,
        asked_at: Instant,
        before: Option<Generation>,
        after: Option<Generation>,
    ) -> Arc<T> {
        let value = Arc::new(value);
        let generation = after.filter(|after| before == Some(*after));
        *cached = Some(Self { value: value.clone(), asked_at, generation });
        value
    }
}

fn layout(repository: &Repository, directory: &Path) -> Result<Layout, WatchError> {
    let Repository { own, common, .. } = repository;
    if repository.bare || !repository.prefix.as_os_str().is_empty() {
        return Err(WatchError::Unsupported("it is not the root of a working tree"));
    }
    let is_inside = |records: &Path| records.starts_with(directory) && records != directory.join(".git");
    if is_inside(own) || is_inside(common) {
        return Err(WatchError::Unsupported("the records lie within the working tree"));
    }
    Ok(Layout { root: directory.to_owned(), own: own.clone(), common: common.clone() })
}

async fn list_config(git: &Git, repository: &Arc<Repository>) -> Result<Vec<u8>, GitError> {
    git.print_settings(repository, &["config", "--list", "--show-origin", "-z"]).await
}

fn identity(place: &Path) -> Option<(u64, u64)> {
    place.metadata().ok().map(|found| (found.dev(), found.ino()))
}
