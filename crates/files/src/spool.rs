//! Bytes on their way through a file without a name: large bodies are never in memory, and nothing
//! is left behind, however the program ends.

use std::fs::File;
use std::io::{self, Seek as _, Write as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

/// Bytes that are written at once.
const CHUNK: usize = 128 * 1024;

/// A file that is being filled.
#[derive(Debug)]
pub struct SpoolFile {
    /// Absent after a failure.
    writer: Option<SpoolWriter>,
    length: u64,
}

/// What works on a thread that may wait for the disk.
#[derive(Debug)]
struct SpoolWriter {
    file: File,
    hash: Option<Sha256>,
    /// Bytes that are not written yet. Many forms may come at once: it never grows.
    buffer: Vec<u8>,
}

/// A filled file, at its beginning.
#[derive(Debug)]
pub struct Spool {
    /// What was written.
    pub file: File,
    /// Bytes.
    pub length: u64,
    /// Lower-case hex of the hash that was fed, when there was one.
    pub hash: Option<String>,
}

impl SpoolFile {
    /// Makes the file, in this directory; everything that comes is fed to the hash.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub async fn create(directory: &Path, hash: Option<Sha256>) -> io::Result<Self> {
        let directory: PathBuf = directory.to_owned();
        let file = spawn_blocking(move || tempfile::tempfile_in(directory)).await?;
        Ok(Self { writer: Some(SpoolWriter { file, hash, buffer: Vec::with_capacity(CHUNK) }), length: 0 })
    }

    /// Adds bytes at its end.
    ///
    /// # Errors
    /// Any failure of the file system; nothing can be added after it.
    pub async fn write(&mut self, mut data: &[u8]) -> io::Result<()> {
        self.length += data.len() as u64;
        while !data.is_empty() {
            let buffer = &mut self.writer.as_mut().ok_or_else(broken)?.buffer;
            let (now, later) = data.split_at(data.len().min(CHUNK - buffer.len()));
            buffer.extend_from_slice(now);
            data = later;
            if buffer.len() == CHUNK {
                self.flush().await?;
            }
        }
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    /// Any failure of the file system, also of an earlier write.
    pub async fn finish(mut self) -> io::Result<Spool> {
        self.flush().await?;
        let Some(SpoolWriter { mut file, hash, .. }) = self.writer else { return Err(broken()) };
        file.rewind()?;
        Ok(Spool { file, length: self.length, hash: hash.map(|hash| hex::encode(hash.finalize())) })
    }

    async fn flush(&mut self) -> io::Result<()> {
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

/// Work that may wait for the disk, on a thread of its own.
pub(crate) async fn spawn_blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(|_| broken())?
}

/// An earlier write failed or panicked.
fn broken() -> io::Error {
    io::Error::other("the spool is broken")
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[tokio::test]
    async fn form_round_trips_without_a_visible_file() {
        let dir = tempfile::tempdir().unwrap();
        let mut spooling = SpoolFile::create(dir.path(), Some(Sha256::new())).await.unwrap();
        let piece: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        for _ in 0..7 {
            spooling.write(&piece).await.unwrap();
        }
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
        let mut spool = spooling.finish().await.unwrap();
        let whole = piece.repeat(7);
        assert_eq!(spool.length, whole.len() as u64);
        assert_eq!(spool.hash.as_deref().unwrap(), hex::encode(Sha256::digest(&whole)));
        let mut read = Vec::new();
        spool.file.read_to_end(&mut read).unwrap();
        assert_eq!(read, whole);
    }
}
