//! JSON files that other programs read and write concurrently.
//!
//! An update acquires a lock that all processes share, reads the current content under it, and replaces the
//! file atomically: temporary file, fsync, rename, fsync of the directory. Members that the type of the
//! document does not declare are preserved. Other programs may write in place, so text that is not JSON is
//! read again until it has not changed for a second; only then is it malformed. A malformed file is never
//! overwritten: an update fails, or moves it aside where that is documented for the file. A file that cannot
//! be read is never replaced.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::marker::PhantomData;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use thiserror::Error;

use crate::files::{self, Audience};
use crate::sandbox::{Directory, EntryKind, SandboxedPath};
use crate::untrusted;

/// How long another program may take to write a file in place after truncating it.
const WRITE_TIME: Duration = Duration::from_secs(1);
/// Interval between reads of a file that another program is writing.
const READ_PAUSE: Duration = Duration::from_millis(10);

/// A JSON file that contains one object. All methods block on disk I/O.
#[derive(Debug, Clone)]
pub struct JsonFile<T> {
    location: FileLocation,
    max_bytes: u64,
    moves_malformed_aside: bool,
    document: PhantomData<fn() -> T>,
}

/// Location of a file, and how its directory is opened.
#[derive(Debug, Clone)]
enum FileLocation {
    /// In a working tree, opened as in [`untrusted`]. World-readable.
    WorkingTree(PathBuf),
    /// In a directory that the sandbox checked. Mode 0600.
    Sandbox(SandboxedPath, OsString),
    /// In a directory that Loopgate chose. Mode 0600.
    Private(PathBuf),
}

#[derive(Debug, Error)]
pub enum JsonFileError {
    /// The file system returned an error, or another process held the lock for too long (`TimedOut`). The
    /// file is unchanged.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// The file is not such a document: other text, too large, a symbolic link or a pipe.
    #[error("{file} is malformed: {reason}")]
    Malformed {
        /// File name without the directory.
        file: String,
        /// Why it is malformed.
        reason: String,
    },
}

impl From<JsonFileError> for io::Error {
    fn from(error: JsonFileError) -> Self {
        match error {
            JsonFileError::Io(error) => error,
            malformed @ JsonFileError::Malformed { .. } => {
                Self::new(io::ErrorKind::InvalidData, malformed.to_string())
            }
        }
    }
}

impl<T: Serialize + DeserializeOwned> JsonFile<T> {
    /// Refers to a file in a working tree or in the state directory of the sandbox.
    #[must_use]
    pub fn in_working_tree(path: PathBuf) -> Self {
        Self::at(FileLocation::WorkingTree(path))
    }

    /// Refers to a file with mode 0600 in a directory that the sandbox checked. Missing directories are
    /// created.
    #[must_use]
    pub fn in_sandbox(directory: SandboxedPath, name: impl Into<OsString>) -> Self {
        Self::at(FileLocation::Sandbox(directory, name.into()))
    }

    /// Refers to a file with mode 0600 in a private directory.
    #[must_use]
    pub fn private(path: PathBuf) -> Self {
        Self::at(FileLocation::Private(path))
    }

    fn at(location: FileLocation) -> Self {
        Self {
            location,
            max_bytes: untrusted::MAX_DOCUMENT,
            moves_malformed_aside: false,
            document: PhantomData,
        }
    }

    /// Sets the maximum size in bytes of the file; 8 MiB by default.
    #[must_use]
    pub const fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// Makes updates rename a malformed file to `<name>.corrupt-<milliseconds>` and continue with no
    /// document, instead of failing.
    #[must_use]
    pub const fn moving_malformed_aside(mut self) -> Self {
        self.moves_malformed_aside = true;
        self
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.location {
            FileLocation::WorkingTree(path) | FileLocation::Private(path) => path.clone(),
            FileLocation::Sandbox(directory, name) => directory.as_path().join(name),
        }
    }

    /// Reads the document; `None` when the file does not exist. Waits while another program is writing the
    /// file.
    ///
    /// # Errors
    /// Fails with [`JsonFileError`] when the file cannot be read or is malformed.
    pub fn read(&self) -> Result<Option<T>, JsonFileError> {
        let read = || match self.directory() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => self.read_in(&opened?),
        };
        let document = read().map_err(|error| self.explain(error))?;
        document.map(|members| self.parse(members)).transpose()
    }

    /// Changes the document under the lock and writes it if it has changed. `change` receives `None` when the
    /// file does not exist. Nothing is written when `change` leaves it at `None` or fails.
    ///
    /// # Errors
    /// Returns the error of `change`, or a [`JsonFileError`]; the file is unchanged.
    pub fn update<R, E: From<JsonFileError>>(
        &self,
        change: impl FnOnce(&mut Option<T>) -> Result<R, E>,
    ) -> Result<R, E> {
        let to_error = |error: io::Error| E::from(self.explain(error.into()));
        let directory = self.create_directory().map_err(to_error)?;
        // Held from the read to the rename, which prevents lost updates.
        let _lock = self.lock_in(&directory).map_err(to_error)?;
        let stored = self.read_in(&directory).and_then(|stored| {
            let parsed = stored.clone().map(|members| self.parse(members)).transpose()?;
            Ok(stored.zip(parsed))
        });
        let (stored, is_malformed) = match stored {
            Ok(stored) => (stored, false),
            Err(error @ JsonFileError::Malformed { .. }) if self.moves_malformed_aside => {
                tracing::warn!(%error, "malformed file is replaced by the next change");
                (None, true)
            }
            Err(error) => return Err(self.explain(error).into()),
        };
        let (members, mut document) = stored.unzip();
        let before = document.as_ref().map(members_of).transpose().map_err(to_error)?;
        let result = change(&mut document)?;
        let after = document.as_ref().map(members_of).transpose().map_err(to_error)?;
        if let Some(after) = after.filter(|after| before.as_ref() != Some(after)) {
            // Nothing is written for an unchanged document, so a no-op update keeps the formatting of another
            // program and triggers no file watchers.
            let write = || {
                if is_malformed {
                    self.move_aside(&directory)?;
                }
                let merged = merge(members.unwrap_or_default(), &before.unwrap_or_default(), after);
                directory.replace_for(self.name()?, &serde_json::to_vec_pretty(&merged)?, self.audience())
            };
            write().map_err(to_error)?;
        }
        Ok(result)
    }

    /// Removes the file under the lock. Returns `false` when it does not exist.
    ///
    /// # Errors
    /// Fails with [`JsonFileError::Io`].
    pub fn remove(&self) -> Result<bool, JsonFileError> {
        let remove = || {
            let directory = self.directory()?;
            let _lock = self.lock_in(&directory)?;
            directory.remove_file(self.name()?)
        };
        match remove() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.explain(error.into())),
        }
    }

    /// Reads the file until its text is JSON or has not changed for `WRITE_TIME`.
    #[expect(
        clippy::disallowed_methods,
        reason = "a program that writes in place sends no notification when it is done"
    )]
    fn read_in(&self, directory: &Directory) -> Result<Option<Map<String, Value>>, JsonFileError> {
        let started = Instant::now();
        loop {
            match self.read_once(directory)? {
                ReadOutcome::Missing => return Ok(None),
                ReadOutcome::Document(members) => return Ok(Some(members)),
                ReadOutcome::InvalidJson { modified, .. }
                    if is_recent(modified) && started.elapsed() < WRITE_TIME =>
                {
                    std::thread::sleep(READ_PAUSE);
                }
                ReadOutcome::InvalidJson { reason, .. } | ReadOutcome::NotADocument(reason) => {
                    return Err(self.malformed(reason));
                }
            }
        }
    }

    fn read_once(&self, directory: &Directory) -> io::Result<ReadOutcome> {
        let name = Path::new(self.name()?);
        let file = match directory.open_file(name) {
            Ok(file) => file,
            Err(error) => {
                return match directory.kind(name) {
                    None if error.kind() == io::ErrorKind::NotFound => Ok(ReadOutcome::Missing),
                    Some(EntryKind::Link | EntryKind::Other) => {
                        Ok(ReadOutcome::NotADocument("it is not a regular file".into()))
                    }
                    // Not a malformed document: a directory cannot be moved aside safely.
                    Some(EntryKind::Directory) => Err(io::ErrorKind::IsADirectory.into()),
                    None | Some(EntryKind::File) => Err(error),
                };
            }
        };
        let modified = file.metadata()?.modified()?;
        let mut text = Vec::new();
        file.take(self.max_bytes + 1).read_to_end(&mut text)?;
        if text.len() as u64 > self.max_bytes {
            return Ok(ReadOutcome::NotADocument(format!("it is larger than {} bytes", self.max_bytes)));
        }
        Ok(match serde_json::from_slice(&text) {
            Ok(Value::Object(members)) => ReadOutcome::Document(members),
            Ok(_) => ReadOutcome::NotADocument("it is not a JSON object".into()),
            Err(error) => ReadOutcome::InvalidJson { reason: error.to_string(), modified },
        })
    }

    fn parse(&self, members: Map<String, Value>) -> Result<T, JsonFileError> {
        serde_json::from_value(Value::Object(members)).map_err(|error| self.malformed(error.to_string()))
    }

    fn move_aside(&self, directory: &Directory) -> io::Result<()> {
        let name = self.name()?;
        let renamed = files::corrupt_name(name);
        directory.rename(name, &renamed)?;
        tracing::warn!(file = %name.display(), moved_to = %renamed.display(), "malformed file moved aside");
        Ok(())
    }

    fn directory(&self) -> io::Result<Directory> {
        match &self.location {
            FileLocation::WorkingTree(path) => untrusted::directory(parent(path)?),
            FileLocation::Sandbox(directory, _) => directory.open_directory(),
            FileLocation::Private(path) => Directory::of(parent(path)?),
        }
    }

    fn create_directory(&self) -> io::Result<Directory> {
        match &self.location {
            FileLocation::WorkingTree(path) => untrusted::create_directory(parent(path)?),
            FileLocation::Sandbox(directory, _) => directory.create_directory(),
            FileLocation::Private(path) => {
                files::create_dirs(parent(path)?, Audience::Owner)?;
                Directory::of(parent(path)?)
            }
        }
    }

    /// Acquires the lock that all processes share. It is held until the returned file is closed.
    fn lock_in(&self, directory: &Directory) -> io::Result<File> {
        // A separate file, because a rename replaces the inode of the document and with it any lock on it.
        let path = Path::new(self.name()?).with_extension("lock");
        let file = directory.append_file(path.as_os_str())?;
        files::lock(&file, &path, files::LOCK_TIME)?;
        Ok(file)
    }

    fn name(&self) -> io::Result<&OsStr> {
        match &self.location {
            FileLocation::WorkingTree(path) | FileLocation::Private(path) => {
                path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
            }
            FileLocation::Sandbox(_, name) => Ok(name),
        }
    }

    const fn audience(&self) -> Audience {
        match &self.location {
            FileLocation::WorkingTree(_) => Audience::Everybody,
            FileLocation::Sandbox(..) | FileLocation::Private(_) => Audience::Owner,
        }
    }

    fn malformed(&self, reason: String) -> JsonFileError {
        let file = self.name().unwrap_or_default().to_string_lossy().into_owned();
        JsonFileError::Malformed { file, reason }
    }

    /// Replaces the error for a symbolic link in the path by a message that names the file.
    fn explain(&self, error: JsonFileError) -> JsonFileError {
        match error {
            JsonFileError::Io(error) if crate::sandbox::escaped_via_symlink(&error) => {
                let name = self.name().unwrap_or_default().to_string_lossy();
                let text = format!("{name} is behind a symbolic link, which is not followed");
                io::Error::other(text).into()
            }
            error => error,
        }
    }
}

/// Result of reading a file once.
enum ReadOutcome {
    Missing,
    Document(Map<String, Value>),
    /// Not valid JSON; another program may still be writing it.
    InvalidJson {
        reason: String,
        modified: SystemTime,
    },
    /// Not a document, whatever else is written to it.
    NotADocument(String),
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn members_of<T: Serialize>(document: &T) -> io::Result<Map<String, Value>> {
    match serde_json::to_value(document)? {
        Value::Object(members) => Ok(members),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the document is not a JSON object")),
    }
}

/// Applies the changes from `before` to `after` to the stored members. Members that are in neither keep their
/// value and position.
fn merge(
    stored: Map<String, Value>,
    before: &Map<String, Value>,
    mut after: Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = Map::new();
    for (name, value) in stored {
        match after.shift_remove(&name) {
            Some(changed) => drop(merged.insert(name, changed)),
            None if before.contains_key(&name) => {}
            None => drop(merged.insert(name, value)),
        }
    }
    merged.extend(after);
    merged
}

/// A time in the future counts as recent: the clock may have been set back.
fn is_recent(modified: SystemTime) -> bool {
    !modified.elapsed().is_ok_and(|age| age >= WRITE_TIME)
}

#[cfg(test)]
mod tests;
