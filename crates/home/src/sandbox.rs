//! The sandbox: which paths from outside may be touched at all.
//!
//! A [`SandboxedPath`] can only be made here, so a function that takes one needs no check of its
//! own. Both the path as written and its canonical form are held against the deny list; the
//! canonical form must lie in the sandbox base directory.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;

use crate::settings::SettingsStore;

/// Denied in every user's home.
const DENIED_IN_HOME: &[&str] = &[
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".gcloud",
    ".config/gcloud",
    ".config/gh",
    ".config/google-chrome",
    ".config/chromium",
    ".config/BraveSoftware",
    ".config/microsoft-edge",
    ".mozilla",
    ".netrc",
    ".docker",
    ".kube",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
    ".claude",
    ".claude.json",
    ".codex",
    ".loopgate/authorized_keys.json",
    "Library/Keychains",
    "Library/Application Support/Google/Chrome",
    "Library/Application Support/Firefox",
];

/// Denied on the whole machine.
const DENIED: &[&str] = &[
    "/etc",
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/proc",
    "/sys",
    "/dev",
    "/boot",
    "/root",
    "/var/run",
    "/private/var/db",
];

/// A path that was refused. The message holds no path that the caller did not send.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("directory not allowed")]
pub struct Denied {
    /// The path as it was given.
    pub path: String,
}

/// A path that the sandbox allowed: absolute, without `.` and `..`.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SandboxedPath {
    expanded: PathBuf,
    canonical: PathBuf,
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
    /// Lower-cased components of each denied place, as written and canonical.
    denied: Vec<Vec<OsString>>,
}

impl Sandbox {
    /// A sandbox around the settings' base directory; `data_dir` is denied like a key store.
    #[must_use]
    pub fn new(settings: Arc<SettingsStore>, data_dir: &Path) -> Self {
        let home = etcetera::home_dir().ok();
        let own_home_is = |path: &str| home.as_deref().is_some_and(|home| home.starts_with(path));
        let mut places: Vec<PathBuf> =
            DENIED.iter().filter(|path| !own_home_is(path)).map(PathBuf::from).collect();
        if let Some(home) = &home {
            places.extend(DENIED_IN_HOME.iter().map(|path| home.join(path)));
        }
        places.push(data_dir.to_owned());
        let canonical: Vec<PathBuf> = places.iter().filter_map(|path| path.canonicalize().ok()).collect();
        places.extend(canonical);
        let mut denied: Vec<_> = places.iter().map(|path| folded(path)).collect();
        denied.sort();
        denied.dedup();
        Self { settings, denied }
    }

    /// The base directory, when one is set.
    #[must_use]
    pub fn base(&self) -> Option<PathBuf> {
        self.settings.get().sandbox_base_directory.clone()
    }

    /// Checks a path from outside. A missing child of an allowed directory is allowed. Touches the
    /// disk.
    ///
    /// # Errors
    /// [`Denied`] for everything else: outside, on the deny list, relative, or led away by a link.
    pub fn check(&self, path: impl AsRef<Path>) -> Result<SandboxedPath, Denied> {
        let given = path.as_ref().to_string_lossy();
        self.allowed(&given).ok_or_else(|| Denied { path: given.into_owned() })
    }

    fn allowed(&self, given: &str) -> Option<SandboxedPath> {
        if given.contains('\0') {
            return None;
        }
        let expanded = lexically_absolute(&expand_home(given))?;
        let canonical = canonical_form(&expanded)?;
        if self.is_denied(&expanded) || self.is_denied(&canonical) {
            return None;
        }
        let base = canonical_form(&self.base()?)?;
        canonical.starts_with(&base).then_some(SandboxedPath { expanded, canonical })
    }

    fn is_denied(&self, path: &Path) -> bool {
        let path = folded(path);
        self.denied.iter().any(|place| path.starts_with(place))
    }
}

/// Expands a leading `~` or `~/`; `~user` stays as it is.
#[must_use]
pub fn expand_home(path: &str) -> PathBuf {
    let rest = match path {
        "~" => Some(""),
        _ => path.strip_prefix("~/"),
    };
    match (rest, etcetera::home_dir()) {
        (Some(""), Ok(home)) => home,
        (Some(rest), Ok(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

/// Removes `.` and `..` without asking the disk; `None` for a relative path.
fn lexically_absolute(path: &Path) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut clean = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                clean.pop();
            }
            other => clean.push(other),
        }
    }
    Some(clean)
}

/// The real path; for a missing one that of its nearest existing ancestor plus the rest. A link
/// that leads nowhere has no canonical form: a later write through it could land anywhere.
fn canonical_form(path: &Path) -> Option<PathBuf> {
    let mut existing = path;
    let mut missing = Vec::new();
    while existing.symlink_metadata().is_err() {
        missing.push(existing.file_name()?);
        existing = existing.parent()?;
    }
    let mut canonical = existing.canonicalize().ok()?;
    canonical.extend(missing.iter().rev());
    Some(canonical)
}

/// The components in lower case, so that `~/.SSH` is `~/.ssh` on every file system.
fn folded(path: &Path) -> Vec<OsString> {
    path.components().map(|part| part.as_os_str().to_string_lossy().to_lowercase().into()).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::settings::Overrides;

    struct Place {
        dir: tempfile::TempDir,
        sandbox: Sandbox,
    }

    impl Place {
        fn new() -> Self {
            let dir = tempfile::tempdir().unwrap();
            for name in ["box/sub", "box-evil", "data"] {
                std::fs::create_dir_all(dir.path().join(name)).unwrap();
            }
            let overrides =
                Overrides { sandbox_base_directory: Some(dir.path().join("box")), ..Overrides::default() };
            let store = SettingsStore::open(&dir.path().join("settings.toml"), overrides).unwrap();
            let sandbox = Sandbox::new(Arc::new(store), &dir.path().join("data"));
            Self { dir, sandbox }
        }

        fn allows(&self, path: &str) -> bool {
            self.sandbox.check(self.dir.path().join(path)).is_ok()
        }
    }

    #[test]
    fn inside_is_allowed_and_outside_is_not() {
        let place = Place::new();
        assert!(place.allows("box"));
        assert!(place.allows("box/sub"));
        assert!(place.allows("box/missing/child"));
        assert!(place.allows("box/sub/../sub"));
        assert!(!place.allows("box-evil"), "a sibling with the same beginning");
        assert!(!place.allows("box/../data"));
        assert!(!place.allows("box/../../../../../etc/passwd"));
        assert!(place.sandbox.check("relative").is_err());
        assert!(place.sandbox.check("/").is_err());
        assert!(place.sandbox.check("").is_err());
        assert!(place.sandbox.check("~/.SSH").is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_followed_before_the_decision() {
        let place = Place::new();
        let link = |target: &str, name: &str| {
            std::os::unix::fs::symlink(target, place.dir.path().join("box").join(name)).unwrap();
        };
        link("../box-evil", "out");
        link("/etc", "etc");
        link("sub", "in");
        link("../not-there-yet", "dangling");
        assert!(!place.allows("box/out"));
        assert!(!place.allows("box/out/new-file"));
        assert!(!place.allows("box/etc/passwd"));
        assert!(place.allows("box/in"));
        assert!(!place.allows("box/dangling"));
    }

    #[test]
    fn the_deny_list_beats_the_sandbox() {
        let dir = tempfile::tempdir().unwrap();
        let overrides = Overrides { sandbox_base_directory: Some("/".into()), ..Overrides::default() };
        let store = Arc::new(SettingsStore::open(&dir.path().join("s.toml"), overrides).unwrap());
        let sandbox = Sandbox::new(store, dir.path());
        assert!(sandbox.check("/").is_ok());
        for path in ["/etc/hosts", "/ETC/hosts", "/bin/sh", "/usr/bin/env", "/proc/self/environ"] {
            assert!(sandbox.check(path).is_err(), "{path}");
        }
        assert!(sandbox.check(dir.path()).is_err(), "the data directory");
    }

    #[test]
    fn without_a_base_nothing_is_allowed() {
        let dir = tempfile::tempdir().unwrap();
        let store = SettingsStore::open(&dir.path().join("s.toml"), Overrides::default()).unwrap();
        assert!(Sandbox::new(Arc::new(store), dir.path()).check(dir.path().join("x")).is_err());
    }

    proptest! {
        #[test]
        fn what_is_allowed_lies_inside(parts in proptest::collection::vec("(\\.\\.|\\.|[a-z]{1,3}|sub)", 0..8)) {
            let place = Place::new();
            let path = place.dir.path().join("box").join(parts.join("/"));
            if let Ok(allowed) = place.sandbox.check(&path) {
                let base = place.dir.path().join("box").canonicalize().unwrap();
                prop_assert!(allowed.canonical().starts_with(base));
            }
        }
    }
}
