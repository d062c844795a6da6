//! Access relative to an open directory, which is safe against path swaps between check and use.
//!
//! A checked path is canonical: it contains no symbolic links. It is therefore opened from the handle of the
//! base directory downwards without following any; a link on the path was created after the check. On Linux
//! this is one `openat2` call that the kernel confines to the handle; elsewhere, and on kernels without
//! `openat2`, it is one `openat` per component. cap-std is not used because it follows links that stay
//! beneath the handle, and such a link can be swapped in to point to a denied path inside the sandbox; it
//! also refuses absolute links, which the check resolves and allows.

#[cfg(not(unix))]
mod elsewhere;
#[cfg(unix)]
mod unix;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write as _};
use std::path::{Component, Path};
use std::sync::atomic::{AtomicU32, Ordering};

#[cfg(not(unix))]
use self::elsewhere as system;
#[cfg(unix)]
use self::unix as system;
use crate::files::Audience;

/// An open directory. Paths below it are relative, contain no `..`, and are opened without following symbolic
/// links. All methods block on disk I/O.
#[derive(Debug)]
pub struct Directory(system::Handle);

/// An entry of a directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// File name without the directory.
    pub name: OsString,
    /// Kind of the entry itself; links are not followed.
    pub kind: EntryKind,
}

/// Kind of an entry; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    Directory,
    File,
    /// A symbolic link, valid or dangling.
    Link,
    /// A socket, pipe or device.
    Other,
}

impl Directory {
    /// Opens a directory by its path. Follows symbolic links, so it is only for paths that Loopgate chose;
    /// paths from requests are opened by the sandbox.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        system::Handle::of(path).map(Self)
    }

    /// Opens a directory below this one. The empty path opens this directory again.
    ///
    /// # Errors
    /// Any failure of the file system. [`escaped_via_symlink`] recognizes a symbolic link in the path.
    pub fn directory(&self, path: &Path) -> io::Result<Self> {
        plain(path)?;
        self.0.directory(path).map(Self)
    }

    /// Returns a path that refers to this directory while the handle is open, even after the directory was
    /// renamed. For child processes. `None` where the system has no such paths.
    #[must_use]
    pub fn proc_path(&self) -> Option<std::path::PathBuf> {
        self.0.proc_path()
    }

    /// Returns device and inode number.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// As [`Directory::directory`]; `NotFound` when the path is not a regular file.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        plain(path)?;
        let file = self.0.open_file(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Reads a whole regular file of at most `max_bytes` bytes. Does not block on a pipe.
    ///
    /// # Errors
    /// As [`Directory::open_file`]; `FileTooLarge` when the file has more than `max_bytes` bytes.
    pub fn read(&self, path: &Path, max_bytes: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        // Reads one byte over the limit to detect a larger file: its size may change after a check of the
        // metadata.
        self.open_file(path)?.take(max_bytes.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > max_bytes { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    /// Creates a directory below this one with its missing parents, and opens it.
    ///
    /// # Errors
    /// As [`Directory::directory`].
    pub fn create_directory(&self, path: &Path) -> io::Result<Self> {
        self.make_each(path, Audience::Everybody)
    }

    /// As [`Directory::create_directory`]; created directories have mode 0700.
    ///
    /// # Errors
    /// As [`Directory::directory`].
    pub fn make_private_directory(&self, path: &Path) -> io::Result<Self> {
        self.make_each(path, Audience::Owner)
    }

    fn make_each(&self, path: &Path, audience: Audience) -> io::Result<Self> {
        plain(path)?;
        let mut directory = self.directory(Path::new(""))?;
        for component in path.components() {
            let name = Path::new(component.as_os_str());
            directory = match directory.directory(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match directory.0.make(name, audience) {
                        // `AlreadyExists`: another process created it; opening it below decides whether it is
                        // a directory.
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ => {}
                    }
                    directory.directory(name)?
                }
                opened => opened?,
            };
        }
        Ok(directory)
    }

    /// Returns all entries except `.` and `..`, in no particular order.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.0.entries()
    }

    /// Returns the kind of an entry below this directory; `None` when it does not exist.
    #[must_use]
    pub fn kind(&self, path: &Path) -> Option<EntryKind> {
        plain(path).ok()?;
        self.0.kind(path)
    }

    /// Returns the target of a symbolic link below this directory, as stored.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn read_link(&self, path: &Path) -> io::Result<std::path::PathBuf> {
        plain(path)?;
        self.0.read_link(path)
    }

    /// Returns whether an entry exists at a path below this directory. A dangling link counts.
    #[must_use]
    pub fn exists(&self, path: &Path) -> bool {
        plain(path).is_ok() && self.0.exists(path)
    }

    /// Creates a file with mode 0600 and opens it for writing.
    ///
    /// # Errors
    /// Any failure of the file system; `AlreadyExists` when an entry has this name, even a dangling link.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        self.0.create_file(single(name)?)
    }

    /// Writes a new world-readable file atomically and returns its size in bytes.
    ///
    /// # Errors
    /// As [`Directory::create_file`]; nothing is left behind.
    pub fn write_new(&self, name: &OsStr, content: &mut dyn Read) -> io::Result<u64> {
        // An empty file reserves the name until the complete one replaces it: a rename alone would overwrite
        // a file that another process created in between.
        drop(self.create_file(name)?);
        let mut part = OsString::from(".");
        part.push(name);
        part.push(".part");
        let written = self.write_part(&part, content).and_then(|size| {
            self.0.rename(Path::new(&part), Path::new(name))?;
            Ok(size)
        });
        if written.is_err() {
            // Best-effort: the original error is the one to report.
            let _ = self.remove_file(&part);
            let _ = self.remove_file(name);
        }
        written
    }

    fn write_part(&self, part: &OsStr, content: &mut dyn Read) -> io::Result<u64> {
        let mut file = self.create_file(part)?;
        let size = io::copy(content, &mut file)?;
        file.flush()?;
        make_public(&file)?;
        // The rename must not become durable before the content.
        file.sync_all()?;
        Ok(size)
    }

    /// Replaces a file atomically, with mode 0600. Callers must not write to one name concurrently.
    ///
    /// # Errors
    /// Any failure of the file system. The old file is intact then, except when only the final sync of the
    /// directory failed.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.replace_for(name, bytes, Audience::Owner)
    }

    /// As [`Directory::replace`], with the mode for an audience.
    pub(crate) fn replace_for(&self, name: &OsStr, bytes: &[u8], audience: Audience) -> io::Result<()> {
        let mut part = OsString::from(".");
        part.push(name);
        part.push(".part");
        // A writer that was killed may have left its temporary file; usually there is none.
        let _ = self.remove_file(&part);
        self.write_over(name, &part, bytes, audience)
    }

    /// As [`Directory::replace`], world-readable.
    ///
    /// # Errors
    /// As [`Directory::replace`].
    pub fn replace_public(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.write(name, bytes, Audience::Everybody)
    }

    /// As [`Directory::replace`], safe for concurrent writers.
    pub(crate) fn write(&self, name: &OsStr, bytes: &[u8], audience: Audience) -> io::Result<()> {
        // Process id and counter give each writer a temporary file of its own.
        static WRITTEN: AtomicU32 = AtomicU32::new(0);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let mut part = OsString::from(".");
        part.push(name);
        part.push(format!(".{}-{number}.part", std::process::id()));
        self.write_over(name, &part, bytes, audience)
    }

    fn write_over(&self, name: &OsStr, part: &OsStr, bytes: &[u8], audience: Audience) -> io::Result<()> {
        let target = single(name)?;
        let written = self.create_file(part).and_then(|mut file| {
            file.write_all(bytes)?;
            if audience == Audience::Everybody {
                make_public(&file)?;
            }
            file.sync_all()?;
            self.0.rename(Path::new(part), target)
        });
        if written.is_err() {
            let _ = self.remove_file(part);
        }
        written
    }

    /// Opens a regular file in this directory for reading and appending. Creates it with mode 0600 when it
    /// does not exist.
    ///
    /// # Errors
    /// As [`Directory::open_file`].
    pub fn append_file(&self, name: &OsStr) -> io::Result<File> {
        let file = self.0.append_file(single(name)?)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Renames an entry within this directory durably.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.0.rename(single(from)?, single(to)?)
    }

    /// Sets mode 0700, so that only the owner can enter the directory.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        self.0.make_private()
    }

    /// Removes a file or a symbolic link.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.0.remove_file(single(name)?)
    }
}

/// Returns whether an open failed because a component of the path is a symbolic link or leaves the directory:
/// the path was changed after its check.
#[must_use]
pub fn escaped_via_symlink(error: &io::Error) -> bool {
    #[cfg(unix)]
    // `openat2` reports `ELOOP` for a link it must not follow and `EXDEV` for a path that leaves the handle.
    return [rustix::io::Errno::LOOP, rustix::io::Errno::XDEV]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::PermissionDenied;
}

/// Sets mode 0644. Files are created with mode 0600, so that no other user can read them half-written.
fn make_public(file: &File) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        file.set_permissions(std::fs::Permissions::from_mode(0o644))
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        Ok(())
    }
}

/// Rejects a path with components that could leave the directory.
fn plain(path: &Path) -> io::Result<()> {
    let plain = path.components().all(|component| matches!(component, Component::Normal(_)));
    if plain { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// Rejects a name that is not exactly one component.
fn single(name: &OsStr) -> io::Result<&Path> {
    let path = Path::new(name);
    plain(path)?;
    if path.components().count() == 1 { Ok(path) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

#[cfg(test)]
mod tests;
