//! What an answer was made from.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Sources of one answer; one with more is not kept.
const MOST_SOURCES: usize = 256;

/// What of a directory an answer depends on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Interest {
    /// Which entries it has.
    Entries,
    /// What this name stands for, and what it holds if it is a file.
    Name(OsString),
}

/// What an answer was made from.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sources {
    known: BTreeSet<(PathBuf, Interest)>,
    /// Something cannot be watched.
    unknown: bool,
}

impl Sources {
    /// A file that was read, or looked for, by this path. Looks at the disk.
    pub(crate) fn file(&mut self, path: &Path) {
        let mut reached = PathBuf::new();
        for component in path.components() {
            if let Component::Normal(name) = component {
                self.known.insert((reached.clone(), Interest::Name(name.to_owned())));
            }
            reached.push(component);
            match reached.symlink_metadata() {
                // Behind a link lies another way, which nobody watches.
                Ok(found) if found.is_symlink() => self.unknown = true,
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// A directory whose entries were read by this path. Looks at the disk.
    pub(crate) fn entries(&mut self, directory: &Path) {
        self.file(directory);
        self.known.insert((directory.to_owned(), Interest::Entries));
    }

    /// Files of a clone, by their paths in it. A worktree tells where its clone lies, and a bare
    /// repository has them elsewhere: of those nothing is known.
    pub(crate) fn clone_files(&mut self, clone: &Path, files: &[&str]) {
        self.unknown |= clone.join(".git").is_file() || clone.join("HEAD").is_file();
        files.iter().for_each(|file| self.file(&clone.join(file)));
    }

    /// Something that cannot be named.
    pub(crate) fn unknown(&mut self) {
        self.unknown = true;
    }

    /// What has to be watched; `None` when that is not possible.
    pub(super) fn watched(&self) -> Option<&BTreeSet<(PathBuf, Interest)>> {
        (!self.unknown && self.known.len() <= MOST_SOURCES).then_some(&self.known)
    }
}
