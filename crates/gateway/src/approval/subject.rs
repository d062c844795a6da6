//! What a request is about: the directories that its handler will work in, where they really are.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use loopgate_home::{canonical_path, origin_of_chosen};

/// Resolution a request came to be about a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resolution {
    /// It names the place.
    Named,
    /// The place was found by something else that it names, such as a ticket.
    Derived,
    /// The place is what another reading of a name leads to. What is closed stays closed by it; it opens
    /// nothing and is not shown.
    Alternative,
}

/// A directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubjectDirectory {
    pub(crate) path: PathBuf,
    /// The clone that it belongs to.
    pub(crate) clone: Option<PathBuf>,
    pub(crate) resolution: Resolution,
    /// Whether everything below it counts too.
    pub(crate) whole: bool,
}

/// Everything that a request is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) directories: Vec<SubjectDirectory>,
    /// The names that it gives of repositories.
    pub(crate) names: Vec<RepoFullName>,
}

impl Subject {
    /// The directories that a person is shown and a rule holds for: those that are named, and of those
    /// that were found the repositories. In order, each once.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let shown = self.directories.iter().filter_map(|place| match place.resolution {
            Resolution::Named => Some(place.path.clone()),
            Resolution::Derived => Some(place.clone.as_ref().unwrap_or(&place.path).clone()),
            Resolution::Alternative => None,
        });
        shown.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The first directory that is named.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.directories
            .iter()
            .find(|place| place.resolution == Resolution::Named)
            .map(|place| place.path.as_path())
    }

    /// The one repository that it is about, for a decision to be remembered. What is opened is nothing
    /// but the directory that was named; what is closed is the clone that it belongs to.
    pub(crate) fn repository(&self, open: bool) -> Option<PathBuf> {
        let counted = self.directories.iter().filter(|place| place.resolution != Resolution::Alternative);
        let of_place = |place: &SubjectDirectory| match &place.clone {
            Some(clone) if !open || place.resolution == Resolution::Derived => clone.clone(),
            _ => place.path.clone(),
        };
        let all: BTreeSet<PathBuf> = counted.map(of_place).collect();
        let mut all = all.into_iter();
        all.next().filter(|_| all.next().is_none())
    }

    /// Whether it is about nothing outside of a directory.
    pub(crate) fn lies_within(&self, directory: &Path) -> bool {
        let mut counted =
            self.directories.iter().filter(|place| place.resolution != Resolution::Alternative).peekable();
        let inside = |place: &SubjectDirectory| {
            place.path.starts_with(directory)
                || (place.resolution == Resolution::Derived
                    && place.clone.as_ref().is_some_and(|clone| clone.starts_with(directory)))
        };
        counted.peek().is_some() && counted.all(inside)
    }

    /// Whether it is about a directory, whatever it calls it: about a part of it, a worktree of it, or
    /// something that holds it. Touches the disk.
    pub(crate) fn touches(&self, directory: &Path) -> bool {
        // A directory that was moved, with a link in its old place, is the same.
        let moved = canonical_path(&directory.to_string_lossy()).filter(|now| now != directory);
        let is_touched = |directory: &Path| self.directories.iter().any(|place| place.touches(directory));
        if is_touched(directory) || moved.as_deref().is_some_and(is_touched) {
            return true;
        }
        let origin = if self.names.is_empty() { None } else { origin_of_chosen(directory) };
        origin.is_some_and(|origin| self.names.iter().any(|name| name.same_as(&origin)))
    }
}

impl SubjectDirectory {
    fn touches(&self, directory: &Path) -> bool {
        let mut own = [Some(&self.path), self.clone.as_ref()].into_iter().flatten();
        own.any(|own| own.starts_with(directory) || (self.whole && directory.starts_with(own)))
    }
}
