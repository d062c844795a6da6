//! Runs that users upload as an archive, extracted to private directories `run-viewer-<id>` in the system's
//! temporary directory until they are removed or expire.

use std::fs::File;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::{Duration, SystemTime};

use loopgate_home::{Directory, EntryKind};
use thiserror::Error;
use uuid::Uuid;

use crate::archive::{self, UnpackError};

/// Prefix of the name of a run directory.
const PREFIX: &str = "run-viewer-";
/// Prefix that earlier versions used for uploaded archives, which are not runs.
const UPLOAD_PREFIX: &str = "run-viewer-upload-";
/// Maximum length in bytes of the path of a run.
const MAX_PATH: usize = 220;
/// Maximum number of files in a listing.
const MAX_FILES: usize = 20_000;
/// Maximum depth of directories in a listing.
const MAX_DEPTH: usize = 64;
/// Metadata of macOS, excluded from listings with everything below it.
const EXCLUDED: [&str; 2] = ["__MACOSX", ".DS_Store"];
/// Age at which an unmodified run is removed: a week.
const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Directory of an uploaded run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    /// Directory for temporary files.
    parent: PathBuf,
    name: String,
}

/// Why no run was created from an archive.
#[derive(Debug, Error)]
pub enum RunError {
    /// The file does not have the signature of a zip archive.
    #[error("No zip file provided")]
    NoArchive,
    /// The archive contains no files.
    #[error("Zip contains no files")]
    Empty,
    /// The archive cannot be extracted.
    #[error(transparent)]
    Unpack(#[from] UnpackError),
}

impl RunDir {
    /// Extracts an archive into a new directory. Removes the directory on failure. Stops early once
    /// `cancelled` is set. Blocks on disk I/O.
    ///
    /// # Errors
    /// Fails with [`RunError`] when the file is not an archive, is empty, or cannot be extracted.
    pub fn unpack(file: &File, cancelled: &AtomicBool) -> Result<Self, RunError> {
        if !archive::is_archive(file).map_err(UnpackError::Disk)? {
            return Err(RunError::NoArchive);
        }
        let run = Self { parent: std::env::temp_dir(), name: format!("{PREFIX}{}", Uuid::new_v4()) };
        let result = run.fill(file, cancelled);
        if result.is_err() {
            // Best-effort: what remains is removed as an expired run later.
            let _ = run.remove();
        }
        result.map(|()| run)
    }

    /// Parses a path from a request. Returns `None` when it does not have the format of a run directory, or
    /// is something else on the disk. Reads the disk.
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
        if !name.starts_with(PREFIX) || name.len() == PREFIX.len() || name.starts_with(UPLOAD_PREFIX) {
            return None;
        }
        let run = Self { parent: parent.to_owned(), name };
        // A symbolic link or a file is not a run. A missing directory may be a run that was removed.
        let is_directory = run.path().symlink_metadata().ok().map(|metadata| metadata.is_dir());
        (is_directory != Some(false)).then_some(run)
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.parent.join(&self.name)
    }

    /// Lists the files and links as sorted relative paths; `None` when the directory does not exist. Blocks
    /// on disk I/O.
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
        // By UTF-16 code unit, the default order of JavaScript.
        files.sort_by(|one, other| one.encode_utf16().cmp(other.encode_utf16()));
        Ok(Some(files))
    }

    /// Removes the directory and its content. A missing directory is not an error. Blocks on disk I/O.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove(&self) -> io::Result<()> {
        match std::fs::remove_dir_all(self.path()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed,
        }
    }

    /// Removes expired runs of earlier uploads. Blocks on disk I/O.
    pub fn remove_stale() {
        Self::remove_stale_in(&std::env::temp_dir(), SystemTime::now());
    }

    fn remove_stale_in(parent: &Path, now: SystemTime) {
        let entries = Directory::of(parent).and_then(|parent| parent.entries()).unwrap_or_default();
        let directories = entries.into_iter().filter(|entry| entry.kind == EntryKind::Directory);
        for entry in directories {
            let path = parent.join(&entry.name);
            // The temporary directory is shared with other programs and users, so only names of runs are
            // considered.
            let Some(run) = path.to_str().and_then(|text| Self::parse_in(parent, text)) else { continue };
            let modified = path.symlink_metadata().and_then(|metadata| metadata.modified());
            let is_stale =
                modified.is_ok_and(|modified| now.duration_since(modified).is_ok_and(|age| age > MAX_AGE));
            if is_stale && let Err(error) = run.remove() {
                tracing::debug!(%error, "cannot remove expired run");
            }
        }
    }

    fn fill(&self, file: &File, cancelled: &AtomicBool) -> Result<(), RunError> {
        let parent = Directory::of(&self.parent).map_err(UnpackError::Disk)?;
        let directory = parent.make_private_directory(Path::new(&self.name)).map_err(UnpackError::Disk)?;
        archive::unpack(file, &directory, cancelled)?;
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
        if EXCLUDED.contains(&name.as_ref()) {
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
