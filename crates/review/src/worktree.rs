//! The worktree of a review: made where it is missing, and brought to the branch that is reviewed.

use std::io;
use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::{SandboxedPath, copy_environment_files};
use loopgate_tools::git::{Git, GitError, PreservedState, time};
use thiserror::Error;

use crate::blocking::blocking;

/// Files with variables that no commit holds and programs in a worktree need.
const ENVIRONMENT_FILES: [&str; 2] = [".env", ".env.local"];

/// A worktree that a review needs.
#[derive(Debug, Clone)]
pub(crate) struct ReviewWorktree {
    /// The clone.
    pub(crate) repository: SandboxedPath,
    /// Where the worktree is, or will be.
    pub(crate) worktree: SandboxedPath,
    /// The branch that is reviewed; without one the worktree is used as it is.
    pub(crate) branch: Option<BranchName>,
    /// Where a worktree begins whose branch does not exist.
    pub(crate) base: BranchName,
}

/// Why there is no worktree.
#[derive(Debug, Error)]
pub(crate) enum WorktreeError {
    /// It is not there, and no branch says what it should hold.
    #[error("branchName is required to create a worktree")]
    BranchRequired,
    /// Neither the branch nor its base exists.
    #[error("neither branch \"{branch}\" nor branch \"{base}\" exists")]
    NoBranch {
        /// What is reviewed.
        branch: BranchName,
        /// What it is compared with.
        base: BranchName,
    },
    /// Git refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The file system refused.
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl ReviewWorktree {
    /// Makes the worktree, or brings it to its branch.
    pub(crate) async fn prepare(&self, git: &Git) -> Result<(), WorktreeError> {
        let there = self.is_checkout().await?;
        match (&self.branch, there) {
            (None, false) => Err(WorktreeError::BranchRequired),
            (None, true) => Ok(()),
            (Some(branch), there) => {
                if let Err(error) = git.fetch(self.repository.as_path()).await {
                    tracing::info!(%error, "the remote could not be asked before a review");
                }
                if there { self.update(git, branch).await } else { self.make(git, branch).await }
            }
        }
    }

    async fn is_checkout(&self) -> io::Result<bool> {
        let worktree = self.worktree.clone();
        let looked = blocking(move || {
            Ok(worktree.open_directory().is_ok_and(|directory| directory.holds(Path::new(".git"))))
        });
        looked.await
    }

    async fn make(&self, git: &Git, branch: &BranchName) -> Result<(), WorktreeError> {
        let (repository, place) = (self.repository.as_path(), self.worktree.as_path());
        let begins_at = match git.base_ref(repository, branch).await? {
            Some(found) => found,
            None => git
                .base_ref(repository, &self.base)
                .await?
                .ok_or_else(|| WorktreeError::NoBranch { branch: branch.clone(), base: self.base.clone() })?,
        };
        let preserved = PreservedState::of(place);
        let moved = preserved.clone();
        blocking(move || moved.preserve()).await?;
        let added = git.worktree_add_detached(repository, place, &begins_at).await;
        blocking(move || preserved.restore()).await?;
        match added {
            // Another request may have made it meanwhile.
            Err(error) if !self.is_checkout().await? => return Err(error.into()),
            _ => {}
        }
        if let Err(error) = git.hide_state_dir(place).await {
            tracing::info!(%error, "the files of a review could not be hidden from git");
        }
        let (from, to) = (self.repository.clone(), self.worktree.clone());
        blocking(move || {
            copy_environment_files(&from.open_directory()?, &to.open_directory()?, &ENVIRONMENT_FILES)
        })
        .await?;
        Ok(())
    }

    /// Brings the worktree to the newest state of its branch, as far as that harms nothing in it. What does
    /// not work leaves the worktree as it is.
    async fn update(&self, git: &Git, branch: &BranchName) -> Result<(), WorktreeError> {
        let place = self.worktree.as_path();
        let tracked = format!("refs/remotes/origin/{branch}");
        let checked_out =
            git.change(place, &["checkout", "-q", branch.as_str(), "--"], time::WORKTREE_ADD).await;
        if let Err(error) = checked_out {
            tracing::info!(%error, "a review's worktree cannot be put on its branch");
            let detach = ["checkout", "-q", "--detach", &tracked, "--"];
            if let Err(error) = git.change(place, &detach, time::WORKTREE_ADD).await {
                tracing::info!(%error, "a review's worktree stays as it is");
            }
            return Ok(());
        }
        let forward = ["merge", "-q", "--ff-only", &tracked];
        if git.commit_of(place, &tracked).await?.is_none()
            || git.change(place, &forward, time::WORKTREE_ADD).await.is_ok()
            || !git.changes(place).await?.is_empty()
        {
            return Ok(());
        }
        if let Err(error) = git.change(place, &["rebase", "-q", &tracked], time::WORKTREE_ADD).await {
            tracing::info!(%error, "a review's worktree keeps its own commits as they are");
            let _ = git.change(place, &["rebase", "--abort"], time::LOCAL).await;
        }
        Ok(())
    }
}
