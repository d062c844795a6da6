//! The private files of approval: read at the start, replaced as a whole.
//!
//! A malformed file stays in its place until something is to be written, and is then moved aside: what a
//! person decided is never replaced silently.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopgate_home::{JsonFile, JsonFileError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Bytes of a file.
const MAX_SIZE: u64 = 4 * 1024 * 1024;

/// A file and whether it could be read.
#[derive(Debug)]
pub(super) struct StoredFile<T> {
    file: JsonFile<T>,
    /// Why it was not read. It is still there then.
    unreadable: Mutex<Option<String>>,
}

impl<T: Serialize + DeserializeOwned> StoredFile<T> {
    /// Reads a file; no content when there is none, or none that can be read.
    pub(super) fn read(path: &Path) -> (Self, Option<T>) {
        let file = JsonFile::private(path.to_owned()).max_bytes(MAX_SIZE).moving_malformed_aside();
        let (content, unreadable) = match file.read() {
            Ok(content) => (content, None),
            Err(error) => {
                tracing::error!(%error, path = %path.display(), "a file of approval cannot be read");
                let reason = match error {
                    JsonFileError::Malformed { reason, .. } => reason,
                    JsonFileError::Io(error) => error.to_string(),
                };
                (None, Some(reason))
            }
        };
        (Self { file, unreadable: Mutex::new(unreadable) }, content)
    }

    /// Why the file was not read, with its name.
    pub(super) fn problem(&self) -> Option<String> {
        let name = self.file.path();
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        self.reason().as_ref().map(|reason| format!("{name} cannot be read ({reason})"))
    }

    /// Replaces the file. A malformed one is moved aside first.
    pub(super) fn write(&self, content: T) -> io::Result<()> {
        let mut unreadable = self.reason();
        self.file.update(|stored| {
            *stored = Some(content);
            Ok::<_, JsonFileError>(())
        })?;
        *unreadable = None;
        Ok(())
    }

    fn reason(&self) -> MutexGuard<'_, Option<String>> {
        self.unreadable.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
