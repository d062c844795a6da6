//! Index of the file names of one tree, updated from file-change events.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant};

use loopgate_home::Directory;

use super::listing::DirectoryListing;
use super::rank::{SearchQuery, TopMatches};
use super::rules::RULES_FILE;
use super::walk::{DepthLimit, Root, WalkResult};
use super::watch::{TreeChange, TreeWatch, parent};

/// Maximum number of changed directories that are read one by one. With more, walking the whole tree is
/// faster.
const MAX_REREAD: usize = 200;
/// Maximum number of files in an index; the result is marked as truncated beyond it.
const MAX_FILES: usize = 200_000;

/// Files and directories of a tree, as last read.
#[derive(Debug, Default)]
struct Tree {
    /// Listings by directory. Directories without files have none.
    listings: BTreeMap<Box<str>, DirectoryListing>,
    directories: BTreeSet<Box<str>>,
    files: usize,
    /// Whether the tree contains more than was read.
    truncated: bool,
}

/// Index of one tree.
pub(super) struct Index {
    root: Root,
    /// Device and inode of the root that was read.
    identity: (u64, u64),
    read_at: Instant,
    /// Locked while events are applied to the tree; concurrent searches wait for that.
    watch: Mutex<TreeWatch>,
    tree: RwLock<Tree>,
}

/// Result of a search in an index.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexResult {
    pub(super) best: TopMatches,
    /// Whether the index does not contain all files of the tree.
    pub(super) truncated: bool,
}

impl Index {
    /// Walks the tree and watches it with at most `max_watches` watches.
    pub(super) fn read(root: Root, max_watches: usize) -> std::io::Result<Self> {
        // Taken before the walk: the age counts from its start, and a root that is replaced during the walk
        // has another identity.
        let (identity, read_at) = (root.handle().identity()?, Instant::now());
        let watch = TreeWatch::new(max_watches);
        let tree = Tree::read(&root, &watch);
        Ok(Self { root, identity, read_at, watch: Mutex::new(watch), tree: RwLock::new(tree) })
    }

    /// Returns whether the index can be updated. Otherwise it serves a single search.
    pub(super) fn is_updatable(&self) -> bool {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).is_complete()
    }

    pub(super) fn files(&self) -> usize {
        self.tree.read().unwrap_or_else(PoisonError::into_inner).files
    }

    /// Returns the best matches in the indexed tree.
    pub(super) fn search(&self, query: &SearchQuery) -> IndexResult {
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        IndexResult { best: query.best(tree.listings.values()), truncated: tree.truncated }
    }

    /// Applies the queued events. Returns `false` when the tree has to be walked again: too many changes, an
    /// index of the maximum age, or a root directory that was replaced. `current` is the identity of the
    /// directory that is now at the path of the root.
    pub(super) fn refresh(&self, current: (u64, u64), max_age: Duration) -> bool {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if current != self.identity || self.read_at.elapsed() >= max_age {
            return false;
        }
        let changes = watch.changes();
        if changes.is_empty() {
            return true;
        }
        if changes.contains(&TreeChange::Everything) {
            return false;
        }
        let mut removed = BTreeSet::new();
        let mut stale = BTreeSet::new();
        for change in changes {
            match change {
                TreeChange::Entries(directory) => {
                    stale.insert(directory);
                }
                TreeChange::Directory(directory) => {
                    match parent(&directory) {
                        Some(parent) => stale.insert(parent.into()),
                        None => return false,
                    };
                    removed.insert(directory);
                }
                TreeChange::Everything => return false,
            }
        }
        if stale.len() > MAX_REREAD {
            return false;
        }
        // Removals come first: a directory that was replaced is then read again as a new entry of its parent.
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for directory in &removed {
            tree.remove(directory, &watch);
        }
        for directory in &stale {
            tree.reread(directory, &self.root, &watch);
        }
        watch.is_complete()
    }
}

impl Tree {
    fn read(root: &Root, watch: &TreeWatch) -> Self {
        let mut tree = Self::default();
        tree.directories.insert("".into());
        let walked = root.walk("", DepthLimit::Tree, &|directory, handle| {
            watch.add(directory, &root.watched_path(directory, handle));
        });
        tree.add(walked, root, watch);
        tree
    }

    /// Reads one directory again, and walks subdirectories that are new.
    fn reread(&mut self, directory: &str, root: &Root, watch: &TreeWatch) {
        // A directory that was removed from the tree is read through its parent, if it still belongs to the
        // tree.
        if !self.directories.contains(directory) {
            return;
        }
        let walked = root.walk(directory, DepthLimit::Directory, &|_, _| {});
        let current: BTreeSet<Box<str>> = walked.directories.iter().cloned().collect();
        let before: Vec<Box<str>> = self.children(directory).cloned().collect();
        for removed in before.iter().filter(|child| !current.contains(*child)) {
            self.remove(removed, watch);
        }
        self.remove_listing(directory);
        let new: Vec<_> = current.into_iter().filter(|child| !self.directories.contains(child)).collect();
        self.add(WalkResult { directories: Vec::new(), ..walked }, root, watch);
        for child in new {
            let enter = |directory: &str, handle: &Directory| {
                watch.add(directory, &root.watched_path(directory, handle));
            };
            // A subdirectory without files has no listing, but must be known to the next comparison.
            let mut walked = root.walk(&child, DepthLimit::Tree, &enter);
            walked.directories.push(child);
            self.add(walked, root, watch);
        }
    }

    fn add(&mut self, walked: WalkResult, root: &Root, watch: &TreeWatch) {
        self.truncated |= walked.truncated;
        self.directories.extend(walked.directories);
        for (directory, names) in walked.names {
            let listing = names.pack(&directory);
            if listing.iter().any(|name| name.text() == RULES_FILE)
                && let Ok(handle) = root.handle().directory(Path::new(&*directory))
            {
                watch.add_rules(&directory, &root.watched_path(&directory, &handle));
            }
            if self.files + listing.files() as usize > MAX_FILES {
                self.truncated = true;
                continue;
            }
            self.files += listing.files() as usize;
            self.listings.insert(directory, listing);
        }
    }

    /// Removes a directory and everything below it.
    fn remove(&mut self, directory: &str, watch: &TreeWatch) {
        let below = self.below(directory);
        for path in below {
            watch.remove(&path);
            self.directories.remove(&path);
            self.remove_listing(&path);
        }
    }

    fn remove_listing(&mut self, directory: &str) {
        if let Some(listing) = self.listings.remove(directory) {
            self.files -= listing.files() as usize;
        }
    }

    /// Returns the direct subdirectories of a directory.
    fn children<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = &'a Box<str>> {
        self.directories.iter().filter(move |path| parent(path) == Some(directory))
    }

    /// Returns a directory and all directories below it.
    fn below(&self, directory: &str) -> Vec<Box<str>> {
        let prefix = format!("{directory}/");
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let inside = self.directories.range::<str, _>(from);
        let inside = inside.take_while(|path| path.starts_with(&prefix)).cloned();
        self.directories.get(directory).cloned().into_iter().chain(inside).collect()
    }
}
