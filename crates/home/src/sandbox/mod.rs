//! The sandbox: which of the paths that requests name may be accessed.
//!
//! A [`SandboxedPath`] can only be made here, so a function that takes one needs no check of its
//! own. Both the path as written and its canonical form are held against the deny list; the
//! canonical form must be in the sandbox base directory. What is then opened through a
//! [`Directory`] is what was checked, whatever happens to the path in between.

mod deny;
mod directory;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use self::deny::DenyList;
pub use self::directory::{DirEntry, Directory, EntryKind, led_away};
use crate::path_resolution::{canonical_form, expand_home, lexically_absolute};
use crate::settings::SettingsStore;

/// Bytes of a path; no file system here takes more.
const MAX_PATH: usize = 4096;

/// A path that was refused. The message holds no path that the caller did not send.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("directory not allowed")]
pub struct AccessDenied {
    /// The path as it was given.
    pub path: String,
}

/// A path that the sandbox allowed: absolute, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SandboxedPath {
    expanded: PathBuf,
    canonical: PathBuf,
    /// The base directory it is in, with links resolved.
    base: Arc<Path>,
}

impl SandboxedPath {
    /// The path with every link resolved.
    #[must_use]
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// The path as the caller named it, made absolute.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.expanded
    }

    /// The last component.
    #[must_use]
    pub fn base_name(&self) -> String {
        self.expanded.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Opens the directory that was checked. Blocks on the disk.
    ///
    /// # Errors
    /// Any failure of the file system; [`led_away`] tells when a component has become a link since
    /// the check.
    pub fn open_directory(&self) -> io::Result<Directory> {
        Directory::of(&self.base)?.directory(self.below_base())
    }

    /// Opens the regular file that was checked, for reading. Blocks on the disk.
    ///
    /// # Errors
    /// As [`SandboxedPath::open_directory`]; what is no regular file is no file.
    pub fn open_file(&self) -> io::Result<std::fs::File> {
        Directory::of(&self.base)?.open_file(self.below_base())
    }

    /// Makes the directory that was checked, with its parents, and opens it. Blocks on the disk.
    ///
    /// # Errors
    /// As [`SandboxedPath::open_directory`].
    pub fn make_directory(&self) -> io::Result<Directory> {
        Directory::of(&self.base)?.make_directory(self.below_base())
    }

    /// The base directory of the sandbox, with links resolved.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The canonical path relative to the base directory; empty for the base directory itself.
    #[must_use]
    pub fn below_base(&self) -> &Path {
        self.canonical.strip_prefix(&self.base).unwrap_or(Path::new(""))
    }
}

impl AsRef<Path> for SandboxedPath {
    fn as_ref(&self) -> &Path {
        &self.expanded
    }
}

/// Decides which paths are allowed; reads the base directory from the settings at each check.
#[derive(Debug)]
pub struct Sandbox {
    settings: Arc<SettingsStore>,
    data_dir: PathBuf,
    /// The same with links resolved.
    real_data_dir: PathBuf,
    denied: DenyList,
}

impl Sandbox {
    /// A sandbox around the settings' base directory; `data_dir` is denied like a key store.
    #[must_use]
    pub fn new(settings: Arc<SettingsStore>, data_dir: &Path) -> Self {
        let denied = DenyList::new(etcetera::home_dir().ok().as_deref(), data_dir);
        let real_data_dir = canonical_form(data_dir).unwrap_or_else(|| data_dir.to_owned());
        Self { settings, data_dir: data_dir.to_owned(), real_data_dir, denied }
    }

    /// The base directory, when one is set.
    #[must_use]
    pub fn base(&self) -> Option<PathBuf> {
        self.settings.get().sandbox_base_directory.clone()
    }

    /// The data directory, which nothing from outside may touch.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Checks a path from outside. A missing child of an allowed directory is allowed. Touches the
    /// disk.
    ///
    /// # Errors
    /// [`AccessDenied`] for everything else: outside, on the deny list, relative, or led away by a link.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<SandboxedPath, AccessDenied> {
        let given = path.as_ref().to_string_lossy();
        self.allowed(&given).ok_or_else(|| AccessDenied { path: given.into_owned() })
    }

    /// Whether an absolute path is in the base directory, as it is written or with links resolved:
    /// then what works in the sandbox can change it, or where it leads. Touches the disk.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        let Some(base) = self.base() else { return false };
        let written = lexically_absolute(path);
        let forms = [written.clone(), written.and_then(|path| canonical_form(&path))];
        let bases = [canonical_form(&base), Some(base)];
        forms.iter().any(|form| {
            // What leads nowhere for certain may lead there.
            form.as_ref().is_none_or(|path| bases.iter().flatten().any(|base| path.starts_with(base)))
        })
    }

    /// Whether a canonical path is on the deny list. Does not touch the disk.
    #[must_use]
    pub fn denies(&self, canonical: &Path) -> bool {
        self.denied.covers(canonical)
    }

    /// Whether the data directory is a canonical path, or is below it. Does not touch the disk.
    #[must_use]
    pub fn holds_data_dir(&self, canonical: &Path) -> bool {
        self.real_data_dir.starts_with(canonical)
    }

    /// Whether a place on the deny list is below a canonical path. Does not touch the disk.
    #[must_use]
    pub fn denies_below(&self, canonical: &Path) -> bool {
        self.denied.lies_below(canonical)
    }

    fn allowed(&self, given: &str) -> Option<SandboxedPath> {
        let (expanded, canonical) = forms_of(given)?;
        if self.denied.covers(&expanded) || self.denied.covers(&canonical) {
            return None;
        }
        let base = canonical_form(&self.base()?)?;
        let inside = canonical.starts_with(&base);
        inside.then(|| SandboxedPath { expanded, canonical, base: base.into() })
    }
}

/// Where a path from outside leads, in the form that every check decides by; also a path that no sandbox
/// allows. `None` for what is relative or leads nowhere. Touches the disk.
#[must_use]
pub fn canonical_path(given: &str) -> Option<PathBuf> {
    forms_of(given).map(|(_, canonical)| canonical)
}

/// A path as it is written, without `.` and `..`, and where it really leads.
fn forms_of(given: &str) -> Option<(PathBuf, PathBuf)> {
    if given.contains('\0') || given.len() > MAX_PATH {
        return None;
    }
    let expanded = lexically_absolute(&expand_home(given))?;
    let canonical = canonical_form(&expanded)?;
    Some((expanded, canonical))
}

#[cfg(test)]
mod tests;
