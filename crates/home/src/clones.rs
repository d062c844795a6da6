//! Search for clones in the sandbox.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use loopgate_api::ids::RepoFullName;

use crate::sandbox::Sandbox;

/// Depth of the search below the sandbox base directory, enough for `<sandbox>/<host>/<owner>/<repository>`.
const DEPTH: usize = 3;

impl Sandbox {
    /// Returns the clones in the sandbox, at most three levels deep, sorted by the name of the repository that they were
    /// cloned from. Linked worktrees are not clones. Reads the disk.
    #[must_use]
    pub fn clones(&self) -> Vec<(RepoFullName, PathBuf)> {
        let Some(base) = self.base() else { return Vec::new() };
        let mut search =
            CloneSearch { sandbox: self, visited: HashSet::new(), links: Vec::new(), clones: Vec::new() };
        search.visit(&base, DEPTH);
        // Last, so that a clone is found at its real path if that is in reach.
        while let Some((link, depth)) = search.links.pop() {
            search.visit(&link, depth);
        }
        search
            .clones
            .sort_by(|(one, at), (other, other_at)| (one.as_str(), at).cmp(&(other.as_str(), other_at)));
        search.clones
    }
}

struct CloneSearch<'a> {
    sandbox: &'a Sandbox,
    /// Canonical paths, because symbolic links can form cycles.
    visited: HashSet<PathBuf>,
    /// Symbolic links that are not followed yet, with the remaining depth.
    links: Vec<(PathBuf, usize)>,
    clones: Vec<(RepoFullName, PathBuf)>,
}

impl CloneSearch<'_> {
    fn visit(&mut self, directory: &Path, depth: usize) {
        let Ok(allowed) = self.sandbox.check(directory) else { return };
        if !self.visited.insert(allowed.canonical().to_owned()) {
            return;
        }
        let exists = |name: &str| directory.join(name).symlink_metadata().is_ok();
        if exists(".git") || ["HEAD", "objects", "refs"].into_iter().all(exists) {
            match self.sandbox.summary(directory) {
                Ok(summary) if summary.is_clone => {
                    self.clones.extend(summary.origin.map(|name| (name, directory.to_owned())));
                }
                Ok(_) => {}
                Err(error) => {
                    tracing::debug!(directory = %directory.display(), %error, "not listed as a clone")
                }
            }
            return;
        }
        if depth == 0 {
            return;
        }
        let Ok(entries) = std::fs::read_dir(directory) else { return };
        for entry in entries.flatten() {
            let Ok(kind) = entry.file_type() else { continue };
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }
            if kind.is_dir() {
                self.visit(&entry.path(), depth - 1);
            } else if kind.is_symlink() && entry.path().is_dir() {
                self.links.push((entry.path(), depth - 1));
            }
        }
    }
}
