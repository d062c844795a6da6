//! Access relative to an open directory, so that nothing can be swapped between check and use.
//!
//! A checked path is canonical: it holds no link. It is therefore opened from the base directory's
//! handle downwards without following any link; one that turns up was put there after the check.
//! On Linux this is one `openat2` that the kernel keeps beneath the handle, elsewhere (and on
//! kernels without it) one `openat` a component. The crate cap-std was not taken for it, because it
//! follows links that stay beneath the handle, and such a link can be swapped in to lead to a denied
//! place inside the sandbox; it also refuses absolute links, which the check resolves and allows.

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

/// A directory that is held open. Paths below it are relative, hold no `..`, and are never led
/// through a link. Everything here blocks on the disk.
#[derive(Debug)]
pub struct Directory(system::Handle);

/// What a directory holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DirEntry {
    /// Its name.
    pub name: OsString,
    /// What it is.
    pub kind: EntryKind,
}

/// Kind of an entry; links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link, wherever it leads.
    Link,
    /// A socket, a pipe, a device.
    Other,
}

impl Directory {
    /// Opens a directory by its path. For places that the program itself chose; what came from
    /// outside is opened by the sandbox.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn of(path: &Path) -> io::Result<Self> {
        system::Handle::of(path).map(Self)
    }

    /// Opens a directory below this one; the empty path is this one again.
    ///
    /// # Errors
    /// Any failure of the file system; [`led_away`] tells when a link was in the way.
    pub fn directory(&self, path: &Path) -> io::Result<Self> {
        plain(path)?;
        self.0.directory(path).map(Self)
    }

    /// A path that leads here for as long as this is held, whatever becomes of the directory's name:
    /// for programs that this process starts. `None` where the system has no such paths.
    #[must_use]
    pub fn held_path(&self) -> Option<std::path::PathBuf> {
        self.0.held_path()
    }

    /// Tells this directory from every other one that is there, whatever their names.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn identity(&self) -> io::Result<(u64, u64)> {
        self.0.identity()
    }

    /// Opens a regular file for reading.
    ///
    /// # Errors
    /// As [`Directory::directory`]; what is no regular file counts as not found.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        plain(path)?;
        let file = self.0.open_file(path)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Reads a regular file whole, of at most so many bytes. Never waits for what a pipe may bring.
    ///
    /// # Errors
    /// As [`Directory::open_file`]; `FileTooLarge` when it holds more.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open_file(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(bytes) }
    }

    /// Opens a directory below this one, and makes it and those above it where they are missing.
    ///
    /// # Errors
    /// As [`Directory::directory`].
    pub fn make_directory(&self, path: &Path) -> io::Result<Self> {
        self.make_each(path, Audience::Everybody)
    }

    /// As [`Directory::make_directory`]; only the owner may enter what is made.
    ///
    /// # Errors
    /// As [`Directory::directory`].
    pub fn make_private_directory(&self, path: &Path) -> io::Result<Self> {
        self.make_each(path, Audience::Owner)
    }

    fn make_each(&self, path: &Path, audience: Audience) -> io::Result<Self> {
        plain(path)?;
        let mut reached = self.directory(Path::new(""))?;
        for component in path.components() {
            let name = Path::new(component.as_os_str());
            reached = match reached.directory(name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    match reached.0.make(name, audience) {
                        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                        _ => {}
                    }
                    reached.directory(name)?
                }
                opened => opened?,
            };
        }
        Ok(reached)
    }

    /// Everything in it but `.` and `..`, in no order.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn entries(&self) -> io::Result<Vec<DirEntry>> {
        self.0.entries()
    }

    /// Kind of an entry below it; `None` when there is none.
    #[must_use]
    pub fn kind(&self, path: &Path) -> Option<EntryKind> {
        plain(path).ok()?;
        self.0.kind(path)
    }

    /// Where a link below it leads, as it is written.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn read_link(&self, path: &Path) -> io::Result<std::path::PathBuf> {
        plain(path)?;
        self.0.read_link(path)
    }

    /// Whether there is anything at a path below it, a link too.
    #[must_use]
    pub fn holds(&self, path: &Path) -> bool {
        plain(path).is_ok() && self.0.holds(path)
    }

    /// Makes a file that is not there yet, for its owner alone, and opens it for writing.
    ///
    /// # Errors
    /// Any failure of the file system; `AlreadyExists` when the name is taken, by a link too.
    pub fn create_file(&self, name: &OsStr) -> io::Result<File> {
        self.0.create_file(single(name)?)
    }

    /// Writes a new file atomically, world-readable.
    ///
    /// # Errors
    /// As [`Directory::create_file`]; nothing is left behind then.
    pub fn write_new(&self, name: &OsStr, content: &mut dyn Read) -> io::Result<u64> {
        // The name is held by an empty file until the full one takes its place.
        drop(self.create_file(name)?);
        let mut part = OsString::from(".");
        part.push(name);
        part.push(".part");
        let written = self.write_part(&part, content).and_then(|size| {
            self.0.rename(Path::new(&part), Path::new(name))?;
            Ok(size)
        });
        if written.is_err() {
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
        file.sync_all()?;
        Ok(size)
    }

    /// Writes a file for its owner alone and puts it in the place of what has that name, in one
    /// step. One writer at a time for a name.
    ///
    /// # Errors
    /// Any failure of the file system; what has the name is whole then, and most likely the old content.
    pub fn replace(&self, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
        self.replace_for(name, bytes, Audience::Owner)
    }

    /// As [`Directory::replace`], for this audience.
    pub(crate) fn replace_for(&self, name: &OsStr, bytes: &[u8], audience: Audience) -> io::Result<()> {
        let mut part = OsString::from(".");
        part.push(name);
        part.push(".part");
        // A writer that died may have left one.
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

    /// As [`Directory::replace`], for as many writers at once as there are.
    pub(crate) fn write(&self, name: &OsStr, bytes: &[u8], audience: Audience) -> io::Result<()> {
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

    /// Opens a regular file in it for reading, and for writing at its end; one that is missing is made, for its owner
    /// alone.
    ///
    /// # Errors
    /// As [`Directory::open_file`].
    pub fn append_file(&self, name: &OsStr) -> io::Result<File> {
        let file = self.0.append_file(single(name)?)?;
        if file.metadata()?.is_file() { Ok(file) } else { Err(io::ErrorKind::NotFound.into()) }
    }

    /// Gives a file, a link or a directory in it another name in it, which outlives a loss of power.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        self.0.rename(single(from)?, single(to)?)
    }

    /// From now on only the owner may enter it.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub(crate) fn make_private(&self) -> io::Result<()> {
        self.0.make_private()
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    /// Any failure of the file system.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        self.0.remove_file(single(name)?)
    }
}

/// Whether an open failed because a link is where none was, or something else than a directory
/// on the way: the path was changed after its check.
#[must_use]
pub fn led_away(error: &io::Error) -> bool {
    #[cfg(unix)]
    return [rustix::io::Errno::LOOP, rustix::io::Errno::XDEV]
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()));
    #[cfg(not(unix))]
    return error.kind() == io::ErrorKind::PermissionDenied;
}

/// Makes a file world-readable.
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

/// Refuses a path that could leave the directory.
fn plain(path: &Path) -> io::Result<()> {
    let plain = path.components().all(|component| matches!(component, Component::Normal(_)));
    if plain { Ok(()) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

/// A name that is one component.
fn single(name: &OsStr) -> io::Result<&Path> {
    let path = Path::new(name);
    plain(path)?;
    if path.components().count() == 1 { Ok(path) } else { Err(io::ErrorKind::InvalidInput.into()) }
}

#[cfg(test)]
mod tests;
