//! Path resolution: expansion of `~`, lexical normalization, and resolution of symbolic links in paths that
//! need not exist.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Maximum number of symbolic links in a path; Linux has the same limit.
const MAX_LINKS: usize = 40;

/// Expands a leading `~` or `~/`. `~user` is not expanded.
#[must_use]
pub fn expand_home(path: impl AsRef<Path>) -> PathBuf {
    let path = path.as_ref();
    match (path.strip_prefix("~"), etcetera::home_dir()) {
        (Ok(rest), Ok(home)) if rest.as_os_str().is_empty() => home,
        (Ok(rest), Ok(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns whether a path does not exist, but an entry of its directory differs from it only in case. Many disks take both for
/// the same file. Reads the disk.
#[must_use]
pub fn is_taken_in_other_case(path: &Path) -> bool {
    let (Some(name), Some(directory)) = (path.file_name(), path.parent()) else { return false };
    let Ok(entries) = std::fs::read_dir(directory) else { return false };
    let mut is_taken = false;
    for entry in entries.flatten() {
        let entry = entry.file_name();
        if entry == name {
            return false;
        }
        is_taken |= entry.to_string_lossy().to_lowercase() == name.to_string_lossy().to_lowercase();
    }
    is_taken
}

/// Removes `.` and `..` components without reading the disk. Returns `None` for a relative path.
pub(crate) fn lexically_absolute(path: &Path) -> Option<PathBuf> {
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

/// Resolves symbolic links and the true casing of a path. Components that do not exist are appended as
/// written, also behind a dangling link: a later write through that link would create its target. Returns
/// `None` when the path cannot be resolved: a cycle of links, or `..` after a component that is not a
/// directory.
pub(crate) fn canonical_form(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(canonical) => Some(canonical),
        Err(_) => PathWalk::along(path),
    }
}

/// Returns whether a path, a symbolic link on it, or its target is in `directory`: write access to the
/// directory then controls what the path refers to. Reads the disk.
#[must_use]
pub fn leads_through(path: &Path, directory: &Path) -> bool {
    let (Some(directory), Ok(path)) = (canonical_form(directory), std::path::absolute(path)) else {
        return false;
    };
    let mut walk = PathWalk::new(&path);
    loop {
        if walk.reached.starts_with(&directory) {
            return true;
        }
        if walk.ahead.pop().and_then(|step| walk.take(step)).is_none() {
            // On a case-insensitive file system the walk keeps the casing of the links; `canonicalize`
            // returns the true one.
            return path.canonicalize().is_ok_and(|target| target.starts_with(&directory));
        }
    }
}

/// Resolution of a path, one component at a time.
struct PathWalk {
    /// The path resolved so far. It exists and contains no symbolic links.
    reached: PathBuf,
    /// Components after `reached` that do not exist.
    missing: Vec<OsString>,
    /// Remaining steps in reverse order.
    ahead: Vec<ResolutionStep>,
    links: usize,
}

enum ResolutionStep {
    Root(PathBuf),
    Up,
    Into(OsString),
}

impl PathWalk {
    fn new(path: &Path) -> Self {
        let mut walk = Self { reached: PathBuf::new(), missing: Vec::new(), ahead: Vec::new(), links: 0 };
        walk.add(path);
        walk
    }

    fn along(path: &Path) -> Option<PathBuf> {
        let mut walk = Self::new(path);
        while let Some(step) = walk.ahead.pop() {
            walk.take(step)?;
        }
        // The walk keeps the casing of the links; `canonicalize` returns the true one.
        let mut canonical = walk.reached.canonicalize().ok()?;
        canonical.extend(&walk.missing);
        Some(canonical)
    }

    /// Queues the components of a path before the remaining steps.
    fn add(&mut self, path: &Path) {
        let mut root = PathBuf::new();
        let mut steps = Vec::new();
        for component in path.components() {
            match component {
                Component::Prefix(_) | Component::RootDir => root.push(component),
                Component::CurDir => {}
                Component::ParentDir => steps.push(ResolutionStep::Up),
                Component::Normal(name) => steps.push(ResolutionStep::Into(name.to_owned())),
            }
        }
        self.ahead.extend(steps.into_iter().rev());
        if !root.as_os_str().is_empty() {
            self.ahead.push(ResolutionStep::Root(root));
        }
    }

    fn take(&mut self, step: ResolutionStep) -> Option<()> {
        match step {
            ResolutionStep::Root(root) => {
                self.reached = root;
                self.missing.clear();
            }
            ResolutionStep::Up if self.missing.is_empty() && self.reached.is_dir() => {
                self.reached.pop();
            }
            ResolutionStep::Up => return None,
            ResolutionStep::Into(name) if !self.missing.is_empty() => self.missing.push(name),
            ResolutionStep::Into(name) => self.enter(name)?,
        }
        Some(())
    }

    fn enter(&mut self, name: OsString) -> Option<()> {
        let next = self.reached.join(&name);
        match next.symlink_metadata() {
            Ok(metadata) if metadata.is_symlink() => {
                self.links += 1;
                if self.links > MAX_LINKS {
                    return None;
                }
                self.add(&next.read_link().ok()?);
            }
            Ok(_) => self.reached = next,
            // An entry without access counts as missing: nothing below it can be opened either.
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound
                        | ErrorKind::NotADirectory
                        | ErrorKind::PermissionDenied
                        | ErrorKind::InvalidFilename
                ) =>
            {
                self.missing.push(name);
            }
            Err(_) => return None,
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn leads_through_checks_every_symlink() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        let link = |target: PathBuf, name: &str| std::os::unix::fs::symlink(target, at(name)).unwrap();
        for name in ["box/sub", "box-evil", "data"] {
            std::fs::create_dir_all(at(name)).unwrap();
        }
        for name in ["box/inside", "outside"] {
            std::fs::write(at(name), "").unwrap();
        }
        link(at("outside"), "box/out");
        link(at("box/out"), "through");
        link(at("box"), "into");
        link(at("outside"), "other");
        for path in ["box/inside", "box/out", "through", "into/inside", "into/out", "box/sub/../../outside"] {
            assert!(leads_through(&at(path), &at("box")), "{path}");
            assert!(leads_through(&at(path), &at("into")), "{path}");
        }
        for path in ["outside", "other", "box-evil", "data/../other", "missing"] {
            assert!(!leads_through(&at(path), &at("box")), "{path}");
        }
    }

    #[test]
    fn tilde_is_expanded_only_as_a_whole_component() {
        let home = etcetera::home_dir().unwrap();
        assert_eq!(expand_home("~"), home);
        assert_eq!(expand_home("~/x"), home.join("x"));
        assert_eq!(expand_home("~//etc"), home.join("etc"), "stays below the home directory");
        assert_eq!(expand_home("~other/x"), Path::new("~other/x"));
    }
}
