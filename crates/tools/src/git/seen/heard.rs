//! What was heard of a repository, and what that says about a moment.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::Refusal;
use super::watch::{Event, Place, Watch};

/// Directories that are watched in one repository.
const MOST_DIRECTORIES: usize = 20_000;
/// Rules about which files git ignores, and those about how it reads files.
pub(super) const RULES: &str = ".gitignore";
const READING: [&str; 2] = [".gitattributes", ".gitmodules"];
/// Changed files that are remembered one by one.
const MOST_TOUCHED: usize = 32;

/// What came of the last look, for those who cannot wait for the next.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// Nothing can be told any more, or it is time to try again what could not be watched.
    pub(super) lost: bool,
    /// Whether the working tree is watched.
    pub(super) tree: bool,
    /// Whether git should be asked what it ignores.
    pub(super) judge: bool,
    /// How many directories are watched.
    pub(super) directories: usize,
}

#[derive(Debug)]
pub(super) struct Heard {
    pub(super) watch: Watch,
    pub(super) now: Moment,
    /// The working tree is not watched, and that is not tried again before.
    pub(super) no_tree_until: Option<Instant>,
    /// The file system of the working tree.
    pub(super) device: u64,
    /// Directories of the working tree that git ignores, and nothing is heard of.
    pub(super) ignored: BTreeSet<PathBuf>,
    /// The rules under which these are ignored.
    pub(super) ignored_at: u64,
    /// Directories came of which it is not known whether git ignores them.
    pub(super) unjudged: bool,
    /// Files of the working tree, and when something happened to them last.
    pub(super) touched: BTreeMap<PathBuf, u64>,
    /// Until then more has happened in the working tree than is remembered.
    pub(super) untraced: u64,
    pub(super) lost: bool,
}

/// How much has happened. Equal moments: nothing has happened between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Moment {
    /// In the records.
    pub(super) records: u64,
    /// In the working tree.
    pub(super) tree: u64,
    /// To what decides which files git ignores.
    pub(super) rules: u64,
}

/// A look at a repository under watch.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub(super) now: Moment,
    /// Whether the working tree is watched.
    pub(super) tree: bool,
    /// Whether it is certain that git ignores what nothing is heard of.
    pub(super) certain: bool,
}

impl Look {
    /// The moment for what hangs on the working tree; absent when that is not certain.
    pub(super) fn of_tree(self) -> Option<Moment> {
        (self.tree && self.certain).then_some(self.now)
    }

    /// The moment for what hangs on the records alone.
    pub(super) const fn of_records(self) -> Option<Moment> {
        Some(Moment { records: self.now.records, tree: 0, rules: 0 })
    }
}

impl Told {
    pub(super) fn of(heard: &Heard) -> Self {
        let tree = heard.no_tree_until.is_none();
        Self {
            lost: heard.lost || heard.no_tree_until.is_some_and(|until| until <= Instant::now()),
            tree,
            judge: tree && (!heard.is_certain() || heard.unjudged),
            directories: heard.watch.len(),
        }
    }
}

impl Heard {
    /// Remembers what happened to a file. What happens to directories and rules, or to very many
    /// files, touches more.
    pub(super) fn trace(&mut self, event: &Event, place: &Path) {
        let more = event.directory || event.name == RULES || READING.iter().any(|name| event.name == *name);
        if !more {
            self.touched.insert(place.to_owned(), self.now.tree);
        }
        if more || self.touched.len() > MOST_TOUCHED {
            self.touched.clear();
            self.untraced = self.now.tree;
        }
    }

    pub(super) fn is_certain(&self) -> bool {
        self.ignored.is_empty() || self.ignored_at == self.now.rules
    }

    pub(super) fn add(&mut self, (part, path): Place, absolute: &Path) -> Result<bool, Refusal> {
        if self.watch.len() >= MOST_DIRECTORIES {
            return Err(Refusal::Unusual("there are too many directories"));
        }
        Ok(self.watch.add(part, &path, absolute)?)
    }
}
