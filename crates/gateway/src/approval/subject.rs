//! The directories that a request concerns, with symlinks resolved.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;
use loopgate_home::{canonical_path, origin_of_clone};

/// How a request refers to a directory. Ordered from the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Resolution {
    /// By its path or its name.
    Named,
    /// By something that resolves to the directory, such as a ticket id.
    Derived,
    /// By another interpretation of a value. Ask and deny policies apply to alternatives, but they are
    /// ignored when allowing and are not shown.
    Alternative,
}

/// A directory that a request concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SubjectDirectory {
    pub(crate) path: PathBuf,
    /// Root of the clone that contains the directory or that the worktree belongs to.
    pub(crate) clone: Option<PathBuf>,
    pub(crate) resolution: Resolution,
    /// Whether everything below the directory is included.
    pub(crate) whole: bool,
}

/// All directories and repository names of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Subject {
    pub(crate) directories: Vec<SubjectDirectory>,
    /// Repository names in the request.
    pub(crate) names: Vec<RepoFullName>,
}

impl Subject {
    /// Returns the directories that the owner is shown and that a rule covers, sorted and unique: named
    /// directories, and for derived ones their clone.
    pub(crate) fn directories(&self) -> Vec<PathBuf> {
        let shown = self.directories.iter().filter_map(|place| match place.resolution {
            Resolution::Named => Some(place.path.clone()),
            Resolution::Derived => Some(place.clone.as_ref().unwrap_or(&place.path).clone()),
            Resolution::Alternative => None,
        });
        shown.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Returns the first named directory.
    pub(crate) fn first(&self) -> Option<&Path> {
        self.directories
            .iter()
            .find(|place| place.resolution == Resolution::Named)
            .map(|place| place.path.as_path())
    }

    /// Returns the only repository that the request concerns, for a policy. To allow, this is exactly the
    /// named directory; to deny or ask, the clone that contains it.
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

    /// Whether all directories are within `directory`. Alternatives are ignored.
    pub(crate) fn is_within(&self, directory: &Path) -> bool {
        let mut counted =
            self.directories.iter().filter(|place| place.resolution != Resolution::Alternative).peekable();
        let inside = |place: &SubjectDirectory| {
            place.path.starts_with(directory)
                || (place.resolution == Resolution::Derived
                    && place.clone.as_ref().is_some_and(|clone| clone.starts_with(directory)))
        };
        counted.peek().is_some() && counted.all(inside)
    }

    /// Whether the request touches `directory`, under whatever name: a part of it, a worktree of it, or a
    /// parent of it. Reads the disk.
    pub(crate) fn touches(&self, directory: &Path) -> bool {
        // The directory may have been moved and replaced by a symlink after the policy was set.
        let moved = canonical_path(directory).filter(|now| now != directory);
        let is_touched = |directory: &Path| self.directories.iter().any(|place| place.touches(directory));
        if is_touched(directory) || moved.as_deref().is_some_and(is_touched) {
            return true;
        }
        let origin = if self.names.is_empty() { None } else { origin_of_clone(directory) };
        origin.is_some_and(|origin| self.names.iter().any(|name| name.same_as(&origin)))
    }
}

impl SubjectDirectory {
    fn touches(&self, directory: &Path) -> bool {
        let mut paths = [Some(&self.path), self.clone.as_ref()].into_iter().flatten();
        paths.any(|path| path.starts_with(directory) || (self.whole && directory.starts_with(path)))
    }
}
