//! Reading a tree, or a part of it, from the disk: what git ignores is left out, and so is what
//! nobody looks for.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ignore::{DirEntry, WalkBuilder, WalkState};

use super::listing::Gathered;

/// Segments of the longest path that is found.
const MAX_DEPTH: usize = 10;
/// Entries that one walk visits, and how long it may take.
const MOST_VISITED: usize = 200_000;
const TIME_LIMIT: Duration = Duration::from_secs(5);
/// Entries that a thread visits between two looks at the clock and at what the others have visited.
const LOOK_EVERY: usize = 64;
/// Threads of one walk.
const MOST_THREADS: usize = 4;

/// Where a repository begins; a file in a worktree.
pub(super) const GIT: &str = ".git";
/// Directories that are left out wherever they are.
const LEFT_OUT: [&str; 10] =
    ["node_modules", GIT, ".next", "dist", "build", "__pycache__", ".venv", "venv", "coverage", ".turbo"];
/// Ending of files that are made from others.
const COMPILED: &[u8] = b".pyc";
/// Files whose rules decide about what lies below their directory.
pub(super) const RULES_FILE: &str = ".gitignore";

/// What must never be entered although it lies in the tree.
pub(super) type Denied = Arc<dyn Fn(&Path) -> bool + Send + Sync>;

/// How far down a walk goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// One directory alone.
    Here,
    /// Everything below it.
    Below,
}

/// What a walk found. Directories are relative to the root.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) names: HashMap<Box<str>, Gathered>,
    /// The directories below the one where it began, those without files too.
    pub(super) directories: Vec<Box<str>>,
    /// Whether there is more than it looked at.
    pub(super) cut: bool,
}

/// A tree on the disk.
#[derive(Clone)]
pub(super) struct Root {
    path: PathBuf,
    denied: Option<Denied>,
}

impl Root {
    /// `path` is canonical.
    pub(super) fn new(path: PathBuf, denied: Option<Denied>) -> Self {
        Self { path, denied }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The place of a directory on the disk.
    pub(super) fn place(&self, directory: &str) -> PathBuf {
        if directory.is_empty() { self.path.clone() } else { self.path.join(directory) }
    }

    /// Reads a directory, or everything below it. `enter` is told of each directory before its
    /// entries are read.
    pub(super) fn walk(&self, directory: &str, reach: Reach, enter: &(dyn Fn(&str) + Sync)) -> Found {
        let depth = if directory.is_empty() { 0 } else { directory.split('/').count() };
        let left = MAX_DEPTH.saturating_sub(depth);
        let max_depth = if reach == Reach::Here { left.min(1) } else { left };
        let walk = Walk {
            root: self,
            max_depth,
            enter,
            above: self.path.as_os_str().len() + usize::from(self.path.parent().is_some()),
            began: Instant::now(),
            visited: AtomicUsize::new(0),
            cut: AtomicBool::new(false),
            found: Mutex::default(),
        };
        let mut builder = WalkBuilder::new(self.place(directory));
        let denied = self.denied.clone();
        // Everything but git's rules is off: hidden files are found too.
        builder.hidden(false).ignore(false).max_depth(Some(max_depth));
        builder.filter_entry(move |entry| is_wanted(entry, denied.as_ref()));
        if reach == Reach::Here {
            let mut visitor = Visitor::of(&walk);
            for entry in builder.build() {
                if visitor.visit(entry) == WalkState::Quit {
                    break;
                }
            }
        } else {
            let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS);
            builder.threads(threads).build_parallel().run(|| {
                let mut visitor = Visitor::of(&walk);
                Box::new(move |entry| visitor.visit(entry))
            });
        }
        let mut found = walk.found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.cut = walk.cut.into_inner();
        found
    }
}

/// One walk, shared by its threads.
struct Walk<'a> {
    root: &'a Root,
    max_depth: usize,
    enter: &'a (dyn Fn(&str) + Sync),
    /// Bytes of a path before what is relative to the root.
    above: usize,
    began: Instant,
    /// In steps of [`LOOK_EVERY`] a thread: all threads write to it.
    visited: AtomicUsize,
    cut: AtomicBool,
    found: Mutex<Found>,
}

impl Walk<'_> {
    /// Takes in a step of a thread. Whether it is to be the last one.
    fn is_over(&self) -> bool {
        let visited = self.visited.fetch_add(LOOK_EVERY, Ordering::Relaxed);
        visited >= MOST_VISITED || self.began.elapsed() > TIME_LIMIT
    }
}

/// One thread of a walk. What it found is added to the rest at its end.
struct Visitor<'a> {
    walk: &'a Walk<'a>,
    /// Entries that this thread has visited.
    visited: usize,
    found: Found,
    /// The directory whose files come now, and their names so far: mostly many come in a row.
    present: (Box<str>, Gathered),
}

impl<'a> Visitor<'a> {
    fn of(walk: &'a Walk<'a>) -> Self {
        Self { walk, visited: 0, found: Found::default(), present: Default::default() }
    }

    fn visit(&mut self, entry: Result<DirEntry, ignore::Error>) -> WalkState {
        self.visited += 1;
        if self.visited.is_multiple_of(LOOK_EVERY) && self.walk.is_over() {
            self.walk.cut.store(true, Ordering::Relaxed);
            return WalkState::Quit;
        }
        // What cannot be read is left out.
        let Ok(entry) = entry else { return WalkState::Continue };
        let Some(kind) = entry.file_type() else { return WalkState::Continue };
        // Every path of the walk begins with the root's.
        let path = entry.path().as_os_str().as_encoded_bytes();
        let relative = String::from_utf8_lossy(path.get(self.walk.above..).unwrap_or_default());
        if kind.is_dir() {
            if entry.depth() < self.walk.max_depth {
                (self.walk.enter)(&relative);
            }
            if entry.depth() > 0 {
                self.found.directories.push(relative.as_ref().into());
            }
        } else if kind.is_file() || (kind.is_symlink() && self.leads_to_a_file_inside(entry.path())) {
            let (directory, name) = relative.rsplit_once('/').unwrap_or(("", &relative));
            if !is_left_out_file(name) {
                self.add(directory, name);
            }
        }
        WalkState::Continue
    }

    fn add(&mut self, directory: &str, name: &str) {
        if *self.present.0 != *directory {
            self.close();
            self.present.0 = directory.into();
        }
        self.present.1.add(name);
    }

    /// Puts the names of the present directory to the rest.
    fn close(&mut self) {
        let (directory, names) = std::mem::take(&mut self.present);
        self.found.add(directory, names);
    }

    fn leads_to_a_file_inside(&self, link: &Path) -> bool {
        link.canonicalize().is_ok_and(|target| target.starts_with(&self.walk.root.path) && target.is_file())
    }
}

impl Drop for Visitor<'_> {
    fn drop(&mut self) {
        self.close();
        let found = std::mem::take(&mut self.found);
        self.walk.found.lock().unwrap_or_else(PoisonError::into_inner).append(found);
    }
}

impl Found {
    fn add(&mut self, directory: Box<str>, names: Gathered) {
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

fn is_wanted(entry: &DirEntry, denied: Option<&Denied>) -> bool {
    if entry.depth() == 0 {
        return true;
    }
    let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
    let named = |name: &str| entry.file_name() == name;
    if directory {
        !LEFT_OUT.iter().any(|name| named(name)) && !denied.is_some_and(|denied| denied(entry.path()))
    } else {
        !named(GIT)
    }
}

fn is_left_out_file(name: &str) -> bool {
    let ending = name.len().checked_sub(COMPILED.len()).and_then(|begin| name.as_bytes().get(begin..));
    name == ".DS_Store" || ending.is_some_and(|ending| ending.eq_ignore_ascii_case(COMPILED))
}
