//! The sandbox: decides which paths of requests may be accessed.
//!
//! Only this module creates a [`SandboxedPath`], so a function that takes one needs no further check. Both
//! the path as written and its canonical form are checked against the deny list, and the canonical form must
//! be at or below the sandbox base directory. A checked path is opened through a [`Directory`], so replacing
//! a component by a symbolic link after the check cannot redirect the access.

mod deny;
mod directory;

use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use thiserror::Error;

use self::deny::DenyList;
pub use self::directory::{DirEntry, Directory, EntryKind, escaped_via_symlink};
use crate::path_resolution::{canonical_form, expand_home, lexically_absolute};
use crate::repository_summary::KnownSummaries;
use crate::settings::SettingsStore;

/// Maximum length of a path in bytes: `PATH_MAX` of Linux.
const MAX_PATH: usize = 4096;

/// A path that the sandbox refused. The message contains no path, so it reveals nothing about the disk.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("directory not allowed")]
pub struct AccessDenied {
    /// The path as the caller sent it.
    pub path: String,
}

/// A path that the sandbox allowed: absolute, without `.` and `..` components.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SandboxedPath {
    expanded: PathBuf,
    canonical: PathBuf,
    /// The sandbox base directory with symbolic links resolved.
    base: Arc<Path>,
}

impl SandboxedPath {
    /// Returns the path with every symbolic link resolved.
    #[must_use]
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// Returns the path as the caller wrote it, made absolute.
    #[must_use]
    pub fn as_path(&self) -> &Path {
        &self.expanded
    }

    /// Returns the last component; empty for `/`.
    #[must_use]
    pub fn base_name(&self) -> String {
        self.expanded.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    /// Opens the checked directory. Blocks on disk I/O.
    ///
    /// # Errors
    /// Any failure of the file system. [`escaped_via_symlink`] recognizes a component that became a symbolic
    /// link after the check.
    pub fn open_directory(&self) -> io::Result<Directory> {
        Directory::of(&self.base)?.directory(self.below_base())
    }

    /// Opens the checked path as a regular file for reading. Blocks on disk I/O.
    ///
    /// # Errors
    /// As [`SandboxedPath::open_directory`]; `NotFound` when the path is not a regular file.
    pub fn open_file(&self) -> io::Result<std::fs::File> {
        Directory::of(&self.base)?.open_file(self.below_base())
    }

    /// Creates the checked directory with its missing parents, and opens it. Blocks on disk I/O.
    ///
    /// # Errors
    /// As [`SandboxedPath::open_directory`].
    pub fn create_directory(&self) -> io::Result<Directory> {
        Directory::of(&self.base)?.create_directory(self.below_base())
    }

    /// Returns the base directory of the sandbox, with symbolic links resolved.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the canonical path relative to the base directory; empty for the base directory itself.
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

/// Decides which paths are allowed. Uses the base directory of the current settings.
#[derive(Debug)]
pub struct Sandbox {
    settings: Arc<SettingsStore>,
    base: RwLock<Option<ResolvedBase>>,
    pub(crate) summaries: KnownSummaries,
    data_dir: PathBuf,
    /// `data_dir` with symbolic links resolved.
    real_data_dir: PathBuf,
    denied: DenyList,
}

/// The base directory of the settings, resolved when it was used first.
#[derive(Debug, Clone)]
struct ResolvedBase {
    configured: PathBuf,
    canonical: Arc<Path>,
}

impl Sandbox {
    /// Creates a sandbox around the base directory of the settings. `data_dir` is denied like a key store.
    #[must_use]
    pub fn new(settings: Arc<SettingsStore>, data_dir: &Path) -> Self {
        let denied = DenyList::new(etcetera::home_dir().ok().as_deref(), data_dir);
        let real_data_dir = canonical_form(data_dir).unwrap_or_else(|| data_dir.to_owned());
        Self {
            settings,
            base: RwLock::default(),
            summaries: KnownSummaries::default(),
            data_dir: data_dir.to_owned(),
            real_data_dir,
            denied,
        }
    }

    /// Returns the base directory; `None` while none is configured.
    #[must_use]
    pub fn base(&self) -> Option<PathBuf> {
        self.settings.get().sandbox_base_directory.clone()
    }

    /// Returns the data directory, which is closed to paths from requests.
    #[must_use]
    pub fn data_dir(&self) -> &Path {
        &self.data_dir
    }

    /// Checks a path from a request. A missing path below an allowed directory is allowed. Reads the disk.
    ///
    /// # Errors
    /// Fails with [`AccessDenied`] when the path is relative, on the deny list, or resolves to a place
    /// outside the base directory, and while no base directory is configured.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<SandboxedPath, AccessDenied> {
        // In its bytes: a path with other bytes may lead elsewhere.
        let given = path.as_ref();
        self.allowed(given).ok_or_else(|| AccessDenied { path: given.to_string_lossy().into_owned() })
    }

    /// Returns whether an absolute path is in the base directory, as written or with symbolic links resolved.
    /// Programs that run in the sandbox can then change the file, or the target of a symbolic link in its
    /// path. Reads the disk.
    #[must_use]
    pub fn contains(&self, path: &Path) -> bool {
        let Some(base) = self.base() else { return false };
        let written = lexically_absolute(path);
        let forms = [written.clone(), written.and_then(|path| canonical_form(&path))];
        let bases = [canonical_form(&base), Some(base)];
        forms.iter().any(|form| {
            // A path that cannot be resolved counts as inside: a secret must not be read from a path whose
            // target is unknown.
            form.as_ref().is_none_or(|path| bases.iter().flatten().any(|base| path.starts_with(base)))
        })
    }

    /// Returns whether a canonical path is on the deny list. Does not read the disk.
    #[must_use]
    pub fn denies(&self, canonical: &Path) -> bool {
        self.denied.covers(canonical)
    }

    /// Returns whether the data directory is at or below a canonical path. Does not read the disk.
    #[must_use]
    pub fn holds_data_dir(&self, canonical: &Path) -> bool {
        self.real_data_dir.starts_with(canonical)
    }

    /// Returns whether a path of the deny list is at or below a canonical path. Does not read the disk.
    #[must_use]
    pub fn denies_below(&self, canonical: &Path) -> bool {
        self.denied.lies_below(canonical)
    }

    fn allowed(&self, given: &Path) -> Option<SandboxedPath> {
        let (expanded, canonical) = forms_of(given)?;
        // Both forms are checked: a symbolic link inside the sandbox may point to a denied path, and a denied
        // path may itself be a symbolic link.
        if self.denied.covers(&expanded) || self.denied.covers(&canonical) {
            return None;
        }
        let base = self.canonical_base()?;
        let inside = canonical.starts_with(&base);
        inside.then_some(SandboxedPath { expanded, canonical, base })
    }

    /// Returns the base directory with symbolic links resolved. They are resolved once per value of the setting, because
    /// lists check a path per repository. A base directory that does not exist yet is resolved at each check.
    pub(crate) fn canonical_base(&self) -> Option<Arc<Path>> {
        let settings = self.settings.get();
        let configured = settings.sandbox_base_directory.as_deref()?;
        if let Some(base) = &*self.base.read().unwrap_or_else(PoisonError::into_inner)
            && base.configured == configured
        {
            return Some(base.canonical.clone());
        }
        let Ok(canonical) = configured.canonicalize() else {
            return canonical_form(configured).map(Arc::from);
        };
        let canonical: Arc<Path> = canonical.into();
        let base = ResolvedBase { configured: configured.to_owned(), canonical: canonical.clone() };
        *self.base.write().unwrap_or_else(PoisonError::into_inner) = Some(base);
        Some(canonical)
    }
}

/// Returns the canonical form of a path from a request, as the sandbox compares it, without checking it.
/// `None` when the path is relative or cannot be resolved. Reads the disk.
#[must_use]
pub fn canonical_path(given: impl AsRef<Path>) -> Option<PathBuf> {
    forms_of(given.as_ref()).map(|(_, canonical)| canonical)
}

/// Returns a path without `.` and `..` components, and the same path with symbolic links resolved.
fn forms_of(given: &Path) -> Option<(PathBuf, PathBuf)> {
    // Such a path cannot exist, and resolving it would fail anyway; rejected before any disk access.
    let bytes = given.as_os_str().as_bytes();
    if bytes.contains(&0) || bytes.len() > MAX_PATH {
        return None;
    }
    let expanded = lexically_absolute(&expand_home(given))?;
    let canonical = canonical_form(&expanded)?;
    Some((expanded, canonical))
}

#[cfg(test)]
mod tests;
