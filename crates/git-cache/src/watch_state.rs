//! The file-change events of one repository, counted into a [`Generation`].
//!
//! Watched are the directories of the working tree that git does not ignore, and those of the records.
//! What could change without an event is refused.

use std::collections::{BTreeSet, HashMap};
use std::ffi::OsString;
use std::fs::DirEntry;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use loopgate_home::{EventKind, WatchId, WatchMask, Watches};

use crate::WatchError;

/// Watched directories of one repository.
const MAX_WATCHES: usize = 20_000;
/// Names among the records, and that of the records themselves in a working tree.
const GIT: &str = ".git";
const INFO: &str = "info";
const REFS: &str = "refs";
const REFTABLE: &str = "reftable";
const WORKTREES: &str = "worktrees";

/// Where the parts of a repository are.
#[derive(Debug)]
pub(crate) struct Layout {
    /// The root of the working tree.
    pub(crate) root: PathBuf,
    /// The records of this worktree.
    pub(crate) own: PathBuf,
    /// The records that all worktrees share; the same directory in a clone.
    pub(crate) common: PathBuf,
}

/// How many changes there were. Equal generations: nothing changed between them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Generation {
    records: u64,
    tree: u64,
}

/// Watches on a repository.
#[derive(Debug)]
pub(crate) struct WatchState {
    layout: Layout,
    watches: Watches,
    directories: HashMap<WatchId, WatchedDirectory>,
    /// Directories of the working tree that git ignores, and that are not watched.
    ignored: BTreeSet<PathBuf>,
    /// The file system of the working tree.
    device: u64,
    generation: Generation,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WatchArea {
    Tree,
    OwnRecords,
    CommonRecords,
}

#[derive(Debug, Clone)]
struct WatchedDirectory {
    part: WatchArea,
    /// Relative to the part.
    path: PathBuf,
}

/// An event in a watched directory.
#[derive(Debug)]
struct DirectoryEvent {
    directory: WatchedDirectory,
    name: OsString,
    kind: EventKind,
    is_directory: bool,
}

impl Generation {
    /// What the answers that depend on the records alone are valid for.
    pub(crate) const fn of_records(self) -> Self {
        Self { records: self.records, tree: 0 }
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
        state.watch_records()?;
        state.watch_tree(Path::new(""))?;
        Ok(state)
    }

    /// How many directories are watched.
    pub(crate) fn watches(&self) -> usize {
        self.directories.len()
    }

    /// The generation after all events that are queued.
    pub(crate) fn read_events(&mut self) -> Result<Generation, WatchError> {
        for event in self.drain()? {
            match event.directory.part {
                WatchArea::Tree => self.handle_tree_event(&event)?,
                WatchArea::OwnRecords | WatchArea::CommonRecords => self.handle_record_event(&event)?,
            }
        }
        Ok(self.generation)
    }

    /// Takes what git ignores at a generation that still is the current one.
    pub(crate) fn set_ignored(&mut self, ignored: BTreeSet<PathBuf>) -> Result<(), WatchError> {
        let before = std::mem::replace(&mut self.ignored, ignored);
        let unwatched: Vec<PathBuf> = before.difference(&self.ignored).cloned().collect();
        for directory in self.ignored.difference(&before).cloned().collect::<Vec<_>>() {
            self.unwatch(WatchArea::Tree, &directory);
        }
        for directory in unwatched {
            // What happened in it until now was not reported.
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
                // About the directory itself. Its parent reports it too, unless it is the topmost.
                None => root_changed |= directory.path.as_os_str().is_empty(),
            }
        });
        if drained.is_err() || root_changed { Err(WatchError::Changed) } else { Ok(events) }
    }

    fn handle_tree_event(&mut self, event: &DirectoryEvent) -> Result<(), WatchError> {
        let path = event.directory.path.join(&event.name);
        if event.name == GIT {
            // A repository was created, removed or replaced.
            return Err(WatchError::Changed);
        }
        self.generation.tree += 1;
        match (event.is_directory, event.kind) {
            (true, EventKind::MovedAway) => self.unwatch(WatchArea::Tree, &path),
            (true, EventKind::Created) => self.watch_tree(&path)?,
            (false, EventKind::Created) if has_other_names(&self.layout.root.join(&path)) => {
                return Err(WatchError::Changed);
            }
            _ => {}
        }
        Ok(())
    }

    fn handle_record_event(&mut self, event: &DirectoryEvent) -> Result<(), WatchError> {
        let WatchedDirectory { part, path } = &event.directory;
        let name = event.name.as_bytes();
        // Git writes new content under such a name, and does not read it. It touches a shared index
        // whenever it reads it; its content never changes.
        let is_touch = name.starts_with(b"sharedindex.") && event.kind == EventKind::Modified;
        if name.ends_with(b".lock") || is_touch {
            return Ok(());
        }
        let is_top = path.as_os_str().is_empty();
        if is_top && matches!(name, b"config" | b"config.worktree" | b"commondir" | b"gitdir") {
            return Err(WatchError::Changed);
        }
        // Of other worktrees only the places and branches are listed.
        let is_other_worktree =
            *part == WatchArea::CommonRecords && path.parent() == Some(Path::new(WORKTREES));
        if is_other_worktree && !matches!(name, b"HEAD" | b"gitdir" | b"commondir") {
            return Ok(());
        }
        self.generation.records += 1;
        let path = path.join(&event.name);
        match (event.is_directory, event.kind) {
            (true, EventKind::MovedAway) => self.unwatch(*part, &path),
            (true, EventKind::Created) => self.watch_record_directory(*part, &path)?,
            _ => {}
        }
        Ok(())
    }

    fn watch_records(&mut self) -> Result<(), WatchError> {
        let is_clone = self.layout.own == self.layout.common;
        let parts = [WatchArea::CommonRecords, WatchArea::OwnRecords];
        for part in parts.into_iter().take(if is_clone { 1 } else { 2 }) {
            let root = self.root(part).to_owned();
            for name in ["HEAD", "index", "config", "config.worktree", "packed-refs"] {
                if root.join(name).is_symlink() {
                    return Err(WatchError::Unsupported("a record is a symbolic link"));
                }
            }
            if root.join(REFTABLE).exists() {
                return Err(WatchError::Unsupported("refs are stored in reftables"));
            }
            self.watch(part, Path::new(""), &root)?;
            for name in [REFS, INFO, WORKTREES] {
                self.watch_record_directory(part, Path::new(name))?;
            }
        }
        Ok(())
    }

    /// Watches a directory of the records with those below it, if it is one that matters.
    fn watch_record_directory(&mut self, part: WatchArea, path: &Path) -> Result<(), WatchError> {
        let mut pending = vec![path.to_owned()];
        while let Some(path) = pending.pop() {
            let absolute = self.root(part).join(&path);
            if absolute.is_symlink() {
                return Err(WatchError::Unsupported("a directory of records is a symbolic link"));
            }
            if !self.is_record_directory(part, &path) || !self.watch(part, &path, &absolute)? {
                continue;
            }
            for entry in entries(&absolute)? {
                let entry = entry?;
                let kind = entry.file_type()?;
                if kind.is_symlink() {
                    return Err(WatchError::Unsupported("a record is a symbolic link"));
                }
                if kind.is_dir() {
                    pending.push(path.join(entry.file_name()));
                }
            }
        }
        Ok(())
    }

    fn is_record_directory(&self, part: WatchArea, path: &Path) -> bool {
        // The records of this worktree are a part of their own.
        let is_own = part == WatchArea::CommonRecords && self.layout.common.join(path) == self.layout.own;
        let worktrees = Path::new(WORKTREES);
        let is_worktree = path == worktrees || path.parent() == Some(worktrees);
        !is_own && (is_worktree || path.starts_with(REFS) || path == Path::new(INFO))
    }

    /// Watches a directory of the working tree with all below it that git does not ignore.
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
                if name == GIT {
                    if path.as_os_str().is_empty() && !entry.file_type()?.is_symlink() {
                        continue;
                    }
                    return Err(WatchError::Unsupported("another repository lies in the working tree"));
                }
                let metadata = match entry.metadata() {
                    Ok(metadata) => metadata,
                    Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                    Err(error) => return Err(error.into()),
                };
                if metadata.is_dir() {
                    if metadata.dev() != self.device {
                        return Err(WatchError::Unsupported("another file system lies in the working tree"));
                    }
                    pending.push(path.join(name));
                } else if metadata.is_file() && metadata.nlink() > 1 {
                    return Err(WatchError::Unsupported("a file has a second name"));
                }
            }
        }
        Ok(())
    }

    /// Watches one directory; `false` when there is none.
    fn watch(&mut self, part: WatchArea, path: &Path, absolute: &Path) -> Result<bool, WatchError> {
        if self.directories.len() >= MAX_WATCHES {
            return Err(WatchError::Unsupported("it has too many directories"));
        }
        let Some(watch) = self.watches.add(absolute, WatchMask::Everything)? else { return Ok(false) };
        self.directories.insert(watch, WatchedDirectory { part, path: path.to_owned() });
        Ok(true)
    }

    /// Removes the watches of a directory and those below it.
    fn unwatch(&mut self, part: WatchArea, path: &Path) {
        let watches = &self.watches;
        self.directories.retain(|watch, directory| {
            let stays = directory.part != part || !directory.path.starts_with(path);
            if !stays {
                watches.remove(*watch);
            }
            stays
        });
    }

    fn root(&self, part: WatchArea) -> &Path {
        match part {
            WatchArea::Tree => &self.layout.root,
            WatchArea::OwnRecords => &self.layout.own,
            WatchArea::CommonRecords => &self.layout.common,
        }
    }
}

/// The entries of a directory; none when it has been removed.
fn entries(directory: &Path) -> io::Result<Box<dyn Iterator<Item = io::Result<DirEntry>>>> {
    match directory.read_dir() {
        Ok(entries) => Ok(Box::new(entries)),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(Box::new(std::iter::empty()))
        }
        Err(error) => Err(error),
    }
}

/// Whether a file has other names; writes through those are not reported.
fn has_other_names(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.nlink() > 1)
}
