//! What lists of repositories display: origin and default branch, remembered while the files are unchanged.
//!
//! A user may have a thousand clones, and reading one takes about a hundred system calls. Summaries only select and
//! display repositories; every access to one checks it again, by [`Sandbox::repository`].

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use loopgate_api::ids::RepoFullName;

use crate::file_versions::FileVersions;
use crate::repository::{Repository, RepositoryError};
use crate::sandbox::Sandbox;

/// Maximum number of remembered summaries; all are dropped when it is reached.
const MAX_SUMMARIES: usize = 10_000;

/// Properties of a repository that lists display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositorySummary {
    /// Full name from the URL of the `origin` remote, or of the only one.
    pub origin: Option<RepoFullName>,
    /// See [`Repository::default_branch`].
    pub default_branch: Option<String>,
    /// Repository that pull requests are merged into.
    pub base: Option<RepoFullName>,
    /// Whether the working tree belongs to the clone itself and is not a linked worktree.
    pub is_clone: bool,
}

/// Remembered summaries, by path as it was requested.
#[derive(Debug, Default)]
pub(crate) struct KnownSummaries(Mutex<HashMap<PathBuf, KnownSummary>>);

#[derive(Debug, Clone)]
struct KnownSummary {
    summary: RepositorySummary,
    /// The sandbox in which the repository was checked.
    base: Arc<Path>,
    files: Arc<FileVersions>,
}

impl RepositorySummary {
    fn of(repository: &Repository) -> Self {
        let remotes = repository.remotes();
        Self {
            default_branch: repository.default_branch(),
            base: remotes.base_repository.map(|repository| repository.full_name),
            origin: remotes.clone_repository,
            is_clone: repository.git_dir == repository.common_dir,
        }
    }

    /// As [`Repository::is_clone_of`].
    #[must_use]
    pub fn is_clone_of(&self, name: &RepoFullName) -> bool {
        self.origin.iter().chain(&self.base).any(|own| own.same_as(name))
    }
}

impl Sandbox {
    /// Returns the summary of the repository whose working tree has its root at this directory, or of the bare repository
    /// at it. Reads the disk.
    ///
    /// # Errors
    /// As [`Sandbox::repository`]; [`RepositoryError::None`] below the root of a repository.
    pub fn summary(&self, directory: &Path) -> Result<RepositorySummary, RepositoryError> {
        let base = self.canonical_base().ok_or(RepositoryError::None)?;
        let known = self.summaries.lock().get(directory).filter(|known| known.base == base).cloned();
        if let Some(known) = known
            && known.files.are_unchanged()
        {
            return Ok(known.summary);
        }
        let (summary, files) = self.read_summary(directory)?;
        let config = files.first().cloned();
        // The versions are read between two equal summaries: they belong to the files of both.
        if let Ok(Some(files)) = FileVersions::read(files)
            // The removal of a repository is noticed by a file that it had.
            && config.is_some_and(|config| config.exists())
            && self.read_summary(directory).is_ok_and(|(again, _)| again == summary)
        {
            let known = KnownSummary { summary: summary.clone(), base, files: Arc::new(files) };
            let mut summaries = self.summaries.lock();
            if summaries.len() >= MAX_SUMMARIES {
                summaries.clear();
            }
            summaries.insert(directory.to_owned(), known);
        }
        Ok(summary)
    }

    /// Returns a summary and the files from which it was read.
    fn read_summary(&self, directory: &Path) -> Result<(RepositorySummary, Vec<PathBuf>), RepositoryError> {
        let repository = self.repository(directory)?;
        if !repository.is_root() {
            return Err(RepositoryError::None);
        }
        // By the requested path, so that a path that refers to another repository later has other files.
        let requested = |path: &Path| match path.strip_prefix(&repository.root) {
            Ok(below) => directory.join(below),
            Err(_) => path.to_owned(),
        };
        let common_dir = requested(&repository.common_dir);
        let mut files = vec![
            common_dir.join("config"),
            requested(&repository.git_dir).join("config.worktree"),
            common_dir.join(repository.remotes().base_ref("HEAD")),
            common_dir.join("HEAD"),
        ];
        // The file of a linked worktree or a submodule that refers to its git directory.
        if repository.git_dir != repository.root.join(".git") {
            files.push(directory.join(".git"));
        }
        Ok((RepositorySummary::of(&repository), files))
    }
}

impl KnownSummaries {
    fn lock(&self) -> MutexGuard<'_, HashMap<PathBuf, KnownSummary>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
