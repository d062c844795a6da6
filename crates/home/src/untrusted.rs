//! Files in working trees, where a repository or a loop may have put anything under any name.
//!
//! Each is opened relative to its working tree's handle: through no link, regular files only, up to
//! a size, and without blocking on a pipe. The working tree is the part of a path before `.loopgate`;
//! without that component, the directory that contains the file. Everything
//! here blocks on the disk.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use loopgate_api::names::{STATE_DIR, WORK_DIR};
use serde::de::DeserializeOwned;

use crate::files::{self, Audience};
use crate::sandbox::{DirEntry, Directory, EntryKind};

/// Most bytes of a document such as a plan.
pub const MAX_DOCUMENT: u64 = 8 * 1024 * 1024;

/// Opens a regular file for reading.
///
/// # Errors
/// Any failure of the file system; [`crate::led_away`] recognises a link in the path, and anything but a
/// regular file counts as not found.
pub fn open(path: &Path) -> io::Result<File> {
    let (root, below) = split(path);
    Directory::of(root)?.open_file(below)
}

/// Reads a regular file whole, of at most so many bytes.
///
/// # Errors
/// As [`open`]; `FileTooLarge` when it holds more.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let (root, below) = split(path);
    Directory::of(root)?.read(below, most)
}

/// Reads a text of at most [`MAX_DOCUMENT`] bytes.
///
/// # Errors
/// As [`read`]; `InvalidData` when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, MAX_DOCUMENT)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a JSON document of at most [`MAX_DOCUMENT`] bytes; `None` when there is none that can be read.
#[must_use]
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&read(path, MAX_DOCUMENT).ok()?).ok()
}

/// Size, times and identity of a regular file.
///
/// # Errors
/// As [`open`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    open(path)?.metadata()
}

/// What is at a path; `None` when nothing is, or when a link is on the way.
#[must_use]
pub fn kind(path: &Path) -> Option<EntryKind> {
    let (root, below) = split(path);
    Directory::of(root).ok()?.kind(below)
}

/// Whether a regular file is at a path.
#[must_use]
pub fn is_file(path: &Path) -> bool {
    kind(path) == Some(EntryKind::File)
}

/// Opens a directory.
///
/// # Errors
/// As [`open`].
pub fn directory(path: &Path) -> io::Result<Directory> {
    let (root, below) = split(path);
    Directory::of(root)?.directory(below)
}

/// The entries of a directory; none when it cannot be read.
#[must_use]
pub fn entries(path: &Path) -> Vec<DirEntry> {
    directory(path).and_then(|directory| directory.entries()).unwrap_or_default()
}

/// Makes a directory with its parents, and opens it.
///
/// # Errors
/// As [`open`].
pub fn make_directory(path: &Path) -> io::Result<Directory> {
    let (root, below) = split(path);
    std::fs::create_dir_all(root)?;
    Directory::of(root)?.make_directory(below)
}

/// Makes a directory that only the owner may enter, with its parents, and opens it.
///
/// # Errors
/// As [`open`].
pub fn make_private_directory(path: &Path) -> io::Result<Directory> {
    let (root, below) = split(path);
    std::fs::create_dir_all(root)?;
    let made = Directory::of(root)?.make_private_directory(below)?;
    made.make_private()?;
    Ok(made)
}

/// Puts a file in the place of what has its name, in one step. Missing directories are made.
///
/// # Errors
/// As [`open`]; what is in the file's place is whole then, and most likely the old content.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Audience::Everybody)
}

/// As [`write`], readable by the owner alone.
///
/// # Errors
/// As [`write`].
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Audience::Owner)
}

/// Opens a regular file for reading, and for writing at its end. A missing one is made, for its owner alone, with the
/// directories above it.
///
/// # Errors
/// As [`open`].
pub fn append(path: &Path) -> io::Result<File> {
    let (directory, name) = make_parent(path)?;
    directory.append_file(name)
}

/// Locks a file, which is created when it is missing, until the returned handle is dropped.
///
/// # Errors
/// As [`open`], and as [`files::lock`].
pub fn lock(path: &Path) -> io::Result<File> {
    let file = append(path)?;
    files::lock(&file, path, files::LOCK_TIME)?;
    Ok(file)
}

/// Removes a file or a link.
///
/// # Errors
/// As [`open`].
pub fn remove(path: &Path) -> io::Result<()> {
    let (directory, name) = parent(path)?;
    directory.remove_file(name)
}

/// Gives a file or a link another name in its directory.
///
/// # Errors
/// As [`open`].
pub fn rename(path: &Path, name: &OsStr) -> io::Result<()> {
    let (directory, old) = parent(path)?;
    directory.rename(old, name)
}

fn replace(path: &Path, bytes: &[u8], audience: Audience) -> io::Result<()> {
    let (directory, name) = make_parent(path)?;
    directory.write(name, bytes, audience)
}

fn parent(path: &Path) -> io::Result<(Directory, &OsStr)> {
    let (root, below) = split(path);
    let directory = Directory::of(root)?.directory(below.parent().unwrap_or(Path::new("")))?;
    Ok((directory, name_of(below)?))
}

fn make_parent(path: &Path) -> io::Result<(Directory, &OsStr)> {
    let (root, below) = split(path);
    std::fs::create_dir_all(root)?;
    let directory = Directory::of(root)?.make_directory(below.parent().unwrap_or(Path::new("")))?;
    Ok((directory, name_of(below)?))
}

fn name_of(below: &Path) -> io::Result<&OsStr> {
    below.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// The working tree, and what follows in it. A `.loopgate` in a loop's own work directory belongs to
/// the same working tree.
fn split(path: &Path) -> (&Path, &Path) {
    let holder = path.ancestors().find(|at| {
        let is_state = at.file_name() == Some(OsStr::new(STATE_DIR));
        is_state && !at.parent().is_some_and(|above| above.ends_with(WORK_DIR))
    });
    let root = holder.unwrap_or(path).parent().unwrap_or(path);
    let below = path.strip_prefix(root).unwrap_or(Path::new(""));
    (if root.as_os_str().is_empty() { Path::new(".") } else { root }, below)
}

#[cfg(test)]
mod tests;
