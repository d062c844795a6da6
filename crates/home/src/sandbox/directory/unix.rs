//! Directory handles based on `openat2` and `openat`.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{DirEntry, EntryKind};
use crate::files::{self, Audience};

/// `NONBLOCK` because opening a pipe for reading would otherwise block until a writer opens it.
const READING: OFlags = OFlags::RDONLY.union(OFlags::NONBLOCK).union(OFlags::NOCTTY);
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

#[derive(Debug)]
pub(super) struct Handle(OwnedFd);

impl Handle {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self(rustix::fs::open(path, DIRECTORY | OFlags::CLOEXEC, Mode::empty())?))
    }

    pub(super) fn proc_path(&self) -> Option<PathBuf> {
        // `/proc/self` would refer to the child process, and the descriptor is close-on-exec.
        use std::os::fd::AsRawFd as _;
        let path = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), self.0.as_raw_fd()));
        path.exists().then_some(path)
    }

    pub(super) fn directory(&self, path: &Path) -> io::Result<Self> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        Ok(Self(self.open(path, DIRECTORY)?))
    }

    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        use std::os::unix::fs::MetadataExt as _;
        let metadata = File::from(self.0.try_clone()?).metadata()?;
        Ok((metadata.dev(), metadata.ino()))
    }

    pub(super) fn open_file(&self, path: &Path) -> io::Result<File> {
        Ok(self.open(path, READING)?.into())
    }

    pub(super) fn make(&self, name: &Path, audience: Audience) -> io::Result<()> {
        let mode = match audience {
            Audience::Everybody => 0o755,
            Audience::Owner => 0o700,
        };
        Ok(rustix::fs::mkdirat(&self.0, name, Mode::from_raw_mode(mode))?)
    }

    pub(super) fn create_file(&self, name: &Path) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        Ok(rustix::fs::openat(&self.0, name, flags, Mode::from_raw_mode(0o600))?.into())
    }

    pub(super) fn append_file(&self, name: &Path) -> io::Result<File> {
        // `NONBLOCK` as in `READING`; it is cleared below.
        let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let nonblocking = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = rustix::fs::openat(&self.0, name, nonblocking, Mode::from_raw_mode(0o600))?;
        // Child processes get such files as their output, where a non-blocking write could fail.
        rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
        Ok(file.into())
    }

    pub(super) fn make_private(&self) -> io::Result<()> {
        Ok(rustix::fs::fchmod(&self.0, Mode::from_raw_mode(0o700))?)
    }

    pub(super) fn remove_file(&self, name: &Path) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        rustix::fs::renameat(&self.0, from, &self.0, to)?;
        // A rename is durable only after its directory is synced.
        files::sync_names(&self.0)
    }

    pub(super) fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => self.kind(Path::new(name)),
                file_type => Some(kind_of(file_type)),
            };
            // `None` when the entry was removed after it was listed.
            entries.extend(kind.map(|kind| DirEntry { name: name.to_owned(), kind }));
        }
        Ok(entries)
    }

    /// Does not follow the last component; opens the components before it without following links.
    pub(super) fn kind(&self, path: &Path) -> Option<EntryKind> {
        let (parent, name) = (path.parent()?, path.file_name()?);
        let opened;
        let directory = if parent.as_os_str().is_empty() {
            &self.0
        } else {
            opened = self.open(parent, DIRECTORY).ok()?;
            &opened
        };
        let stat = rustix::fs::statat(directory, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(kind_of(FileType::from_raw_mode(stat.st_mode)))
    }

    pub(super) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(Errno::INVAL.into());
        };
        let target = rustix::fs::readlinkat(&self.directory(parent)?.0, name, Vec::new())?;
        Ok(PathBuf::from(OsStr::from_bytes(target.to_bytes())))
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        // `openat2` with `O_PATH` answers in one system call: callers check every entry of large directories.
        #[cfg(target_os = "linux")]
        {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            match self.open_whole(path, flags) {
                Err(Errno::NOSYS | Errno::PERM) => {}
                opened => return opened.is_ok(),
            }
        }
        self.kind(path).is_some()
    }

    /// Opens a path below the handle without following any symbolic link.
    fn open(&self, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
        let flags = flags | OFlags::CLOEXEC;
        #[cfg(target_os = "linux")]
        match self.open_whole(path, flags) {
            // `ENOSYS` before Linux 5.6; `EPERM` under seccomp filters of older container runtimes.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return Ok(opened?),
        }
        Ok(self.open_by_component(path, flags)?)
    }

    #[cfg(target_os = "linux")]
    fn open_whole(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        use rustix::fs::ResolveFlags;
        const RESOLVE: ResolveFlags =
            ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
        rustix::fs::openat2(&self.0, path, flags, Mode::empty(), RESOLVE)
    }

    fn open_by_component(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut reached: Option<OwnedFd> = None;
        let mut components = path.components().peekable();
        while let Some(component) = components.next() {
            let flags = if components.peek().is_some() { DIRECTORY | OFlags::CLOEXEC } else { flags };
            let at = reached.as_ref().unwrap_or(&self.0);
            let opened =
                rustix::fs::openat(at, component.as_os_str(), flags | OFlags::NOFOLLOW, Mode::empty());
            reached = Some(opened.map_err(|errno| link_or(at, component.as_os_str(), errno))?);
        }
        reached.ok_or(Errno::INVAL)
    }

    /// Opens as on a kernel without `openat2`.
    #[cfg(test)]
    pub(super) fn open_file_by_component(&self, path: &Path) -> io::Result<File> {
        Ok(self.open_by_component(path, READING | OFlags::CLOEXEC)?.into())
    }
}

/// `O_DIRECTORY | O_NOFOLLOW` reports `ENOTDIR` for a symbolic link. Returns `ELOOP` in that case, as
/// `openat2` does.
fn link_or(at: &OwnedFd, name: &OsStr, errno: Errno) -> Errno {
    let is_link = || {
        rustix::fs::statat(at, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_symlink())
    };
    if errno == Errno::NOTDIR && is_link() { Errno::LOOP } else { errno }
}

fn kind_of(file_type: FileType) -> EntryKind {
    match file_type {
        FileType::Directory => EntryKind::Directory,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => EntryKind::Other,
    }
}
