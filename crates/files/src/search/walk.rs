//! Walk of a tree or a part of it. Skips what git ignores, dependencies and build output.
//!
//! Each directory is opened relative to the handle of the root without following symbolic links. A directory
//! that is replaced by a link during the walk therefore exposes nothing of the link's target.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use loopgate_home::{Directory, EntryKind, Sandbox, SandboxedPath};

use super::listing::ListingBuilder;
use super::rules::{GIT, IgnoreRules};

/// Maximum number of components of a path in the result.
const MAX_DEPTH: usize = 10;
/// Maximum number of entries that one walk visits.
const MAX_ENTRIES: usize = 200_000;
/// Maximum duration of one walk.
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Number of entries that a thread reads between checks of the limits: each check writes to a shared counter.
const CHECK_EVERY: usize = 64;
/// Maximum number of threads of one walk.
const MAX_THREADS: usize = 4;

/// Directories that are skipped at any depth.
const SKIPPED_DIRECTORIES: [&str; 10] =
    ["node_modules", GIT, ".next", "dist", "build", "__pycache__", ".venv", "venv", "coverage", ".turbo"];
/// Extension of compiled Python files, which are skipped.
const COMPILED: &[u8] = b".pyc";

/// Returns whether a directory of the tree must not be entered, given its canonical path.
pub(super) type DenyPredicate = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// Depth of a walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthLimit {
    /// The entries of one directory.
    Directory,
    /// The directory and everything below it.
    Tree,
}

/// Result of a walk. Paths are relative to the root.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub(super) names: HashMap<Box<str>, ListingBuilder>,
    /// All directories below the start directory, including those without files.
    pub(super) directories: Vec<Box<str>>,
    /// Whether a limit stopped the walk.
    pub(super) truncated: bool,
}

/// An open tree with the sandbox that its paths belong to.
#[derive(Clone)]
pub(super) struct Root {
    path: SandboxedPath,
    handle: Arc<Directory>,
    sandbox: Arc<Sandbox>,
    denied: Option<DenyPredicate>,
}

impl Root {
    /// Creates a root. `handle` is the directory that was opened at `path`.
    pub(super) fn new(
        path: SandboxedPath,
        handle: Directory,
        sandbox: Arc<Sandbox>,
        denied: Option<DenyPredicate>,
    ) -> Self {
        Self { path, handle: Arc::new(handle), sandbox, denied }
    }

    pub(super) fn handle(&self) -> &Directory {
        &self.handle
    }

    /// Returns a path with which the system can watch an open directory of the tree.
    pub(super) fn watched_path(&self, directory: &str, handle: &Directory) -> PathBuf {
        // The path is a link in `/proc`, and the watch does not follow links in the last component; the dot
        // makes the kernel resolve it.
        handle.proc_path().map_or_else(|| self.path.canonical().join(directory), |held| held.join("."))
    }

    /// Reads a directory, or everything below it. `enter` is called with each open directory before its
    /// entries are read.
    pub(super) fn walk(
        &self,
        directory: &str,
        limit: DepthLimit,
        enter: &(dyn Fn(&str, &Directory) + Sync),
    ) -> WalkResult {
        let depth = if directory.is_empty() { 0 } else { directory.split('/').count() };
        let remaining_depth = MAX_DEPTH.saturating_sub(depth);
        let walk = TreeWalk {
            root: self,
            max_depth: if limit == DepthLimit::Directory { remaining_depth.min(1) } else { remaining_depth },
            enter,
            started: Instant::now(),
            visited: AtomicUsize::new(0),
            truncated: AtomicBool::new(false),
            queue: Mutex::default(),
            changed: Condvar::new(),
            result: Mutex::default(),
        };
        walk.put(vec![PendingDirectory {
            path: PathBuf::from(directory),
            display: directory.into(),
            depth: 0,
            rules: IgnoreRules::above(&self.sandbox, &self.path, directory),
        }]);
        let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
        std::thread::scope(|scope| {
            for _ in 1..if limit == DepthLimit::Directory { 1 } else { threads } {
                scope.spawn(|| WalkWorker::of(&walk).run());
            }
            WalkWorker::of(&walk).run();
        });
        let mut result = walk.result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.truncated = walk.truncated.into_inner();
        result
    }
}

/// A directory that is queued for reading.
struct PendingDirectory {
    /// Path relative to the root.
    path: PathBuf,
    /// The path as text.
    display: Box<str>,
    /// Depth below the start directory of the walk.
    depth: usize,
    /// Rules inherited from the directories above.
    rules: Option<Arc<IgnoreRules>>,
}

/// Work queue of a walk.
#[derive(Default)]
struct Queue {
    pending: Vec<PendingDirectory>,
    /// Number of threads that are reading a directory, and may queue more.
    reading: usize,
}

/// State of a walk, shared by its threads.
struct TreeWalk<'a> {
    root: &'a Root,
    max_depth: usize,
    enter: &'a (dyn Fn(&str, &Directory) + Sync),
    started: Instant,
    /// Incremented in steps of [`CHECK_EVERY`] to reduce contention.
    visited: AtomicUsize,
    truncated: AtomicBool,
    queue: Mutex<Queue>,
    /// Notified when the queue grows and when the walk ends.
    changed: Condvar,
    result: Mutex<WalkResult>,
}

impl TreeWalk<'_> {
    /// Counts [`CHECK_EVERY`] entries. Returns whether a limit is exceeded.
    fn reaches_limit(&self) -> bool {
        let visited = self.visited.fetch_add(CHECK_EVERY, Ordering::Relaxed);
        visited >= MAX_ENTRIES || self.started.elapsed() > TIME_LIMIT
    }

    fn put(&self, directories: Vec<PendingDirectory>) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pending.extend(directories);
        self.changed.notify_all();
    }

    /// Returns the next directory to read; `None` when the walk is complete. Waits while other threads may
    /// queue more.
    fn take(&self) -> Option<PendingDirectory> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.truncated.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(next) = queue.pending.pop() {
                queue.reading += 1;
                return Some(next);
            }
            if queue.reading == 0 {
                return None;
            }
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Queues the subdirectories of a directory that was read.
    fn finish(&self, subdirectories: Vec<PendingDirectory>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.reading -= 1;
        queue.pending.extend(subdirectories);
        // Unlocked first, so that the woken threads need not wait for the lock.
        drop(queue);
        // Also without new directories: the last reader wakes the threads that wait for more work.
        self.changed.notify_all();
    }
}

/// A thread of a walk. Its results are merged at the end, which avoids locking for each entry.
struct WalkWorker<'a> {
    walk: &'a TreeWalk<'a>,
    /// Number of entries that this thread has visited.
    visited: usize,
    result: WalkResult,
}

impl<'a> WalkWorker<'a> {
    fn of(walk: &'a TreeWalk<'a>) -> Self {
        Self { walk, visited: 0, result: WalkResult::default() }
    }

    fn run(mut self) {
        while let Some(next) = self.walk.take() {
            let subdirectories = self.read(&next);
            self.walk.finish(subdirectories);
        }
        self.walk.result.lock().unwrap_or_else(PoisonError::into_inner).append(self.result);
    }

    /// Records the entries of a directory and returns the subdirectories to read. Unreadable directories are
    /// skipped.
    fn read(&mut self, directory: &PendingDirectory) -> Vec<PendingDirectory> {
        let walk = self.walk;
        let Ok(handle) = walk.root.handle.directory(&directory.path) else { return Vec::new() };
        // The watch is added before the entries are listed: a change in between is then reported.
        (walk.enter)(&directory.display, &handle);
        let Ok(entries) = handle.entries() else { return Vec::new() };
        let kind_of = |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| entry.kind);
        // Collecting the components removes the trailing slash that joining an empty path adds.
        let place: PathBuf = walk.root.path.below_base().join(&directory.path).components().collect();
        let inherited = directory.rules.clone();
        let rules = IgnoreRules::of(&walk.root.sandbox, &walk.root.path, &place, &handle, kind_of, inherited);
        let mut path = place.into_os_string().to_string_lossy().into_owned();
        let (mut names, mut subdirectories) = (ListingBuilder::default(), Vec::new());
        if !path.is_empty() {
            path.push('/');
        }
        let directory_length = path.len();
        for entry in &entries {
            self.visited += 1;
            if self.visited.is_multiple_of(CHECK_EVERY) && walk.reaches_limit() {
                walk.truncated.store(true, Ordering::Relaxed);
                break;
            }
            let is_directory = entry.kind == EntryKind::Directory;
            let name = entry.name.to_string_lossy();
            path.truncate(directory_length);
            path.push_str(&name);
            let ignored = || rules.as_ref().is_some_and(|rules| rules.ignore(&path, is_directory));
            if is_skipped(&entry.name, is_directory) || ignored() {
                continue;
            }
            match entry.kind {
                EntryKind::Directory => {
                    subdirectories.extend(self.add_directory(directory, &entry.name, rules.as_ref()))
                }
                EntryKind::File if !is_skipped_file(&name) => names.add(&name),
                EntryKind::Link
                    if !is_skipped_file(&name) && self.is_link_to_file_in_tree(directory, &name) =>
                {
                    names.add(&name);
                }
                EntryKind::File | EntryKind::Link | EntryKind::Other => {}
            }
        }
        self.result.add(directory.display.clone(), names);
        subdirectories
    }

    /// Records a subdirectory. Returns it if it is to be read.
    fn add_directory(
        &mut self,
        parent: &PendingDirectory,
        name: &OsStr,
        rules: Option<&Arc<IgnoreRules>>,
    ) -> Option<PendingDirectory> {
        let path = parent.path.join(name);
        let denied = self.walk.root.denied.as_ref();
        if denied.is_some_and(|denied| denied(&self.walk.root.path.canonical().join(&path))) {
            return None;
        }
        let display: Box<str> = path.to_string_lossy().into();
        self.result.directories.push(display.clone());
        let depth = parent.depth + 1;
        (depth < self.walk.max_depth).then(|| PendingDirectory {
            path,
            display,
            depth,
            rules: rules.cloned(),
        })
    }

    fn is_link_to_file_in_tree(&self, directory: &PendingDirectory, link: &str) -> bool {
        // Resolving by path is sufficient here: only the name of the link itself is listed.
        let root = self.walk.root.path.canonical();
        let target = root.join(&directory.path).join(link).canonicalize();
        target.is_ok_and(|target| target.starts_with(root) && target.is_file())
    }
}

impl WalkResult {
    fn add(&mut self, directory: Box<str>, names: ListingBuilder) {
        match self.names.entry(directory) {
            _ if names.is_empty() => {}
            Entry::Occupied(mut existing) => existing.get_mut().append(&names),
            Entry::Vacant(vacant) => {
                vacant.insert(names);
            }
        }
    }

    fn append(&mut self, other: Self) {
        self.directories.extend(other.directories);
        for (directory, names) in other.names {
            self.add(directory, names);
        }
    }
}

fn is_skipped(name: &OsStr, is_directory: bool) -> bool {
    if is_directory { SKIPPED_DIRECTORIES.iter().any(|one| name == *one) } else { name == GIT }
}

fn is_skipped_file(name: &str) -> bool {
    let extension = name.len().checked_sub(COMPILED.len()).and_then(|begin| name.as_bytes().get(begin..));
    name == ".DS_Store" || extension.is_some_and(|extension| extension.eq_ignore_ascii_case(COMPILED))
}
