//! Where the clones of the managed repositories lie, by full name, in memory.
//!
//! The kernel tells when `repos.json` or a clone's configuration changes; until then an answer
//! touches no disk. Where it cannot tell, the files are looked at for each answer. Git is never
//! started: the origin stands in the clone's configuration file.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use loopgate_api::ids::RepoFullName;
use loopgate_home::{Repos, ReposError, ReposFile, Sandbox, Settings, SettingsStore};
use notify::event::ModifyKind;
use notify::{EventKind, RecommendedWatcher, RecursiveMode, Watcher as _};

/// Names of the files whose change makes the index stale.
const WATCHED: [&str; 3] = ["repos.json", "config", ".git"];

/// The clones of one state of the list.
struct Index {
    /// The settings that named the list.
    settings: Arc<Settings>,
    /// By name in lower case; clones whose names differ in case stand together.
    clones: HashMap<String, Vec<(RepoFullName, PathBuf)>>,
    /// Whether a change of any part of it would be told.
    watched: bool,
}

/// The index, kept fresh.
pub(crate) struct RepoIndex {
    settings: Arc<SettingsStore>,
    repos: Arc<Repos>,
    /// Entries that it does not allow are not there.
    sandbox: Arc<Sandbox>,
    known: RwLock<Option<Arc<Index>>>,
    /// Set by the watcher, cleared before the files are read again.
    stale: Arc<AtomicBool>,
    /// Holds the watches of the index that is known. Made with the first look-up.
    watcher: Mutex<Option<RecommendedWatcher>>,
}

impl RepoIndex {
    pub(crate) fn new(settings: Arc<SettingsStore>, repos: Arc<Repos>, sandbox: Arc<Sandbox>) -> Self {
        let stale = Arc::new(AtomicBool::new(true));
        Self { settings, repos, sandbox, known: RwLock::new(None), stale, watcher: Mutex::new(None) }
    }

    /// The clone of a repository, when the answer is at hand. The outer `None` sends the caller to
    /// [`RepoIndex::look`].
    pub(crate) fn find(&self, full_name: &str) -> Option<Option<PathBuf>> {
        if self.stale.load(Ordering::Acquire) {
            return None;
        }
        let index = self.known.read().unwrap_or_else(PoisonError::into_inner).clone()?;
        (index.watched && Arc::ptr_eq(&index.settings, &self.settings.get())).then(|| index.find(full_name))
    }

    /// The clone of a repository, by the files as they are now. Blocks on the disk.
    pub(crate) fn look(&self, full_name: &str) -> Result<Option<PathBuf>, ReposError> {
        self.stale.store(false, Ordering::Release);
        let settings = self.settings.get();
        // Watched before it is read, so that no change falls in between.
        let list_watched = self.watch_list();
        let list = match self.repos.list() {
            Ok(list) => list,
            Err(error) => {
                self.stale.store(true, Ordering::Release);
                return Err(error);
            }
        };
        let index = Arc::new(self.read(settings, &list, list_watched));
        *self.known.write().unwrap_or_else(PoisonError::into_inner) = Some(index.clone());
        Ok(index.find(full_name))
    }

    /// To be called after a change of our own, which need not wait for the kernel's word.
    pub(crate) fn outdate(&self) {
        self.stale.store(true, Ordering::Release);
    }

    fn read(&self, settings: Arc<Settings>, list: &ReposFile, list_watched: bool) -> Index {
        let mut clones: HashMap<String, Vec<_>> = HashMap::new();
        let mut watched = list_watched;
        for repo in &list.repos {
            let path = loopgate_home::expand_home(&repo.path);
            if self.sandbox.check(&path).is_err() {
                continue;
            }
            watched &= self.watch_clone(&path);
            if let Some(origin) = loopgate_home::origin_of(&path) {
                clones.entry(origin.as_str().to_lowercase()).or_default().push((origin, path));
            }
        }
        Index { settings, clones, watched }
    }

    /// Begins a new set of watches with the directory of the list.
    fn watch_list(&self) -> bool {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        *watcher = watcher_into(self.stale.clone());
        let directory = self.repos.path().and_then(|path| path.parent().map(Path::to_owned));
        match (watcher.as_mut(), directory) {
            (Some(watcher), Some(directory)) => {
                // The first look-up makes the file; its directory must be there to be watched.
                std::fs::create_dir_all(&directory).is_ok() && watch(watcher, &directory)
            }
            _ => false,
        }
    }

    /// Watches the configuration of a clone; for a worktree or a missing directory nothing can be.
    fn watch_clone(&self, clone: &Path) -> bool {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(watcher) = watcher.as_mut() else { return false };
        watch(watcher, &clone.join(".git")) && watch(watcher, clone)
    }
}

impl Index {
    /// The clone whose name is the same to the letter, else one that differs in case.
    fn find(&self, full_name: &str) -> Option<PathBuf> {
        let same = self.clones.get(&full_name.to_lowercase())?;
        let exact = same.iter().find(|(name, _)| name.as_str() == full_name);
        exact.or_else(|| same.first()).map(|(_, path)| path.clone())
    }
}

fn watch(watcher: &mut RecommendedWatcher, directory: &Path) -> bool {
    directory.is_dir() && watcher.watch(directory, RecursiveMode::NonRecursive).is_ok()
}

fn watcher_into(stale: Arc<AtomicBool>) -> Option<RecommendedWatcher> {
    let made = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if !event.is_ok_and(|event| is_of_no_interest(&event)) {
            stale.store(true, Ordering::Release);
        }
    });
    match made {
        Ok(watcher) => Some(watcher),
        Err(error) => {
            tracing::debug!(%error, "files cannot be watched, so they are looked at for each request");
            None
        }
    }
}

/// Reads, and changes of files that the index does not come from. A clone itself may be moved away;
/// what git moves about within its own directory is of no interest.
fn is_of_no_interest(event: &notify::Event) -> bool {
    let named = |path: &PathBuf| WATCHED.iter().any(|name| path.file_name().is_some_and(|f| f == *name));
    let outside_git = |path: &PathBuf| path.parent().is_none_or(|parent| !parent.ends_with(".git"));
    let moved = matches!(event.kind, EventKind::Remove(_) | EventKind::Modify(ModifyKind::Name(_)));
    let concerns = |path: &PathBuf| named(path) || (moved && outside_git(path));
    event.kind.is_access() || (!event.need_rescan() && !event.paths.iter().any(concerns))
}
