//! A tree's file names in memory, kept as the tree is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::{Mutex, PoisonError, RwLock};

use loopgate_home::Directory;

use super::listing::Listing;
use super::rank::{Best, Query};
use super::walk::{Found, RULES_FILE, Reach, Root};
use super::watch::{Change, Watch, parent};

/// Changed directories that are read one by one; with more the tree is read anew, which then is
/// faster.
const MOST_SINGLE: usize = 200;
/// Files that an index holds; what a walk finds beyond is not remembered.
const MOST_FILES: usize = 200_000;

/// Files and known directories of a tree.
#[derive(Debug, Default)]
struct Tree {
    /// By directory; those without files are missing.
    listings: BTreeMap<Box<str>, Listing>,
    directories: BTreeSet<Box<str>>,
    files: usize,
    /// Whether there is more in it than is known.
    cut: bool,
}

/// An index of one tree.
pub(super) struct Index {
    root: Root,
    /// The directory that was read: another one in its place is another tree.
    identity: (u64, u64),
    /// Whoever holds it brings the tree up to date; the others wait for that.
    watch: Mutex<Watch>,
    tree: RwLock<Tree>,
}

/// An answer.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) best: Best,
    /// Whether files were left out.
    pub(super) cut: bool,
}

impl Index {
    /// Reads the tree, and watches it with at most so many watches.
    pub(super) fn read(root: Root, most_watches: usize) -> std::io::Result<Self> {
        let identity = root.handle().identity()?;
        let watch = Watch::new(most_watches);
        let tree = Tree::read(&root, &watch);
        Ok(Self { root, identity, watch: Mutex::new(watch), tree: RwLock::new(tree) })
    }

    /// Whether it can answer again without reading everything.
    pub(super) fn is_lasting(&self) -> bool {
        self.watch.lock().unwrap_or_else(PoisonError::into_inner).hears_all()
    }

    pub(super) fn files(&self) -> usize {
        self.tree.read().unwrap_or_else(PoisonError::into_inner).files
    }

    /// The best matches in the tree as it is now.
    pub(super) fn search(&self, query: &Query) -> Answer {
        let tree = self.tree.read().unwrap_or_else(PoisonError::into_inner);
        Answer { best: query.best(tree.listings.values()), cut: tree.cut }
    }

    /// Takes in what changed. `false` when the tree has to be read anew, or when `now`, the directory
    /// that has its name at this moment, is another one.
    pub(super) fn refresh(&self, now: (u64, u64)) -> bool {
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner);
        if now != self.identity {
            return false;
        }
        let changes = watch.changes();
        if changes.is_empty() {
            return true;
        }
        if changes.contains(&Change::Everything) {
            return false;
        }
        let mut void = BTreeSet::new();
        let mut stale = BTreeSet::new();
        for change in changes {
            match change {
                Change::Entries(directory) => {
                    stale.insert(directory);
                }
                Change::Directory(directory) => {
                    match parent(&directory) {
                        Some(parent) => stale.insert(parent.into()),
                        None => return false,
                    };
                    void.insert(directory);
                }
                Change::Everything => return false,
            }
        }
        if stale.len() > MOST_SINGLE {
            return false;
        }
        let mut tree = self.tree.write().unwrap_or_else(PoisonError::into_inner);
        for directory in &void {
            tree.forget(directory, &watch);
        }
        for directory in &stale {
            tree.read_again(directory, &self.root, &watch);
        }
        watch.hears_all()
    }
}

impl Tree {
    fn read(root: &Root, watch: &Watch) -> Self {
        let mut tree = Self::default();
        tree.directories.insert("".into());
        let found = root.walk("", Reach::Below, &|directory, handle| {
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
        let found = root.walk(directory, Reach::Here, &|_, _| {});
        let now: BTreeSet<Box<str>> = found.directories.iter().cloned().collect();
        let before: Vec<Box<str>> = self.children(directory).cloned().collect();
        for gone in before.iter().filter(|known| !now.contains(*known)) {
            self.forget(gone, watch);
        }
        self.remove_listing(directory);
        let new: Vec<_> = now.into_iter().filter(|child| !self.directories.contains(child)).collect();
        self.add(Found { directories: Vec::new(), ..found }, root, watch);
        for child in new {
            let enter = |directory: &str, handle: &Directory| {
                watch.add(directory, &root.watched_path(directory, handle));
            };
            let mut found = root.walk(&child, Reach::Below, &enter);
            found.directories.push(child);
            self.add(found, root, watch);
        }
    }

    fn add(&mut self, found: Found, root: &Root, watch: &Watch) {
        self.cut |= found.cut;
        self.directories.extend(found.directories);
        for (directory, names) in found.names {
            let listing = names.pack(&directory);
            if listing.iter().any(|name| name.text() == RULES_FILE)
                && let Ok(handle) = root.handle().directory(Path::new(&*directory))
            {
                watch.add_rules(&directory, &root.watched_path(&directory, &handle));
            }
            if self.files + listing.files() as usize > MOST_FILES {
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
