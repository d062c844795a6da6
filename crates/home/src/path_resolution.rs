//! The forms of a path: as it is written, and where it leads once symbolic links are resolved.

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

/// Links followed on the way of one path; as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// Expands a leading `~` or `~/`; `~user` stays as it is.
#[must_use]
pub fn expand_home(path: &str) -> PathBuf {
    let rest = match path {
        "~" => Some(""),
        _ => path.strip_prefix("~/"),
    };
    match (rest, etcetera::home_dir()) {
        (Some(""), Ok(home)) => home,
        (Some(rest), Ok(home)) => home.join(rest.trim_start_matches('/')),
        _ => PathBuf::from(path),
    }
}

/// Removes `.` and `..` without asking the disk; `None` for a relative path.
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

/// The real path, in its true casing. What does not exist is added as it is written, also behind a
/// link that leads nowhere yet: a later write through that link would land there. `None` when the
/// way is no way: links in a circle, or `..` behind something that is no directory.
pub(crate) fn canonical_form(path: &Path) -> Option<PathBuf> {
    match path.canonicalize() {
        Ok(canonical) => Some(canonical),
        Err(_) => PathWalk::along(path),
    }
}

/// Whether a path is in a directory, or a link on its way or what it leads to does. Touches the disk.
///
/// What may be written there decides then what is found under the path.
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
            // Once more through the system, which knows the true casing.
            return path.canonicalize().is_ok_and(|target| target.starts_with(&directory));
        }
    }
}

/// A way from the root, one component after the other.
struct PathWalk {
    /// Where the way has led so far; exists, and holds no link.
    reached: PathBuf,
    /// What follows and does not exist.
    missing: Vec<OsString>,
    /// What is still to be walked, the next component last.
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
        // Once more through the system, which knows the true casing.
        let mut canonical = walk.reached.canonicalize().ok()?;
        canonical.extend(&walk.missing);
        Some(canonical)
    }

    /// Puts the steps of a path before those that are still ahead.
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
            // What cannot be looked at cannot be entered either.
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
    fn home_is_expanded_by_component() {
        let home = etcetera::home_dir().unwrap();
        assert_eq!(expand_home("~"), home);
        assert_eq!(expand_home("~/x"), home.join("x"));
        assert_eq!(expand_home("~//etc"), home.join("etc"), "stays below the home");
        assert_eq!(expand_home("~other/x"), Path::new("~other/x"));
    }
}
