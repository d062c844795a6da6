//! Spooling through unnamed temporary files: large bodies are not held in memory, and the kernel frees the
//! file when the process exits in any way.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Size in bytes of the write buffer. Larger writes save switches to a blocking thread.
const CHUNK: usize = 128 * 1024;

/// A spool that is being written.
#[derive(Debug)]
pub struct SpoolFile {
    /// `None` after a failed write.
    writer: Option<SpoolWriter>,
    length: u64,
}

/// State that moves to a blocking thread for each write.
#[derive(Debug)]
struct SpoolWriter {
    file: File,
    hash: Option<Sha256>,
    /// Bytes that are not written yet. Allocated once with a fixed capacity, because many uploads may run
    /// concurrently.
    buffer: Vec<u8>,
}

/// A complete spool, positioned at its start.
#[derive(Debug)]
pub struct Spool {
    /// Unnamed file with the content.
    pub file: File,
    /// Length in bytes of the content.
    pub length: u64,
    /// Lower-case hex digest, if a hash was passed to [`SpoolFile::create`].
    pub hash: Option<String>,
}

impl SpoolFile {
    /// Creates an unnamed file in `directory`. The content is fed to `hash`.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub async fn create(directory: &Path, hash: Option<Sha256>) -> io::Result<Self> {
        let directory: PathBuf = directory.to_owned();
        let file = spawn_blocking(move || tempfile::tempfile_in(directory)).await?;
        Ok(Self { writer: Some(SpoolWriter { file, hash, buffer: Vec::with_capacity(CHUNK) }), length: 0 })
    }

    /// Appends bytes to the spool.
    ///
    /// # Errors
    /// Any failure of the file system; further writes fail too.
    pub async fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        self.length += data.len() as u64;
        while !data.is_empty() {
            let buffer = &mut self.writer.as_mut().ok_or_else(broken)?.buffer;
            let (head, tail) = data.split_at(data.len().min(CHUNK - buffer.len()));
            buffer.extend_from_slice(head);
            data = tail;
            if buffer.len() == CHUNK {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Flushes the buffer and rewinds the file.
    ///
    /// # Errors
    /// Any failure of the file system, including that of an earlier write.
    pub async fn finish(mut self) -> io::Result<Spool> {
        self.flush().await?;
        let Some(SpoolWriter { mut file, hash, .. }) = self.writer else { return Err(broken()) };
        file.rewind()?;
        Ok(Spool { file, length: self.length, hash: hash.map(|hash| hex::encode(hash.finalize())) })
    }

    async fn flush(&mut self) -> io::Result<()> {
        // Remains `None` when the write fails or panics, so that later writes fail too instead of leaving a
        // gap.
        let mut writer = self.writer.take().ok_or_else(broken)?;
        let writer = spawn_blocking(move || {
            if let Some(hash) = &mut writer.hash {
                hash.update(&writer.buffer);
            }
            writer.file.write_all(&writer.buffer)?;
            writer.buffer.clear();
            Ok(writer)
        });
        self.writer = Some(writer.await?);
        Ok(())
    }
}

/// Runs blocking disk I/O on the blocking thread pool.
pub(crate) async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| broken())?
}

/// Error after a write that failed or panicked.
fn broken() -> io::Error {
    io::Error::other("an earlier write to the temporary file failed")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[tokio::test]
    async fn content_round_trips_without_a_visible_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut spool_file = SpoolFile::create(dir.path(), Some(Sha256::new())).await.unwrap();
        let piece: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        for _ in 0..7 {
            spool_file.write(&piece).await.unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut spool = spool_file.finish().await.unwrap();
        let whole = piece.repeat(7);
        assert_eq!(spool.length, whole.len() as u64);
        assert_eq!(spool.hash.as_deref().unwrap(), hex::encode(Sha256::digest(&whole)));
        let mut read = Vec::new();
        spool.file.read_to_end(&mut read).unwrap();
        assert_eq!(read, whole);
    }
}
