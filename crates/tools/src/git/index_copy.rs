//! Copies of the index for commands that must not change it.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::SystemTime;

use loopgate_home::Repository;

/// Largest index that is copied, in bytes.
const MAX_INDEX: u64 = 512 * 1024 * 1024;

/// Content of an index, and the time of its last change.
///
/// Git compares that time with the times of files to decide whether a file may have changed in the second in which the
/// index was written. A copy with a later time would hide such a change.
pub(super) struct IndexCopy {
    pub(super) content: Vec<u8>,
    modified: SystemTime,
}

impl IndexCopy {
    /// Reads the index of a worktree; `None` if there is none. Blocks.
    pub(super) fn read(repository: &Repository) -> io::Result<Option<Self>> {
        let (own, index) = (&repository.handles.git_dir, Path::new("index"));
        let read = || -> io::Result<Self> {
            // Before the content, which may be replaced: an earlier time hides nothing.
            let modified = own.open_file(index)?.metadata()?.modified()?;
            Ok(Self { content: own.read(index, MAX_INDEX)?, modified })
        };
        match read() {
            Ok(copy) => Ok(Some(copy)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Gives a file with the content the time of the index.
    pub(super) fn set_time(&self, file: &File) -> io::Result<()> {
        file.set_modified(self.modified)
    }
}
