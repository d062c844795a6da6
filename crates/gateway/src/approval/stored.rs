//! The private files of approval: read at the start, replaced as a whole.
//!
//! A file that cannot be read stays in its place until something is to be written, and is then moved
//! aside: what a person decided is never replaced without a word.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopgate_home::Directory;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of a file.
const MAX_SIZE: u64 = 4 * 1024 * 1024;

/// A file and whether it could be read.
#[derive(Debug)]
pub(super) struct StoredFile {
    path: PathBuf,
    /// Why it was not read. It is still there then.
    unreadable: Mutex<Option<String>>,
}

impl StoredFile {
    /// Reads a file; no content when there is none, or none that can be read.
    pub(super) fn read<T: DeserializeOwned>(path: &Path) -> (Self, Option<T>) {
        let (content, unreadable) = match content_of(path) {
            Ok(content) => (content, None),
            Err(reason) => {
                tracing::error!(%reason, path = %path.display(), "a file of approval cannot be read");
                (None, Some(reason))
            }
        };
        (Self { path: path.to_owned(), unreadable: Mutex::new(unreadable) }, content)
    }

    /// Why the file was not read, with its name.
    pub(super) fn problem(&self) -> Option<String> {
        let reason = self.reason();
        reason.as_ref().map(|reason| format!("{} cannot be read ({reason})", self.name()))
    }

    /// Replaces the file. One that could not be read is moved aside first.
    pub(super) fn write(&self, content: &impl Serialize) -> io::Result<()> {
        let json = serde_json::to_vec_pretty(content)?;
        let mut unreadable = self.reason();
        if unreadable.is_some() {
            match loopgate_home::files::keep_aside(&self.path) {
                Ok(aside) => {
                    tracing::warn!(moved_to = %aside.display(), "an unreadable file was moved aside")
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            }
        }
        loopgate_home::files::write_private(&self.path, &json)?;
        *unreadable = None;
        Ok(())
    }

    fn name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    fn reason(&self) -> MutexGuard<'_, Option<String>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn content_of<T: DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err("it has no name".to_owned());
    };
    let missing = |error: &io::Error| {
        error.kind() == io::ErrorKind::NotFound
            && path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
    };
    let read = Directory::of(parent).and_then(|directory| directory.read(Path::new(name), MAX_SIZE));
    match read {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string()),
        Err(error) if missing(&error) => Ok(None),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err("it is no regular file".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}
