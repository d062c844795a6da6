//! Extraction of untrusted zip archives: regular files and directories below one directory, limited in number
//! and size. An archive with anything else is rejected as a whole.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use loopgate_home::Directory;
use thiserror::Error;
use zip::read::{Config, ZipReadOptions};
use zip::unstable::read::ZipIterable;

/// Maximum number of entries in an archive.
const MAX_ENTRIES: usize = 20_000;
/// Maximum uncompressed size in bytes of one entry.
const MAX_ENTRY: u64 = 512 * 1024 * 1024;
/// Maximum uncompressed size in bytes of all entries together.
const MAX_TOTAL: u64 = 2 * 1024 * 1024 * 1024;
/// Maximum compression ratio above `RATIO_THRESHOLD`. Deflate reaches about 1000:1, far more than the content of a run.
const MAX_RATIO: u64 = 250;
/// Uncompressed size in bytes up to which any ratio is accepted: small repetitive files compress well.
const RATIO_THRESHOLD: u64 = 64 * 1024 * 1024;
/// Maximum duration of an extraction.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Size in bytes of the copy buffer; limits and cancellation are checked once per buffer.
const CHUNK: usize = 64 * 1024;
/// Signatures of a local file header, and of the end of an empty archive.
const SIGNATURES: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// File type bits in the Unix mode of an entry.
const TYPE_MASK: u32 = 0o170_000;
/// File types that are extracted: none recorded, regular file, directory.
const PLAIN_TYPES: [u32; 3] = [0, 0o100_000, 0o040_000];

/// Why an archive was not extracted.
#[derive(Debug, Error)]
pub enum UnpackError {
    /// The archive is damaged or contains an unsupported entry: a link, a device, a path outside the target,
    /// a duplicate name or an encrypted file.
    #[error("Invalid zip file")]
    Invalid,
    /// The archive has too many entries or too much content.
    #[error("Zip contents too large")]
    TooLarge,
    /// The extraction timed out, or the request that started it was dropped.
    #[error("Unpacking took too long")]
    TooLong,
    /// The file system returned an error.
    #[error("Failed to unpack the zip file")]
    Disk(io::Error),
}

/// Returns whether a file starts with the signature of an archive.
///
/// # Errors
/// Any failure of the file system.
pub(crate) fn is_archive(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    FileCursor::new(file)?.take(4).read_to_end(&mut head)?;
    Ok(SIGNATURES.iter().any(|signature| head == **signature))
}

/// Extracts an archive into a directory. Stops early once `cancelled` is set.
pub(crate) fn unpack(file: &File, into: &Directory, cancelled: &AtomicBool) -> Result<(), UnpackError> {
    let reader = FileCursor::new(file)?;
    let size = reader.length;
    let mut archive = ZipIterable::try_new(reader.clone(), Config::default()).map_err(unreadable)?;
    if archive.len() > MAX_ENTRIES {
        return Err(UnpackError::TooLarge);
    }
    let max_bytes = MAX_TOTAL.min(RATIO_THRESHOLD.max(size.saturating_mul(MAX_RATIO)));
    let mut extraction = Extraction { into, remaining: max_bytes, started: Instant::now(), cancelled };
    let mut entries = archive.files_with_reader(reader, ZipReadOptions::new()).map_err(unreadable)?;
    while let Some(entry) = entries.next() {
        let mut entry = entry.map_err(unreadable)?;
        let is_plain = entry.unix_mode().is_none_or(|mode| PLAIN_TYPES.contains(&(mode & TYPE_MASK)));
        // A symbolic link could redirect the entries that are extracted after it.
        if entry.is_symlink() || !is_plain {
            return Err(UnpackError::Invalid);
        }
        let (is_directory, path) = (entry.is_dir(), path_of(&entry.name().map_err(unreadable)?)?);
        extraction.extract(&path, is_directory, &mut entry)?;
    }
    Ok(())
}

/// State of the extraction of one archive.
struct Extraction<'a> {
    into: &'a Directory,
    /// Uncompressed bytes that may still be extracted.
    remaining: u64,
    started: Instant,
    cancelled: &'a AtomicBool,
}

impl Extraction<'_> {
    fn extract(
        &mut self,
        path: &Path,
        is_directory: bool,
        content: &mut dyn Read,
    ) -> Result<(), UnpackError> {
        if is_directory {
            return self.into.make_private_directory(path).map(drop).map_err(not_written);
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(UnpackError::Invalid);
        };
        let parent = self.into.make_private_directory(parent).map_err(not_written)?;
        self.write(&parent, name, content)
    }

    // Counts the bytes as they are decompressed: the sizes in the headers of a malicious archive can be
    // wrong.
    fn write(&mut self, parent: &Directory, name: &OsStr, content: &mut dyn Read) -> Result<(), UnpackError> {
        // Fails for an existing name, so a duplicate entry cannot overwrite an earlier one.
        let mut file = parent.create_file(name).map_err(not_written)?;
        let mut entry_remaining = MAX_ENTRY;
        let mut buffer = vec![0; CHUNK];
        loop {
            if self.cancelled.load(Ordering::Relaxed) || self.started.elapsed() > TIME_LIMIT {
                return Err(UnpackError::TooLong);
            }
            let read = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(UnpackError::Invalid),
            };
            for remaining in [&mut entry_remaining, &mut self.remaining] {
                *remaining = remaining.checked_sub(read as u64).ok_or(UnpackError::TooLarge)?;
            }
            io::Write::write_all(&mut file, &buffer[..read]).map_err(UnpackError::Disk)?;
        }
    }
}

/// Validates the path of an entry: relative, without `..`, and without characters that any platform
/// interprets as a root or separator.
fn path_of(name: &str) -> Result<PathBuf, UnpackError> {
    // On Windows `\` is a separator and `C:` a drive; archives are rejected on all platforms alike.
    let is_unsafe = name.is_empty()
        || name.starts_with('/')
        || name.contains(['\0', '\\'])
        || name.as_bytes().get(1) == Some(&b':')
        || name.split('/').any(|part| part == "..");
    if is_unsafe {
        return Err(UnpackError::Invalid);
    }
    let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
    Ok(parts.collect())
}

fn unreadable(error: zip::result::ZipError) -> UnpackError {
    tracing::debug!(%error, "invalid archive");
    UnpackError::Invalid
}

/// Maps a name that is taken, or has a file as its parent, to an invalid archive.
fn not_written(error: io::Error) -> UnpackError {
    match error.kind() {
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::NotADirectory
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::InvalidInput
        | io::ErrorKind::InvalidFilename => UnpackError::Invalid,
        _ => UnpackError::Disk(error),
    }
}

impl From<io::Error> for UnpackError {
    fn from(error: io::Error) -> Self {
        Self::Disk(error)
    }
}

/// A file with its own read position, so that the readers of the central directory and of the contents do not
/// move each other's offset.
#[derive(Debug, Clone)]
struct FileCursor<'a> {
    file: &'a File,
    position: u64,
    length: u64,
}

impl<'a> FileCursor<'a> {
    fn new(file: &'a File) -> io::Result<Self> {
        Ok(Self { file, position: 0, length: file.metadata()?.len() })
    }
}

impl Read for FileCursor<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(self.file, buffer, self.position)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(self.file, buffer, self.position)?;
        self.position += read as u64;
        Ok(read)
    }
}

impl io::Seek for FileCursor<'_> {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let position = match to {
            io::SeekFrom::Start(position) => Some(position),
            io::SeekFrom::End(by) => self.length.checked_add_signed(by),
            io::SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
