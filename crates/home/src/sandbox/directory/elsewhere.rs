//! Directory handles for systems without `openat`: paths that are compared again after opening. A swap
//! between the two comparisons is not detected.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::{DirEntry, EntryKind};
use crate::files::Audience;

#[derive(Debug)]
pub(super) struct Handle(PathBuf);

impl Handle {
    pub(super) fn of(path: &Path) -> io::Result<Self> {
        let real = path.canonicalize()?;
        if real.is_dir() { Ok(Self(real)) } else { Err(io::ErrorKind::NotADirectory.into()) }
    }

    pub(super) fn proc_path(&self) -> Option<PathBuf> {
        None
    }

    pub(super) fn directory(&self, path: &Path) -> io::Result<Self> {
        Self::of(&self.real(path)?)
    }

    pub(super) fn identity(&self) -> io::Result<(u64, u64)> {
        // There are no inode numbers here, so all directories compare equal.
        self.0.metadata().map(|_| (0, 0))
    }

    pub(super) fn open_file(&self, path: &Path) -> io::Result<File> {
        let file = File::open(self.real(path)?)?;
        // Checked again after opening, to detect a link that replaced a component in between.
        self.real(path)?;
        Ok(file)
    }

    pub(super) fn make(&self, name: &Path, _: Audience) -> io::Result<()> {
        std::fs::create_dir(self.0.join(name))
    }

    pub(super) fn create_file(&self, name: &Path) -> io::Result<File> {
        File::options().write(true).create_new(true).open(self.0.join(name))
    }

    pub(super) fn append_file(&self, name: &Path) -> io::Result<File> {
        if self.kind(name) == Some(EntryKind::Link) {
            return Err(io::ErrorKind::PermissionDenied.into());
        }
        File::options().read(true).append(true).create(true).open(self.0.join(name))
    }

    pub(super) fn make_private(&self) -> io::Result<()> {
        Ok(())
    }

    pub(super) fn remove_file(&self, name: &Path) -> io::Result<()> {
        std::fs::remove_file(self.0.join(name))
    }

    pub(super) fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(self.0.join(from), self.0.join(to))
    }

    pub(super) fn entries(&self) -> io::Result<Vec<DirEntry>> {
        let mut entries = Vec::new();
        for entry in std::fs::read_dir(&self.0)? {
            let entry = entry?;
            entries.push(DirEntry { name: entry.file_name(), kind: kind_of(entry.file_type()?) });
        }
        Ok(entries)
    }

    pub(super) fn exists(&self, path: &Path) -> bool {
        self.kind(path).is_some()
    }

    pub(super) fn read_link(&self, path: &Path) -> io::Result<PathBuf> {
        std::fs::read_link(self.0.join(path))
    }

    pub(super) fn kind(&self, path: &Path) -> Option<EntryKind> {
        Some(kind_of(self.0.join(path).symlink_metadata().ok()?.file_type()))
    }

    /// Returns the joined path; fails with `PermissionDenied` when a component is a symbolic link.
    fn real(&self, path: &Path) -> io::Result<PathBuf> {
        let joined = self.0.join(path);
        if joined.canonicalize()? == joined {
            Ok(joined)
        } else {
            Err(io::ErrorKind::PermissionDenied.into())
        }
    }
}

fn kind_of(file_type: std::fs::FileType) -> EntryKind {
    if file_type.is_symlink() {
        EntryKind::Link
    } else if file_type.is_dir() {
        EntryKind::Directory
    } else if file_type.is_file() {
        EntryKind::File
    } else {
        EntryKind::Other
    }
}
