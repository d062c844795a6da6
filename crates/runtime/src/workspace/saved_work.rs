//! Unpushed work of loops that was saved in the managed repositories.

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::BranchName;
use loopgate_home::Repos;
use loopgate_tools::git::{Git, GitError, SavedWork};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::workspace::worktree_gc::WorktreeListError;
use crate::workspace::worktree_layout::WorktreeLayout;

/// Saved work and its repository.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEntry {
    #[serde(flatten)]
    pub work: SavedWork,
    /// Clone, or submodule of a clone, that contains the work.
    pub repository: PathBuf,
}

/// Saved work that was restored to a branch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredWork {
    #[serde(flatten)]
    pub entry: SavedEntry,
    pub branch: BranchName,
}

/// Error of restoring or deleting saved work.
#[derive(Debug, Error)]
pub enum SavedError {
    /// The saved work cannot be listed.
    #[error(transparent)]
    List(#[from] WorktreeListError),
    /// No saved work has this name.
    #[error("no saved work named {0}; list it with: loopgate worktrees")]
    Unknown(String),
    /// Git reported an error.
    #[error(transparent)]
    Git(#[from] GitError),
}

/// Lists and restores saved work.
#[derive(Debug, Clone)]
pub struct SavedWorkStore {
    repos: Arc<Repos>,
    layout: WorktreeLayout,
    git: Git,
}

impl SavedWorkStore {
    pub(crate) const fn new(repos: Arc<Repos>, layout: WorktreeLayout, git: Git) -> Self {
        Self { repos, layout, git }
    }

    /// Returns the saved work in all managed repositories.
    ///
    /// # Errors
    /// Fails with [`WorktreeListError`] when the list of repositories cannot be read.
    pub async fn list(&self) -> Result<Vec<SavedEntry>, WorktreeListError> {
        let mut entries = Vec::new();
        for repo in &self.repos.list()?.repos {
            let path = loopgate_home::expand_home(&repo.path);
            let Some(place) = self.layout.allowed(&path) else { continue };
            // Work in a submodule is saved in the clone's submodule. One that cannot be examined was not entered.
            let submodules = self.git.submodule_roots(place.as_path()).await.unwrap_or_default();
            for repository in std::iter::once(path).chain(submodules) {
                match self.git.saved_work(&repository).await {
                    Ok(saved) => entries.extend(
                        saved.into_iter().map(|work| SavedEntry { work, repository: repository.clone() }),
                    ),
                    Err(error) => {
                        tracing::info!(repository = %repository.display(), %error, "cannot list saved work");
                    }
                }
            }
        }
        Ok(entries)
    }

    /// Restores saved work to a new branch; the saved copy remains.
    ///
    /// # Errors
    /// Fails with [`SavedError`] when the name is unknown or git fails.
    pub async fn restore(&self, name: &str) -> Result<RestoredWork, SavedError> {
        let matching = self.list().await?.into_iter().find(|entry| entry.work.name == name);
        let entry = matching.ok_or_else(|| SavedError::Unknown(name.to_owned()))?;
        let branch = self.git.restore_saved(&entry.repository, &entry.work).await?;
        Ok(RestoredWork { entry, branch })
    }

    /// Deletes saved work by name.
    ///
    /// # Errors
    /// Fails with [`SavedError`]; when one name is unknown, nothing is deleted.
    pub async fn delete(&self, names: &[String]) -> Result<Vec<SavedEntry>, SavedError> {
        let mut entries = self.list().await?;
        // All names are checked first, so that an unknown name deletes nothing.
        for name in names {
            if !entries.iter().any(|entry| entry.work.name == *name) {
                return Err(SavedError::Unknown(name.clone()));
            }
        }
        entries.retain(|entry| names.contains(&entry.work.name));
        for entry in &entries {
            self.git.delete_saved(&entry.repository, &entry.work).await?;
        }
        Ok(entries)
    }
}
