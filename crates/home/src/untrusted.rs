//! Access to files in working trees, where a repository or a loop may have placed anything under any name.
//!
//! Each file is opened relative to the handle of its working tree, without following symbolic links. Only
//! regular files are opened, reads are limited in size, and opening never blocks on a pipe. The working tree
//! is the part of a path before `.loopgate`; without that component, it is the directory that contains the
//! file. All functions block on disk I/O.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use loopgate_api::names::{STATE_DIR, WORK_DIR};
use serde::de::DeserializeOwned;

use crate::files::{self, Audience};
use crate::sandbox::{DirEntry, Directory, EntryKind};

/// Maximum size in bytes of a document such as a plan.
pub const MAX_DOCUMENT: u64 = 8 * 1024 * 1024;

/// Opens a regular file for reading.
///
/// # Errors
/// Any failure of the file system. [`crate::escaped_via_symlink`] recognizes a symbolic link in the path.
/// Fails with `NotFound` when the path is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    let (root, below) = split(path);
    Directory::of(root)?.open_file(below)
}

/// Reads a whole regular file of at most `max_bytes` bytes.
///
/// # Errors
/// As [`open`]; `FileTooLarge` when the file has more than `max_bytes` bytes.
pub fn read(path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
    let (root, below) = split(path);
    Directory::of(root)?.read(below, max_bytes)
}

/// Reads a UTF-8 text of at most [`MAX_DOCUMENT`] bytes.
///
/// # Errors
/// As [`read`]; `InvalidData` when it is not UTF-8.
pub fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read(path, MAX_DOCUMENT)?)
        .map_err(|error| io::Error::new(io::ErrorKind::InvalidData, error))
}

/// Reads a JSON document of at most [`MAX_DOCUMENT`] bytes. Returns `None` when the file is missing,
/// unreadable or malformed.
#[must_use]
pub fn read_json<T: DeserializeOwned>(path: &Path) -> Option<T> {
    serde_json::from_slice(&read(path, MAX_DOCUMENT).ok()?).ok()
}

/// Returns size, times and inode of a regular file.
///
/// # Errors
/// As [`open`].
pub fn metadata(path: &Path) -> io::Result<Metadata> {
    open(path)?.metadata()
}

/// Returns the kind of the entry at a path; `None` when the path does not exist or a component before the
/// last one is a symbolic link.
#[must_use]
pub fn kind(path: &Path) -> Option<EntryKind> {
    let (root, below) = split(path);
    Directory::of(root).ok()?.kind(below)
}

/// Returns whether a path is a regular file.
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

/// Returns the entries of a directory; none when it cannot be read.
#[must_use]
pub fn entries(path: &Path) -> Vec<DirEntry> {
    directory(path).and_then(|directory| directory.entries()).unwrap_or_default()
}

/// Creates a directory and its missing parents, and opens it.
///
/// # Errors
/// As [`open`].
pub fn create_directory(path: &Path) -> io::Result<Directory> {
    let (root, below) = split(path);
    // The root itself is chosen by Loopgate and trusted; only the components below it are opened without
    // following symbolic links.
    std::fs::create_dir_all(root)?;
    Directory::of(root)?.create_directory(below)
}

/// Creates a directory with mode 0700 and its missing parents, and opens it.
///
/// # Errors
/// As [`open`].
pub fn make_private_directory(path: &Path) -> io::Result<Directory> {
    let (root, below) = split(path);
    std::fs::create_dir_all(root)?;
    let directory = Directory::of(root)?.make_private_directory(below)?;
    // The mode of `mkdir` does not apply to a directory that existed before.
    directory.make_private()?;
    Ok(directory)
}

/// Replaces a file atomically. Missing parent directories are created.
///
/// # Errors
/// As [`open`]. On failure the old file is intact, except when only the final sync of the directory failed.
pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Audience::Everybody)
}

/// As [`write`], with mode 0600.
///
/// # Errors
/// As [`write`].
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace(path, bytes, Audience::Owner)
}

/// Opens a regular file for reading and appending. Creates it with mode 0600 and its missing parent
/// directories when it does not exist.
///
/// # Errors
/// As [`open`].
pub fn append(path: &Path) -> io::Result<File> {
    let (directory, name) = make_parent(path)?;
    directory.append_file(name)
}

/// Locks a file, which is created when missing, until the returned handle is dropped.
///
/// # Errors
/// As [`open`], and as [`files::lock`].
pub fn lock(path: &Path) -> io::Result<File> {
    let file = append(path)?;
    files::lock(&file, path, files::LOCK_TIME)?;
    Ok(file)
}

/// Removes a file or a symbolic link.
///
/// # Errors
/// As [`open`].
pub fn remove(path: &Path) -> io::Result<()> {
    let (directory, name) = parent(path)?;
    directory.remove_file(name)
}

/// Renames a file or a symbolic link within its directory.
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
    let directory = Directory::of(root)?.create_directory(below.parent().unwrap_or(Path::new("")))?;
    Ok((directory, name_of(below)?))
}

fn name_of(below: &Path) -> io::Result<&OsStr> {
    below.file_name().ok_or_else(|| io::ErrorKind::InvalidInput.into())
}

/// Splits a path into the root of the working tree and the path below it.
fn split(path: &Path) -> (&Path, &Path) {
    // A driver keeps a nested `.loopgate` in the work directory of a loop. The outer one marks the working
    // tree; otherwise the trusted root would be a directory that the loop can replace by a symbolic link.
    let state_dir = path.ancestors().find(|at| {
        let is_state = at.file_name() == Some(OsStr::new(STATE_DIR));
        is_state && !at.parent().is_some_and(|above| above.ends_with(WORK_DIR))
    });
    let root = state_dir.unwrap_or(path).parent().unwrap_or(path);
    let below = path.strip_prefix(root).unwrap_or(Path::new(""));
    (if root.as_os_str().is_empty() { Path::new(".") } else { root }, below)
}

#[cfg(test)]
mod tests;
