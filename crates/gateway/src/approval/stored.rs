//! Private files of approval, read at start and replaced as a whole.
//!
//! A malformed file is left in place until the next write, which moves it aside, so that the owner's
//! decisions are never overwritten silently.

use std::io;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use loopgate_home::{JsonFile, JsonFileError};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Size limit in bytes when reading. Thousands of rules fit.
const MAX_SIZE: u64 = 4 * 1024 * 1024;

/// A file, and why it could not be read.
#[derive(Debug)]
pub(super) struct StoredFile<T> {
    file: JsonFile<T>,
    /// `Some` while an unreadable file is in place.
    unreadable: Mutex<Option<String>>,
}

impl<T: Serialize + DeserializeOwned> StoredFile<T> {
    /// Reads a file. The content is `None` when the file is missing or unreadable.
    pub(super) fn read(path: &Path) -> (Self, Option<T>) {
        let file = JsonFile::private(path.to_owned()).max_bytes(MAX_SIZE).moving_malformed_aside();
        let (content, unreadable) = match file.read() {
            Ok(content) => (content, None),
            Err(error) => {
                tracing::error!(%error, path = %path.display(), "failed to read an approval file");
                let reason = match error {
                    JsonFileError::Malformed { reason, .. } => reason,
                    JsonFileError::Io(error) => error.to_string(),
                };
                (None, Some(reason))
            }
        };
        (Self { file, unreadable: Mutex::new(unreadable) }, content)
    }

    /// Returns the file name and the reason when the file is unreadable.
    pub(super) fn problem(&self) -> Option<String> {
        let name = self.file.path();
        let name = name.file_name().unwrap_or_default().to_string_lossy();
        self.reason().as_ref().map(|reason| format!("{name} cannot be read ({reason})"))
    }

    /// Replaces the file. Moves a malformed one aside first.
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
