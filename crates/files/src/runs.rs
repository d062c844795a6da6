//! Directories of runs that were sent as an archive: `run-viewer-<id>` in the system's directory
//! for temporary files, for their owner alone, until they are removed or swept.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use loopgate_home::{Directory, EntryKind};
use thiserror::Error;
use uuid::Uuid;

use crate::archive::{self, UnpackError};

/// Beginning of the name of every run's directory.
const PREFIX: &str = "run-viewer-";
/// Names that begin so were uploads once; they are no runs.
const NO_RUN: &str = "run-viewer-upload-";
/// Bytes of a path that is taken for a run's.
const MAX_PATH: usize = 220;
/// Files in one list.
const MAX_FILES: usize = 20_000;
/// Directories below each other that are listed.
const MAX_DEPTH: usize = 64;
/// Left out of lists, with everything below them.
const LEFT_OUT: [&str; 2] = ["__MACOSX", ".DS_Store"];
/// A run that was not touched for so long is swept.
const SWEPT_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The directory of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    /// Where temporary files lie.
    parent: PathBuf,
    name: String,
}

/// Why there is no run in an archive.
#[derive(Debug, Error)]
pub enum RunError {
    /// It is no archive by its first bytes.
    #[error("No zip file provided")]
    NoArchive,
    /// There is no file in it.
    #[error("Zip contains no files")]
    Empty,
    /// It cannot be unpacked.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

impl RunDir {
    /// Unpacks an archive into a new directory. Nothing is left behind when that fails. Blocks on
    /// the disk; ends early once `given_up` is set.
    ///
    /// # Errors
    /// See [`RunError`].
    pub fn unpack(file: &File, given_up: &AtomicBool) -> Result<Self, RunError> {
        if !archive::is_archive(file).map_err(UnpackError::Disk)? {
            return Err(RunError::NoArchive);
        }
        let run = Self { parent: std::env::temp_dir(), name: format!("{PREFIX}{}", Uuid::new_v4()) };
        let unpacked = run.fill(file, given_up);
        if unpacked.is_err() {
            let _ = run.remove();
        }
        unpacked.map(|()| run)
    }

    /// A path from outside that has the form of a run's directory, and is none of something else.
    /// Looks at the disk.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::parse_in(&std::env::temp_dir(), text)
    }

    fn parse_in(parent: &Path, text: &str) -> Option<Self> {
        if text.len() > MAX_PATH || text.contains("..") || text.contains('\0') {
            return None;
        }
        let mut rest = Path::new(text).strip_prefix(parent).ok()?.components();
        let (Some(Component::Normal(name)), None) = (rest.next(), rest.next()) else { return None };
        let name = name.to_str()?.to_owned();
        if !name.starts_with(PREFIX) || name.len() == PREFIX.len() || name.starts_with(NO_RUN) {
            return None;
        }
        let run = Self { parent: parent.to_owned(), name };
        // A link, or a file, is no run; what is not there may be one that was removed.
        let kind = run.path().symlink_metadata().ok().map(|found| found.is_dir());
        (kind != Some(false)).then_some(run)
    }

    /// Where it lies.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    /// Its files and links by their relative paths, in order; `None` when it is not there. Blocks on
    /// the disk.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn files(&self) -> io::Result<Option<Vec<String>>> {
        let opened = Directory::of(&self.parent).and_then(|parent| parent.directory(Path::new(&self.name)));
        let directory = match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened?,
        };
        let mut files = Vec::new();
        list(&directory, "", MAX_DEPTH, &mut files)?;
        files.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
        Ok(Some(files))
    }

    /// Removes it with everything in it; one that is not there is removed. Blocks on the disk.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes what was left behind by earlier uploads. Blocks on the disk.
    pub fn remove_stale() {
        Self::sweep_in(&std::env::temp_dir(), SystemTime::now());
    }

    fn sweep_in(parent: &Path, now: SystemTime) {
        let entries = Directory::of(parent).and_then(|parent| parent.entries()).unwrap_or_default();
        let directories = entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
        for entry in directories {
            let path = parent.join(&entry.name);
            let Some(run) = path.to_str().and_then(|text| Self::parse_in(parent, text)) else { continue };
            let touched = path.symlink_metadata().and_then(|found| found.modified());
            let old =
                touched.is_ok_and(|touched| now.duration_since(touched).is_ok_and(|age| age > SWEPT_AFTER));
            if old && let Err(error) = run.remove() {
                tracing::debug!(%error, "an old run cannot be removed");
            }
        }
    }

    fn fill(&self, file: &File, given_up: &AtomicBool) -> Result<(), RunError> {
        let parent = Directory::of(&self.parent).map_err(UnpackError::Disk)?;
        let directory = parent.make_private_directory(Path::new(&self.name)).map_err(UnpackError::Disk)?;
        archive::unpack(file, &directory, given_up)?;
        let mut files = Vec::new();
        list(&directory, "", MAX_DEPTH, &mut files).map_err(UnpackError::Disk)?;
        if files.is_empty() { Err(RunError::Empty) } else { Ok(()) }
    }
}

fn list(directory: &Directory, prefix: &str, depth: usize, files: &mut Vec<String>) -> io::Result<()> {
    for entry in directory.entries()? {
        if files.len() >= MAX_FILES {
            break;
        }
        let name = entry.name.to_string_lossy();
        if LEFT_OUT.contains(&name.as_ref()) {
            continue;
        }
        match entry.kind {
            EntryKind::File | EntryKind::Link => files.push(format!("{prefix}{name}")),
            EntryKind::Directory if depth > 0 => {
                let below = directory.directory(Path::new(&entry.name))?;
                list(&below, &format!("{prefix}{name}/"), depth - 1, files)?;
            }
            EntryKind::Directory | EntryKind::Other => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
