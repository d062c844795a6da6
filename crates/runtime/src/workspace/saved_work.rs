//! Work that loops left and no remote has, as git saved it in the managed repositories.

use std::path::PathBuf;
use std::sync::Arc;

use loopgate_api::ids::BranchName;
use loopgate_home::Repos;
use loopgate_tools::git::{Git, GitError, SavedWork};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::workspace::worktree_gc::WorktreeListError;
use crate::workspace::worktree_layout::WorktreeLayout;

/// Saved work, and where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedEntry {
    /// What was saved.
    #[serde(flatten)]
    pub work: SavedWork,
    /// The clone that it is in.
    pub repository: PathBuf,
}

/// Saved work that is on a branch again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredWork {
    /// What was saved.
    #[serde(flatten)]
    pub entry: SavedEntry,
    /// The branch.
    pub branch: BranchName,
}

/// Why saved work was not restored or deleted.
#[derive(Debug, Error)]
pub enum SavedError {
    /// It cannot be listed.
    #[error(transparent)]
    List(#[from] WorktreeListError),
    /// Nothing of that name is saved.
    #[error("no saved work is called {0}; list it with: loopgate worktrees")]
    Unknown(String),
    /// Git said no.
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

    /// The work that is saved in the managed repositories.
    ///
    /// # Errors
    /// [`WorktreeListError`]
    pub async fn list(&self) -> Result<Vec<SavedEntry>, WorktreeListError> {
        let mut entries = Vec::new();
        for repo in &self.repos.list()?.repos {
            let path = loopgate_home::expand_home(&repo.path);
            let Some(place) = self.layout.allowed(&path) else { continue };
            match self.git.saved_work(place.as_path()).await {
                Ok(saved) => entries
                    .extend(saved.into_iter().map(|work| SavedEntry { work, repository: path.clone() })),
                Err(error) => {
                    tracing::info!(repository = %path.display(), %error, "saved work cannot be listed");
                }
            }
        }
        Ok(entries)
    }

    /// Puts saved work on a branch of its own; it stays saved.
    ///
    /// # Errors
    /// [`SavedError`]
    pub async fn restore(&self, name: &str) -> Result<RestoredWork, SavedError> {
        let found = self.list().await?.into_iter().find(|entry| entry.work.name == name);
        let entry = found.ok_or_else(|| SavedError::Unknown(name.to_owned()))?;
        let branch = self.git.restore_saved(&entry.repository, &entry.work).await?;
        Ok(RestoredWork { entry, branch })
    }

    /// Deletes saved work by its names.
    ///
    /// # Errors
    /// [`SavedError`]; nothing is deleted when one of the names is unknown.
    pub async fn delete(&self, names: &[String]) -> Result<Vec<SavedEntry>, SavedError> {
        let mut entries = self.list().await?;
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
