//! JSON files that other programs read and write too.
//!
//! An update takes a lock that all processes share, reads the newest content under it, and replaces the
//! file in one step: temporary file, fsync, rename, fsync of the directory. Members that the document's type
//! does not know survive. Other programs may write in place, so text that is not JSON is read again until it is
//! a second old; only then is it malformed. A malformed file is never overwritten: it is reported, or moved
//! aside where the file's documentation says so. A file that cannot be read is never replaced.

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

/// How long another program may take between truncating a file and writing all of it.
const WRITE_TIME: Duration = Duration::from_secs(1);
/// Pause between two reads of a file that is being written.
const READ_PAUSE: Duration = Duration::from_millis(10);

/// A JSON file that holds one object. Everything here blocks on the disk.
#[derive(Debug, Clone)]
pub struct JsonFile<T> {
    place: FileLocation,
    max_bytes: u64,
    moves_aside: bool,
    document: PhantomData<fn() -> T>,
}

/// Where a file is, and through which handle it is opened.
#[derive(Debug, Clone)]
enum FileLocation {
    /// In a working tree, opened as [`untrusted`] does. World-readable.
    WorkingTree(PathBuf),
    /// In a directory that the sandbox checked. For its owner alone.
    Sandbox(SandboxedPath, OsString),
    /// In a directory that the program chose. For its owner alone.
    Private(PathBuf),
}

/// Why a file cannot be used.
#[derive(Debug, Error)]
pub enum JsonFileError {
    /// The file system refused, or another process held the lock for too long (`TimedOut`). The file is unchanged.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is no such document: other text, too large, a link, a pipe.
    #[error("{file} is malformed: {reason}")]
    Malformed {
        /// Its name, without its directory.
        file: String,
        /// What is wrong with it.
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
    /// A file in a working tree, or in the state directory of the sandbox.
    #[must_use]
    pub fn in_working_tree(path: PathBuf) -> Self {
        Self::at(FileLocation::WorkingTree(path))
    }

    /// A file in a directory that the sandbox checked, for its owner alone. Missing directories are made.
    #[must_use]
    pub fn in_sandbox(directory: SandboxedPath, name: impl Into<OsString>) -> Self {
        Self::at(FileLocation::Sandbox(directory, name.into()))
    }

    /// A file in a private directory, for its owner alone.
    #[must_use]
    pub fn private(path: PathBuf) -> Self {
        Self::at(FileLocation::Private(path))
    }

    fn at(place: FileLocation) -> Self {
        Self { place, max_bytes: untrusted::MAX_DOCUMENT, moves_aside: false, document: PhantomData }
    }

    /// With another limit than 8 MiB for what is read.
    #[must_use]
    pub const fn max_bytes(mut self, max_bytes: u64) -> Self {
        self.max_bytes = max_bytes;
        self
    }

    /// An update renames a malformed file to `<name>.corrupt-<milliseconds>` and goes on as if there was
    /// none, instead of failing.
    #[must_use]
    pub const fn moving_malformed_aside(mut self) -> Self {
        self.moves_aside = true;
        self
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        match &self.place {
            FileLocation::WorkingTree(path) | FileLocation::Private(path) => path.clone(),
            FileLocation::Sandbox(directory, name) => directory.as_path().join(name),
        }
    }

    /// The document; `None` when there is no file. Waits for a program that is writing it.
    ///
    /// # Errors
    /// [`JsonFileError`].
    pub fn read(&self) -> Result<Option<T>, JsonFileError> {
        let read = || match self.directory() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => self.read_in(&opened?),
        };
        let document = read().map_err(|error| self.explained(error))?;
        document.map(|members| self.parse(members)).transpose()
    }

    /// Changes the document under the lock, and stores it if it is another one then. `change` gets `None` when
    /// there is no file, and nothing is stored when it leaves it so, or fails.
    ///
    /// # Errors
    /// What `change` fails with, and [`JsonFileError`]; the file is unchanged then.
    pub fn update<R, E: From<JsonFileError>>(
        &self,
        change: impl FnOnce(&mut Option<T>) -> Result<R, E>,
    ) -> Result<R, E> {
        let failed = |error: io::Error| E::from(self.explained(error.into()));
        let directory = self.make_directory().map_err(failed)?;
        let _lock = self.lock_in(&directory).map_err(failed)?;
        let stored = self.read_in(&directory).and_then(|stored| {
            let parsed = stored.clone().map(|members| self.parse(members)).transpose()?;
            Ok(stored.zip(parsed))
        });
        let (stored, is_malformed) = match stored {
            Ok(stored) => (stored, false),
            Err(error @ JsonFileError::Malformed { .. }) if self.moves_aside => {
                tracing::warn!(%error, "begun anew with the next change");
                (None, true)
            }
            Err(error) => return Err(self.explained(error).into()),
        };
        let (members, mut document) = stored.unzip();
        let before = document.as_ref().map(members_of).transpose().map_err(failed)?;
        let result = change(&mut document)?;
        let after = document.as_ref().map(members_of).transpose().map_err(failed)?;
        if let Some(after) = after.filter(|after| before.as_ref() != Some(after)) {
            let written = || {
                if is_malformed {
                    self.move_aside(&directory)?;
                }
                let merged = merge(members.unwrap_or_default(), &before.unwrap_or_default(), after);
                directory.replace_for(self.name()?, &serde_json::to_vec_pretty(&merged)?, self.audience())
            };
            written().map_err(failed)?;
        }
        Ok(result)
    }

    /// Removes the file under the lock; `false` when there is none.
    ///
    /// # Errors
    /// [`JsonFileError::Io`].
    pub fn remove(&self) -> Result<bool, JsonFileError> {
        let remove = || {
            let directory = self.directory()?;
            let _lock = self.lock_in(&directory)?;
            directory.remove_file(self.name()?)
        };
        match remove() {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.explained(error.into())),
        }
    }

    /// Reads until the text is JSON, or has been there for a while.
    #[expect(
        clippy::disallowed_methods,
        reason = "a program that writes in place gives no signal when it is done"
    )]
    fn read_in(&self, directory: &Directory) -> Result<Option<Map<String, Value>>, JsonFileError> {
        let begun = Instant::now();
        loop {
            match self.read_once(directory)? {
                FileContent::Missing => return Ok(None),
                FileContent::Document(members) => return Ok(Some(members)),
                FileContent::NoJson { modified, .. }
                    if is_recent(modified) && begun.elapsed() < WRITE_TIME =>
                {
                    std::thread::sleep(READ_PAUSE);
                }
                FileContent::NoJson { reason, .. } | FileContent::NoDocument(reason) => {
                    return Err(self.malformed(reason));
                }
            }
        }
    }

    fn read_once(&self, directory: &Directory) -> io::Result<FileContent> {
        let name = Path::new(self.name()?);
        let file = match directory.open_file(name) {
            Ok(file) => file,
            Err(error) => {
                return match directory.kind(name) {
                    None if error.kind() == io::ErrorKind::NotFound => Ok(FileContent::Missing),
                    Some(EntryKind::Link | EntryKind::Other) => {
                        Ok(FileContent::NoDocument("it is no regular file".into()))
                    }
                    // Not a file that may be replaced.
                    Some(EntryKind::Directory) => Err(io::ErrorKind::IsADirectory.into()),
                    None | Some(EntryKind::File) => Err(error),
                };
            }
        };
        let modified = file.metadata()?.modified()?;
        let mut text = Vec::new();
        file.take(self.max_bytes + 1).read_to_end(&mut text)?;
        if text.len() as u64 > self.max_bytes {
            return Ok(FileContent::NoDocument(format!("it has more than {} bytes", self.max_bytes)));
        }
        Ok(match serde_json::from_slice(&text) {
            Ok(Value::Object(members)) => FileContent::Document(members),
            Ok(_) => FileContent::NoDocument("it is no JSON object".into()),
            Err(error) => FileContent::NoJson { reason: error.to_string(), modified },
        })
    }

    fn parse(&self, members: Map<String, Value>) -> Result<T, JsonFileError> {
        serde_json::from_value(Value::Object(members)).map_err(|error| self.malformed(error.to_string()))
    }

    fn move_aside(&self, directory: &Directory) -> io::Result<()> {
        let name = self.name()?;
        let renamed = files::corrupt_name(name);
        directory.rename(name, &renamed)?;
        tracing::warn!(file = %name.display(), moved_to = %renamed.display(), "a malformed file was moved aside");
        Ok(())
    }

    fn directory(&self) -> io::Result<Directory> {
        match &self.place {
            FileLocation::WorkingTree(path) => untrusted::directory(parent(path)?),
            FileLocation::Sandbox(directory, _) => directory.open_directory(),
            FileLocation::Private(path) => Directory::of(parent(path)?),
        }
    }

    fn make_directory(&self) -> io::Result<Directory> {
        match &self.place {
            FileLocation::WorkingTree(path) => untrusted::make_directory(parent(path)?),
            FileLocation::Sandbox(directory, _) => directory.make_directory(),
            FileLocation::Private(path) => {
                files::create_dirs(parent(path)?, Audience::Owner)?;
                Directory::of(parent(path)?)
            }
        }
    }

    /// Takes the lock that all processes share; it is held until the file is closed.
    fn lock_in(&self, directory: &Directory) -> io::Result<File> {
        let path = Path::new(self.name()?).with_extension("lock");
        let file = directory.append_file(path.as_os_str())?;
        files::lock(&file, &path, files::LOCK_TIME)?;
        Ok(file)
    }

    fn name(&self) -> io::Result<&OsStr> {
        match &self.place {
            FileLocation::WorkingTree(path) | FileLocation::Private(path) => {
                path.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
            }
            FileLocation::Sandbox(_, name) => Ok(name),
        }
    }

    const fn audience(&self) -> Audience {
        match &self.place {
            FileLocation::WorkingTree(_) => Audience::Everybody,
            FileLocation::Sandbox(..) | FileLocation::Private(_) => Audience::Owner,
        }
    }

    fn malformed(&self, reason: String) -> JsonFileError {
        let file = self.name().unwrap_or_default().to_string_lossy().into_owned();
        JsonFileError::Malformed { file, reason }
    }

    /// Says what a link in the way means.
    fn explained(&self, error: JsonFileError) -> JsonFileError {
        match error {
            JsonFileError::Io(error) if crate::sandbox::led_away(&error) => {
                let name = self.name().unwrap_or_default().to_string_lossy();
                let text = format!("{name} is behind a symbolic link, which is not followed");
                io::Error::other(text).into()
            }
            error => error,
        }
    }
}

/// What one read of a file found.
enum FileContent {
    Missing,
    Document(Map<String, Value>),
    /// It may be half-written.
    NoJson {
        reason: String,
        modified: SystemTime,
    },
    /// It will not become a document.
    NoDocument(String),
}

fn parent(path: &Path) -> io::Result<&Path> {
    path.parent().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

fn members_of<T: Serialize>(document: &T) -> io::Result<Map<String, Value>> {
    match serde_json::to_value(document)? {
        Value::Object(members) => Ok(members),
        _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "the document is no JSON object")),
    }
}

/// The stored members with the changes from `before` to `after`. Those that neither knows stay, all in their
/// places.
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

/// A time in the future counts as recent: the clock was set back.
fn is_recent(modified: SystemTime) -> bool {
    !modified.elapsed().is_ok_and(|age| age >= WRITE_TIME)
}

#[cfg(test)]
mod tests;
