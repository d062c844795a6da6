//! The file names of one tree, updated from file-change events.

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
use super::watch::{TreeChange, Watch, parent};

/// Changed directories that are read one by one; with more, walking the tree anew is faster.
const MAX_REREAD: usize = 200;
/// Files of one index; what a walk finds beyond is dropped.
const MAX_FILES: usize = 200_000;

/// Files and known directories of a tree.
#[derive(Debug, Default)]
struct Tree {
    /// By directory; those without files are missing.
    listings: BTreeMap<Box<str>, DirectoryListing>,
    directories: BTreeSet<Box<str>>,
    files: usize,
    /// Whether there is more in it than is known.
    cut: bool,
}

/// An index of one tree.
pub(super) struct Index {
    root: Root,
    /// Device and inode of the directory that was read.
    identity: (u64, u64),
    read_at: Instant,
    /// Its holder applies the events to the tree; the others wait for that.
    watch: Mutex<Watch>,
    tree: RwLock<Tree>,
}

/// An answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct IndexResult {
    pub(super) best: TopMatches,
    /// Whether files were left out.
    pub(super) cut: bool,
}

impl Index {
    /// Walks the tree, and watches it with at most `max_watches` watches.
    pub(super) fn read(root: Root, max_watches: usize) -> std::io::Result<Self> {
        let (identity, read_at) = (root.handle().identity()?, Instant::now());
        let watch = Watch::new(max_watches);
        let tree = Tree::read(&root, &watch);
        Ok(Self { root, identity, read_at, watch: Mutex::new(watch), tree: RwLock::new(tree) })
    }

    /// Whether it can be updated. One that cannot serves a single search.
    pub(super) fn is_updatable(&self) -> bool {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).is_complete()
    }

    pub(super) fn files(&self) -> usize {
        self.tree.read().unwrap_or_else(PoisonError::into_inner).files
    }

    /// The best matches in the tree as it is now.
    pub(super) fn search(&self, query: &SearchQuery) -> IndexResult {
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        IndexResult { best: query.best(tree.listings.values()), cut: tree.cut }
    }

    /// Applies the queued events. `false` when the tree has to be walked anew: they are too many, the
    /// index has its maximal age, or `now`, the directory that has its name at this moment, is another one.
    pub(super) fn refresh(&self, now: (u64, u64), max_age: Duration) -> bool {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if now != self.identity || self.read_at.elapsed() >= max_age {
            return false;
        }
        let changes = watch.changes();
        if changes.is_empty() {
            return true;
        }
        if changes.contains(&TreeChange::Everything) {
            return false;
        }
        let mut void = BTreeSet::new();
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
                    void.insert(directory);
                }
                TreeChange::Everything => return false,
            }
        }
        if stale.len() > MAX_REREAD {
            return false;
        }
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for directory in &void {
            tree.forget(directory, &watch);
        }
        for directory in &stale {
            tree.read_again(directory, &self.root, &watch);
        }
        watch.is_complete()
    }
}

impl Tree {
    fn read(root: &Root, watch: &Watch) -> Self {
        let mut tree = Self::default();
        tree.directories.insert("".into());
        let found = root.walk("", DepthLimit::Tree, &|directory, handle| {
            watch.add(directory, &root.watched_path(directory, handle));
        });
        tree.add(found, root, watch);
        tree
    }

    /// Reads one directory again, with the directories in it that are not known yet.
    fn read_again(&mut self, directory: &str, root: &Root, watch: &Watch) {
        // One that was forgotten, or is not part of the tree, is read from its parent if at all.
        if !self.directories.contains(directory) {
            return;
        }
        let found = root.walk(directory, DepthLimit::Directory, &|_, _| {});
        let now: BTreeSet<Box<str>> = found.directories.iter().cloned().collect();
        let before: Vec<Box<str>> = self.children(directory).cloned().collect();
        for gone in before.iter().filter(|known| !now.contains(*known)) {
            self.forget(gone, watch);
        }
        self.remove_listing(directory);
        let new: Vec<_> = now.into_iter().filter(|child| !self.directories.contains(child)).collect();
        self.add(WalkResult { directories: Vec::new(), ..found }, root, watch);
        for child in new {
            let enter = |directory: &str, handle: &Directory| {
                watch.add(directory, &root.watched_path(directory, handle));
            };
            let mut found = root.walk(&child, DepthLimit::Tree, &enter);
            found.directories.push(child);
            self.add(found, root, watch);
        }
    }

    fn add(&mut self, found: WalkResult, root: &Root, watch: &Watch) {
        self.cut |= found.cut;
        self.directories.extend(found.directories);
        for (directory, names) in found.names {
            let listing = names.pack(&directory);
            if listing.iter().any(|name| name.text() == RULES_FILE)
                && let Ok(handle) = root.handle().directory(Path::new(&*directory))
            {
                watch.add_rules(&directory, &root.watched_path(&directory, &handle));
            }
            if self.files + listing.files() as usize > MAX_FILES {
                self.cut = true;
                continue;
            }
            self.files += listing.files() as usize;
            self.listings.insert(directory, listing);
        }
    }

    /// Forgets a directory and everything below it.
    fn forget(&mut self, directory: &str, watch: &Watch) {
        let below = self.below(directory);
        for gone in below {
            watch.remove(&gone);
            self.directories.remove(&gone);
            self.remove_listing(&gone);
        }
    }

    fn remove_listing(&mut self, directory: &str) {
        if let Some(listing) = self.listings.remove(directory) {
            self.files -= listing.files() as usize;
        }
    }

    /// The known directories right below one.
    fn children<'a>(&'a self, directory: &'a str) -> impl Iterator<Item = &'a Box<str>> {
        self.directories.iter().filter(move |known| parent(known) == Some(directory))
    }

    /// A known directory and the known ones below it.
    fn below(&self, directory: &str) -> Vec<Box<str>> {
        let prefix = format!("{directory}/");
        let from = (Bound::Included(prefix.as_str()), Bound::Unbounded);
        let inside = self.directories.range::<str, _>(from);
        let inside = inside.take_while(|known| known.starts_with(&prefix)).cloned();
        self.directories.get(directory).cloned().into_iter().chain(inside).collect()
    }
}
