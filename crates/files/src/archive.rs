//! Unpacking an archive that somebody sent: plain files and directories, below one directory, of a
//! bounded number and size. Everything else makes the whole archive be refused.

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

/// Entries of one archive.
const MAX_ENTRIES: usize = 20_000;
/// Bytes of one entry, and of all together, when they are unpacked.
const MAX_ENTRY: u64 = 512 * 1024 * 1024;
const MAX_TOTAL: u64 = 2 * 1024 * 1024 * 1024;
/// Unpacked bytes for each byte of the archive, once there are enough of them to matter.
const MAX_RATIO: u64 = 250;
const RATIO_MATTERS: u64 = 64 * 1024 * 1024;
/// What unpacking may take.
const TIME_LIMIT: Duration = Duration::from_secs(120);
/// Bytes that are unpacked at once.
const CHUNK: usize = 64 * 1024;
/// What a file of this kind begins with: an entry, or the end of an empty archive.
const BEGINNINGS: [&[u8; 4]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// File type in the mode of an entry, and the types that are unpacked.
const TYPE_MASK: u32 = 0o170_000;
const PLAIN_TYPES: [u32; 3] = [0, 0o100_000, 0o040_000];

/// Why an archive was not unpacked.
#[derive(Debug, Error)]
pub enum UnpackError {
    /// It is damaged, or holds something that is not taken: a link, a device, a path that leads
    /// elsewhere, one name twice, an encrypted file.
    #[error("Invalid zip file")]
    Invalid,
    /// Too many entries, or too many bytes.
    #[error("Zip contents too large")]
    TooLarge,
    /// It took too long, or its caller is gone.
    #[error("Unpacking took too long")]
    TooLong,
    /// The disk refused.
    #[error("Failed to unpack the zip file")]
    Disk(io::Error),
}

/// Whether a file is an archive by its first bytes.
///
/// # Errors
/// Any failure of the file system.
pub(crate) fn is_archive(file: &File) -> io::Result<bool> {
    let mut head = Vec::new();
    FileCursor::new(file)?.take(4).read_to_end(&mut head)?;
    Ok(BEGINNINGS.iter().any(|beginning| head == **beginning))
}

/// Unpacks an archive into a directory. `given_up` is set when the caller is gone.
pub(crate) fn unpack(file: &File, into: &Directory, given_up: &AtomicBool) -> Result<(), UnpackError> {
    let reader = FileCursor::new(file)?;
    let size = reader.length;
    let mut archive = ZipIterable::try_new(reader.clone(), Config::default()).map_err(unreadable)?;
    if archive.len() > MAX_ENTRIES {
        return Err(UnpackError::TooLarge);
    }
    let most = MAX_TOTAL.min(RATIO_MATTERS.max(size.saturating_mul(MAX_RATIO)));
    let mut unpacking = Extraction { into, left: most, began: Instant::now(), given_up };
    let mut entries = archive.files_with_reader(reader, ZipReadOptions::new()).map_err(unreadable)?;
    while let Some(entry) = entries.next() {
        let mut entry = entry.map_err(unreadable)?;
        let plain = entry.unix_mode().is_none_or(|mode| PLAIN_TYPES.contains(&(mode & TYPE_MASK)));
        if entry.is_symlink() || !plain {
            return Err(UnpackError::Invalid);
        }
        let (is_directory, path) = (entry.is_dir(), path_of(&entry.name().map_err(unreadable)?)?);
        unpacking.take(&path, is_directory, &mut entry)?;
    }
    Ok(())
}

/// One archive on its way to the disk.
struct Extraction<'a> {
    into: &'a Directory,
    /// Bytes that may still come.
    left: u64,
    began: Instant,
    given_up: &'a AtomicBool,
}

impl Extraction<'_> {
    fn take(&mut self, path: &Path, is_directory: bool, content: &mut dyn Read) -> Result<(), UnpackError> {
        if is_directory {
            return self.into.make_private_directory(path).map(drop).map_err(not_written);
        }
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(UnpackError::Invalid);
        };
        let parent = self.into.make_private_directory(parent).map_err(not_written)?;
        self.write(&parent, name, content)
    }

    /// Counts what really comes; what an archive says about itself is not believed.
    fn write(&mut self, parent: &Directory, name: &OsStr, content: &mut dyn Read) -> Result<(), UnpackError> {
        let mut file = parent.create_file(name).map_err(not_written)?;
        let mut left = MAX_ENTRY;
        let mut buffer = vec![0; CHUNK];
        loop {
            if self.given_up.load(Ordering::Relaxed) || self.began.elapsed() > TIME_LIMIT {
                return Err(UnpackError::TooLong);
            }
            let read = match content.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => read,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => return Err(UnpackError::Invalid),
            };
            for left in [&mut left, &mut self.left] {
                *left = left.checked_sub(read as u64).ok_or(UnpackError::TooLarge)?;
            }
            io::Write::write_all(&mut file, &buffer[..read]).map_err(UnpackError::Disk)?;
        }
    }
}

/// The path of an entry: relative, without `..`, without anything that another system would read as
/// a root or a separator.
fn path_of(name: &str) -> Result<PathBuf, UnpackError> {
    let odd = name.is_empty()
        || name.starts_with('/')
        || name.contains(['\0', '\\'])
        || name.as_bytes().get(1) == Some(&b':')
        || name.split('/').any(|part| part == "..");
    if odd {
        return Err(UnpackError::Invalid);
    }
    let parts = name.split('/').filter(|part| !part.is_empty() && *part != ".");
    Ok(parts.collect())
}

fn unreadable(error: zip::result::ZipError) -> UnpackError {
    tracing::debug!(%error, "an archive cannot be read");
    UnpackError::Invalid
}

/// A name that is there already, or is no directory, is the archive's fault.
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

/// A file that is read from a place of one's own, so that the reader of the list and the reader of
/// the contents do not move each other.
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
        let place = match to {
            io::SeekFrom::Start(place) => Some(place),
            io::SeekFrom::End(by) => self.length.checked_add_signed(by),
            io::SeekFrom::Current(by) => self.position.checked_add_signed(by),
        };
        self.position = place.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
