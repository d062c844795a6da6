//! File-change events of one repository, counted into a [`Generation`].
//!
//! The watched directories are those of the working tree that git does not ignore, and those of the git
//! directory. Repositories that could change without an event are rejected.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::DirEntry;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use loopgate_home::{EventKind, WatchId, WatchMask, Watches};

use crate::WatchError;

/// Maximum number of watched directories of one repository.
const MAX_WATCHES: usize = 20_000;
/// Names in a git directory, and of the git directory in a working tree.
const DOT_GIT: &str = ".git";
const INFO: &str = "info";
const REFS: &str = "refs";
const REFTABLE: &str = "reftable";
const WORKTREES: &str = "worktrees";

/// Paths of a repository.
#[derive(Debug)]
pub(crate) struct Layout {
    /// Root of the working tree.
    pub(crate) root: PathBuf,
    /// Git directory of this worktree.
    pub(crate) git_dir: PathBuf,
    /// Git directory that all worktrees share; in a clone the same as `git_dir`.
    pub(crate) common_dir: PathBuf,
}

/// Counts changes. Equal generations mean that nothing changed in between.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Generation {
    git_dir: u64,
    tree: u64,
}

/// Watches on a repository, and what they cover.
#[derive(Debug)]
pub(crate) struct WatchState {
    layout: Layout,
    watches: Watches,
    directories: HashMap<WatchId, WatchedDirectory>,
    /// Directories of the working tree that git ignores; they are not watched.
    ignored: BTreeSet<PathBuf>,
    /// Device of the working tree.
    device: u64,
    generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchArea {
    Tree,
    OwnGitDir,
    CommonGitDir,
}

#[derive(Debug, Clone)]
struct WatchedDirectory {
    area: WatchArea,
    /// Path relative to the area.
    path: PathBuf,
}

/// An event of an entry in a watched directory.
#[derive(Debug)]
struct DirectoryEvent {
    directory: WatchedDirectory,
    name: OsString,
    kind: EventKind,
    is_directory: bool,
}

impl Generation {
    /// Returns the part of the generation on which results depend that only use the git directory.
    pub(crate) const fn of_git_dir(self) -> Self {
        Self { git_dir: self.git_dir, tree: 0 }
    }
}

impl WatchState {
    pub(crate) fn open(layout: Layout, ignored: BTreeSet<PathBuf>) -> Result<Self, WatchError> {
        let mut state = Self {
            device: layout.root.metadata()?.dev(),
            layout,
            watches: Watches::new()?,
            directories: HashMap::new(),
            ignored,
            generation: Generation::default(),
        };
        state.watch_git_dir()?;
        state.watch_tree(Path::new(""))?;
        Ok(state)
    }

    /// Returns the number of watched directories.
    pub(crate) fn watches(&self) -> usize {
        self.directories.len()
    }

    /// Processes all queued events and returns the resulting generation.
    pub(crate) fn read_events(&mut self) -> Result<Generation, WatchError> {
        for event in self.drain()? {
            match event.directory.area {
                WatchArea::Tree => self.handle_tree_event(&event)?,
                WatchArea::OwnGitDir | WatchArea::CommonGitDir => self.handle_git_dir_event(&event)?,
            }
        }
        Ok(self.generation)
    }

    /// Sets the directories that git ignores. They must describe the current generation.
    pub(crate) fn set_ignored(&mut self, ignored: BTreeSet<PathBuf>) -> Result<(), WatchError> {
        let before = std::mem::replace(&mut self.ignored, ignored);
        let no_longer_ignored: Vec<PathBuf> = before.difference(&self.ignored).cloned().collect();
        for directory in self.ignored.difference(&before).cloned().collect::<Vec<_>>() {
            self.unwatch(WatchArea::Tree, &directory);
        }
        for directory in no_longer_ignored {
            // Earlier changes in this directory were not reported.
            self.generation.tree += 1;
            self.watch_tree(&directory)?;
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<Vec<DirectoryEvent>, WatchError> {
        let directories = &mut self.directories;
        let (mut events, mut root_changed) = (Vec::new(), false);
        let drained = self.watches.drain(|event| {
            if event.kind == EventKind::WatchRemoved {
                directories.remove(&event.watch);
                return;
            }
            let Some(directory) = directories.get(&event.watch) else { return };
            match event.name {
                Some(name) => events.push(DirectoryEvent {
                    directory: directory.clone(),
                    name: name.to_owned(),
                    kind: event.kind,
                    is_directory: event.is_directory,
                }),
                // The event is about the watched directory itself. The parent directory reports it as well,
                // unless this is the root of an area.
                None => root_changed |= directory.path.as_os_str().is_empty(),
            }
        });
        if drained.is_err() || root_changed { Err(WatchError::Changed) } else { Ok(events) }
    }

    fn handle_tree_event(&mut self, event: &DirectoryEvent) -> Result<(), WatchError> {
        let path = event.directory.path.join(&event.name);
        if event.name == DOT_GIT {
            // A repository was created, removed or replaced; its worktree is no longer part of this one.
            return Err(WatchError::Changed);
        }
        self.generation.tree += 1;
        match (event.is_directory, event.kind) {
            (true, EventKind::MovedAway) => self.unwatch(WatchArea::Tree, &path),
            (true, EventKind::Created) => self.watch_tree(&path)?,
            // Writes through the other hard links would not be reported.
            (false, EventKind::Created) if has_other_links(&self.layout.root.join(&path)) => {
                return Err(WatchError::Changed);
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_git_dir_event(&mut self, event: &DirectoryEvent) -> Result<(), WatchError> {
        let WatchedDirectory { area, path } = &event.directory;
        let name = event.name.as_bytes();
        // Git writes new content to a lock file, which it never reads. It updates the mtime of a shared index
        // each time it uses it, but never the content.
        let is_touch = name.starts_with(b"sharedindex.") && event.kind == EventKind::Modified;
        if name.ends_with(b".lock") || is_touch {
            return Ok(());
        }
        let is_top = path.as_os_str().is_empty();
        if is_top && matches!(name, b"config" | b"config.worktree" | b"commondir" | b"gitdir") {
            return Err(WatchError::Changed);
        }
        // Only the locations and branches of other worktrees are part of a result.
        let is_other_worktree =
            *area == WatchArea::CommonGitDir && path.parent() == Some(Path::new(WORKTREES));
        if is_other_worktree && !matches!(name, b"HEAD" | b"gitdir" | b"commondir") {
            return Ok(());
        }
        self.generation.git_dir += 1;
        let path = path.join(&event.name);
        match (event.is_directory, event.kind) {
            (true, EventKind::MovedAway) => self.unwatch(*area, &path),
            (true, EventKind::Created) => self.watch_git_subdirectory(*area, &path)?,
            _ => {}
        }
        Ok(())
    }

    fn watch_git_dir(&mut self) -> Result<(), WatchError> {
        let is_clone = self.layout.git_dir == self.layout.common_dir;
        let areas = [WatchArea::CommonGitDir, WatchArea::OwnGitDir];
        for area in areas.into_iter().take(if is_clone { 1 } else { 2 }) {
            let root = self.root(area).to_owned();
            for name in ["HEAD", "index", "config", "config.worktree", "packed-refs"] {
                if root.join(name).is_symlink() {
                    return Err(WatchError::Unsupported("the git directory contains a symbolic link"));
                }
            }
            if root.join(REFTABLE).exists() {
                return Err(WatchError::Unsupported("refs are stored in reftables"));
            }
            self.watch(area, Path::new(""), &root)?;
            for name in [REFS, INFO, WORKTREES] {
                self.watch_git_subdirectory(area, Path::new(name))?;
            }
        }
        Ok(())
    }

    /// Watches a directory of a git directory, including subdirectories, if results depend on it.
    fn watch_git_subdirectory(&mut self, area: WatchArea, path: &Path) -> Result<(), WatchError> {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            let absolute = self.root(area).join(&path);
            if absolute.is_symlink() {
                return Err(WatchError::Unsupported("the git directory contains a symbolic link"));
            }
            if !self.is_relevant_git_subdirectory(area, &path) || !self.watch(area, &path, &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_symlink() {
                    return Err(WatchError::Unsupported("the git directory contains a symbolic link"));
                }
                if kind.is_dir() {
                    pending.push(path.join(entry.file_name()));
                }
            }
        }
        Ok(())
    }

    fn is_relevant_git_subdirectory(&self, area: WatchArea, path: &Path) -> bool {
        // The git directory of this worktree is an area of its own.
        let is_own =
            area == WatchArea::CommonGitDir && self.layout.common_dir.join(path) == self.layout.git_dir;
        let worktrees = Path::new(WORKTREES);
        let is_worktree = path == worktrees || path.parent() == Some(worktrees);
        !is_own && (is_worktree || path.starts_with(REFS) || path == Path::new(INFO))
    }

    /// Watches a directory of the working tree and all directories below it that git does not ignore.
    fn watch_tree(&mut self, path: &Path) -> Result<(), WatchError> {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            let absolute = self.layout.root.join(&path);
            if self.ignored.contains(&path) || !self.watch(WatchArea::Tree, &path, &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let name = entry.file_name();
                if name == DOT_GIT {
                    if path.as_os_str().is_empty() && !entry.file_type()?.is_symlink() {
                        continue;
                    }
                    return Err(WatchError::Unsupported("the working tree contains another repository"));
                }
                let metadata = match entry.metadata() {
                    Ok(metadata) => metadata,
                    // Removed since it was listed, which the watch of the directory reports.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error.into()),
                };
                if metadata.is_dir() {
                    if metadata.dev() != self.device {
                        return Err(WatchError::Unsupported("the working tree contains a mount point"));
                    }
                    pending.push(path.join(name));
                } else if metadata.is_file() && metadata.nlink() > 1 {
                    return Err(WatchError::Unsupported("a file has several hard links"));
                }
            }
        }
        Ok(())
    }

    /// Watches one directory. Returns `false` when it does not exist.
    fn watch(&mut self, area: WatchArea, path: &Path, absolute: &Path) -> Result<bool, WatchError> {
        if self.directories.len() >= MAX_WATCHES {
            return Err(WatchError::Unsupported("too many directories"));
        }
        let Some(watch) = self.watches.add(absolute, WatchMask::Everything)? else { return Ok(false) };
        self.directories.insert(watch, WatchedDirectory { area, path: path.to_owned() });
        Ok(true)
    }

    /// Removes the watches of a directory and of those below it.
    fn unwatch(&mut self, area: WatchArea, path: &Path) {
        let watches = &self.watches;
        self.directories.retain(|watch, directory| {
            let is_outside = directory.area != area || !directory.path.starts_with(path);
            if !is_outside {
                watches.remove(*watch);
            }
            is_outside
        });
    }

    fn root(&self, area: WatchArea) -> &Path {
        match area {
            WatchArea::Tree => &self.layout.root,
            WatchArea::OwnGitDir => &self.layout.git_dir,
            WatchArea::CommonGitDir => &self.layout.common_dir,
        }
    }
}

/// Returns the entries of a directory; none when it was removed.
fn entries(directory: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<DirEntry>>>> {
    match directory.read_dir() {
        Ok(entries) => Ok(Box::new(entries)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(error) => Err(error),
    }
}

/// Returns whether a file has further hard links. Writes through those are not reported.
fn has_other_links(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|metadata| metadata.is_file() && metadata.nlink() > 1)
}
