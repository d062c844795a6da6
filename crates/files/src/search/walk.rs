//! Walking a tree, or a part of it. What git ignores is skipped, as are dependencies and build output.
//!
//! Each directory is opened relative to the handle of the tree's root and through no symbolic link, so one
//! that is swapped for a link during the walk shows nothing of the link's target.

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

/// Segments of the longest path that is found.
const MAX_DEPTH: usize = 10;
/// Entries that one walk visits, and how long it may take.
const MAX_ENTRIES: usize = 200_000;
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Entries that a thread reads between two checks of the limits.
const CHECK_EVERY: usize = 64;
/// Threads of one walk.
const MAX_THREADS: usize = 4;

/// Directories that are skipped wherever they are.
const SKIPPED_DIRECTORIES: [&str; 10] =
    ["node_modules", GIT, ".next", "dist", "build", "__pycache__", ".venv", "venv", "coverage", ".turbo"];
/// Ending of files that are made from others.
const COMPILED: &[u8] = b".pyc";

/// Directories in the tree that are never entered.
pub(super) type DenyPredicate = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// How far down a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DepthLimit {
    /// One directory alone.
    Directory,
    /// Everything below it.
    Tree,
}

/// What a walk found. Directories are relative to the root.
#[derive(Debug, Default)]
pub(super) struct WalkResult {
    pub(super) names: HashMap<Box<str>, ListingBuilder>,
    /// The directories below the one where it began, those without files too.
    pub(super) directories: Vec<Box<str>>,
    /// Whether there is more than it looked at.
    pub(super) cut: bool,
}

/// A tree on the disk, held open.
#[derive(Clone)]
pub(super) struct Root {
    path: SandboxedPath,
    handle: Arc<Directory>,
    sandbox: Arc<Sandbox>,
    denied: Option<DenyPredicate>,
}

impl Root {
    /// `handle` is the directory at `path`.
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

    /// A path for the system by which an open directory of the tree can be watched.
    pub(super) fn watched_path(&self, directory: &str, handle: &Directory) -> PathBuf {
        // The dot has the system follow to the directory, where it follows no link.
        handle.held_path().map_or_else(|| self.path.canonical().join(directory), |held| held.join("."))
    }

    /// Reads a directory, or everything below it. `enter` is told of each directory, which is open,
    /// before its entries are read.
    pub(super) fn walk(
        &self,
        directory: &str,
        limit: DepthLimit,
        enter: &(dyn Fn(&str, &Directory) + Sync),
    ) -> WalkResult {
        let depth = if directory.is_empty() { 0 } else { directory.split('/').count() };
        let left = MAX_DEPTH.saturating_sub(depth);
        let walk = TreeWalk {
            root: self,
            max_depth: if limit == DepthLimit::Directory { left.min(1) } else { left },
            enter,
            began: Instant::now(),
            visited: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            queue: Mutex::default(),
            changed: Condvar::new(),
            found: Mutex::default(),
        };
        walk.put(vec![PendingDirectory {
            path: PathBuf::from(directory),
            shown: directory.into(),
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
        let mut found = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.cut = walk.cut.into_inner();
        found
    }
}

/// A directory that is to be read.
struct PendingDirectory {
    /// Relative to the root.
    path: PathBuf,
    /// The same as text.
    shown: Box<str>,
    /// Directories between it and the one where the walk began.
    depth: usize,
    /// Rules of the directories above it.
    rules: Option<Arc<IgnoreRules>>,
}

/// Directories that are to be read.
#[derive(Default)]
struct Queue {
    pending: Vec<PendingDirectory>,
    /// Threads that read one at this moment, and may find more.
    reading: usize,
}

/// One walk, shared by its threads.
struct TreeWalk<'a> {
    root: &'a Root,
    max_depth: usize,
    enter: &'a (dyn Fn(&str, &Directory) + Sync),
    began: Instant,
    /// Counted in steps of [`CHECK_EVERY`], because all threads write to it.
    visited: AtomicUsize,
    cut: AtomicBool,
    queue: Mutex<Queue>,
    /// Something was added to the queue, or the walk is over.
    changed: Condvar,
    found: Mutex<WalkResult>,
}

impl TreeWalk<'_> {
    /// Counts a step of a thread; whether a limit is reached.
    fn reaches_limit(&self) -> bool {
        let visited = self.visited.fetch_add(CHECK_EVERY, Ordering::Relaxed);
        visited >= MAX_ENTRIES || self.began.elapsed() > TIME_LIMIT
    }

    fn put(&self, directories: Vec<PendingDirectory>) {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner).pending.extend(directories);
        self.changed.notify_all();
    }

    /// The next directory to read; `None` when the walk is complete.
    fn take(&self) -> Option<PendingDirectory> {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.cut.load(Ordering::Relaxed) {
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

    /// Says that a directory was read.
    fn finish(&self, inside: Vec<PendingDirectory>) {
        let mut queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        queue.reading -= 1;
        queue.pending.extend(inside);
        drop(queue);
        self.changed.notify_all();
    }
}

/// One thread of a walk. What it found is added to the result at its end.
struct WalkWorker<'a> {
    walk: &'a TreeWalk<'a>,
    /// Entries that this thread has visited.
    visited: usize,
    found: WalkResult,
}

impl<'a> WalkWorker<'a> {
    fn of(walk: &'a TreeWalk<'a>) -> Self {
        Self { walk, visited: 0, found: WalkResult::default() }
    }

    fn run(mut self) {
        while let Some(next) = self.walk.take() {
            let inside = self.read(&next);
            self.walk.finish(inside);
        }
        self.walk.found.lock().unwrap_or_else(PoisonError::into_inner).append(self.found);
    }

    /// Takes in the entries of a directory; answers the directories in it that are to be read. What
    /// cannot be read is left out.
    fn read(&mut self, directory: &PendingDirectory) -> Vec<PendingDirectory> {
        let walk = self.walk;
        let Ok(handle) = walk.root.handle.directory(&directory.path) else { return Vec::new() };
        (walk.enter)(&directory.shown, &handle);
        let Ok(entries) = handle.entries() else { return Vec::new() };
        let kind_of = |name: &str| entries.iter().find(|entry| entry.name == name).map(|entry| entry.kind);
        // Without the slash that joining nothing leaves.
        let place: PathBuf = walk.root.path.below_base().join(&directory.path).components().collect();
        let inherited = directory.rules.clone();
        let rules = IgnoreRules::of(&walk.root.sandbox, &walk.root.path, &place, &handle, kind_of, inherited);
        let mut path = place.into_os_string().to_string_lossy().into_owned();
        let (mut names, mut inside) = (ListingBuilder::default(), Vec::new());
        if !path.is_empty() {
            path.push('/');
        }
        let above = path.len();
        for entry in &entries {
            self.visited += 1;
            if self.visited.is_multiple_of(CHECK_EVERY) && walk.reaches_limit() {
                walk.cut.store(true, Ordering::Relaxed);
                break;
            }
            let is_directory = entry.kind == EntryKind::Directory;
            let name = entry.name.to_string_lossy();
            path.truncate(above);
            path.push_str(&name);
            let ignored = || rules.as_ref().is_some_and(|rules| rules.ignore(&path, is_directory));
            if is_skipped(&entry.name, is_directory) || ignored() {
                continue;
            }
            match entry.kind {
                EntryKind::Directory => {
                    inside.extend(self.add_directory(directory, &entry.name, rules.as_ref()))
                }
                EntryKind::File if !is_skipped_file(&name) => names.add(&name),
                EntryKind::Link
                    if !is_skipped_file(&name) && self.leads_to_a_file_inside(directory, &name) =>
                {
                    names.add(&name);
                }
                EntryKind::File | EntryKind::Link | EntryKind::Other => {}
            }
        }
        self.found.add(directory.shown.clone(), names);
        inside
    }

    /// Takes in a directory; answers it when it is to be read.
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
        let shown: Box<str> = path.to_string_lossy().into();
        self.found.directories.push(shown.clone());
        let depth = parent.depth + 1;
        (depth < self.walk.max_depth).then(|| PendingDirectory { path, shown, depth, rules: rules.cloned() })
    }

    fn leads_to_a_file_inside(&self, directory: &PendingDirectory, link: &str) -> bool {
        let root = self.walk.root.path.canonical();
        let target = root.join(&directory.path).join(link).canonicalize();
        target.is_ok_and(|target| target.starts_with(root) && target.is_file())
    }
}

impl WalkResult {
    fn add(&mut self, directory: Box<str>, names: ListingBuilder) {
        match self.names.entry(directory) {
            _ if names.is_empty() => {}
            Entry::Occupied(mut known) => known.get_mut().append(&names),
            Entry::Vacant(new) => {
                new.insert(names);
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
    let ending = name.len().checked_sub(COMPILED.len()).and_then(|begin| name.as_bytes().get(begin..));
    name == ".DS_Store" || ending.is_some_and(|ending| ending.eq_ignore_ascii_case(COMPILED))
}
