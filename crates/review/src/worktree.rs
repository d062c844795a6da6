//! Worktree of a review: created if missing, and updated to the reviewed branch.

use std::io;
use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::{SandboxedPath, copy_environment_files};
use loopgate_tools::git::{Git, GitError, PreservedState, time};
use thiserror::Error;

use crate::blocking::blocking;

/// Untracked files with environment variables, which programs in a worktree need.
const ENVIRONMENT_FILES: [&str; 2] = [".env", ".env.local"];

/// Specification of the worktree that a review needs.
#[derive(Debug, Clone)]
pub(crate) struct ReviewWorktree {
    /// Clone that the worktree belongs to.
    pub(crate) repository: SandboxedPath,
    /// Path of the worktree. It need not exist.
    pub(crate) worktree: SandboxedPath,
    /// Branch to review; without it, an existing worktree is used unchanged.
    pub(crate) branch: Option<BranchName>,
    /// Start point of a new worktree if the branch does not exist.
    pub(crate) base: Option<BranchName>,
}

/// Reason for which there is no worktree.
#[derive(Debug, Error)]
pub(crate) enum ReviewWorktreeError {
    /// The worktree does not exist, and no branch is given from which to create it.
    #[error("branchName is required to create a worktree")]
    BranchRequired,
    /// Neither the branch nor its base exists.
    #[error("{}", missing_branches(branch, base.as_ref()))]
    NoBranch {
        /// Branch that is to be reviewed.
        branch: BranchName,
        /// Base branch of the comparison, if the repository has one.
        base: Option<BranchName>,
    },
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A file system operation failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

fn missing_branches(branch: &BranchName, base: Option<&BranchName>) -> String {
    match base {
        Some(base) => format!("neither branch \"{branch}\" nor branch \"{base}\" exists"),
        None => format!("branch \"{branch}\" does not exist, and the repository has no default branch"),
    }
}

impl ReviewWorktree {
    /// Creates the worktree, or updates it to its branch.
    pub(crate) async fn prepare(&self, git: &Git) -> Result<(), ReviewWorktreeError> {
        let exists = self.is_checkout().await?;
        match (&self.branch, exists) {
            (None, false) => Err(ReviewWorktreeError::BranchRequired),
            (None, true) => Ok(()),
            (Some(branch), exists) => {
                // Reviews must work offline, with the local state of the branch.
                if let Err(error) = git.fetch(self.repository.as_path()).await {
                    tracing::info!(%error, "git fetch failed before a review, using the local state");
                }
                if exists { self.update(git, branch).await } else { self.create(git, branch).await }
            }
        }
    }

    async fn is_checkout(&self) -> io::Result<bool> {
        let worktree = self.worktree.clone();
        let check = blocking(move || {
            Ok(worktree.open_directory().is_ok_and(|directory| directory.exists(Path::new(".git"))))
        });
        check.await
    }

    async fn create(&self, git: &Git, branch: &BranchName) -> Result<(), ReviewWorktreeError> {
        let (repository, place) = (self.repository.as_path(), self.worktree.as_path());
        let start_point = match git.base_ref(repository, branch).await? {
            Some(start_point) => start_point,
            None => {
                let base = match &self.base {
                    Some(base) => git.base_ref(repository, base).await?,
                    None => None,
                };
                let missing =
                    || ReviewWorktreeError::NoBranch { branch: branch.clone(), base: self.base.clone() };
                base.ok_or_else(missing)?
            }
        };
        // `git worktree add` requires an empty directory, but the state directory may exist there. Move it
        // aside.
        let preserved = PreservedState::of(place);
        let moved = preserved.clone();
        blocking(move || moved.preserve()).await?;
        let result = git.worktree_add_detached(repository, place, &start_point).await;
        // Restored after a failure, too, so the result is checked afterwards.
        blocking(move || preserved.restore()).await?;
        match result {
            // A concurrent request may have created it; only its absence is an error.
            Err(error) if !self.is_checkout().await? => return Err(error.into()),
            _ => {}
        }
        if let Err(error) = git.hide_state_dir(place).await {
            tracing::info!(%error, "failed to exclude the work directory from git");
        }
        let (from, to) = (self.repository.clone(), self.worktree.clone());
        blocking(move || {
            copy_environment_files(&from.open_directory()?, &to.open_directory()?, &ENVIRONMENT_FILES)
        })
        .await?;
        Ok(())
    }

    /// Updates the worktree to the latest state of its branch without discarding local changes. Git errors
    /// leave the worktree as it was: a review of an older state is better than none.
    async fn update(&self, git: &Git, branch: &BranchName) -> Result<(), ReviewWorktreeError> {
        let place = self.worktree.as_path();
        let tracked = git.remotes(place).await?.base_ref(branch.as_str());
        let checked_out =
            git.change(place, &["checkout", "-q", branch.as_str(), "--"], time::WORKTREE_ADD).await;
        if let Err(error) = checked_out {
            // Git refuses, for example, if the branch is checked out in another worktree. A detached
            // checkout of its commit is still possible.
            tracing::info!(%error, "failed to check out the reviewed branch, trying a detached checkout");
            let detach = ["checkout", "-q", "--detach", &tracked, "--"];
            if let Err(error) = git.change(place, &detach, time::WORKTREE_ADD).await {
                tracing::info!(%error, "failed to update the worktree of a review, reviewing its current state");
            }
            return Ok(());
        }
        // Rebase only local commits that diverged, and only in a clean worktree.
        let forward = ["merge", "-q", "--ff-only", &tracked];
        if git.commit_of(place, &tracked).await?.is_none()
            || git.change(place, &forward, time::WORKTREE_ADD).await.is_ok()
            || !git.changes(place).await?.is_empty()
        {
            return Ok(());
        }
        if let Err(error) = git.change(place, &["rebase", "-q", &tracked], time::WORKTREE_ADD).await {
            tracing::info!(%error, "failed to rebase the worktree of a review, keeping its commits");
            // Fails when the rebase did not start; there is nothing to abort then.
            let _ = git.change(place, &["rebase", "--abort"], time::LOCAL).await;
        }
        Ok(())
    }
}
