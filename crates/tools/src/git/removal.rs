//! Removal of a directory that the user named: through git, or by deletion if forced and git fails. Only
//! directories that can be recreated are deleted: a worktree, or the remains of one.

use std::path::Path;

use thiserror::Error;

use super::checkout::CheckoutKind;
use super::worktree::delete;
use super::{Git, GitError, RemoveWorktreeError, time};

/// Message of `git worktree remove` for a worktree with uncommitted changes.
const HAS_WORK: &str = "contains modified or untracked files";

/// How a directory was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalMethod {
    ByGit,
    /// The directory was deleted, because git failed to remove it.
    ByForce,
}

/// An error while removing a directory.
#[derive(Debug, Error)]
pub enum NamedRemovalError {
    /// The worktree has uncommitted changes, and the removal was not forced.
    #[error("Worktree has uncommitted changes")]
    UncommittedChanges,
    /// The directory is not a worktree, so it is not deleted even if forced.
    #[error("Path is not a git worktree")]
    NotAWorktree,
    /// A git command failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// An error of the file system.
    #[error("the directory could not be deleted: {0}")]
    Delete(std::io::Error),
}

impl Git {
    /// Removes a worktree. With `force`, also one with uncommitted changes, which are saved if possible. With
    /// `leftover` in addition, also a directory that contains no repository or worktree at any depth.
    ///
    /// # Errors
    /// Fails with [`NamedRemovalError`]; the directory still exists then.
    pub async fn remove_named(
        &self,
        directory: &Path,
        force: bool,
        leftover: bool,
    ) -> Result<RemovalMethod, NamedRemovalError> {
        let mut args = vec!["worktree", "remove", "--"];
        if force {
            args.insert(2, "--force");
            // Best-effort: the user forced the removal, for example of a worktree that is too broken to be
            // saved.
            if let Err(error) = self.save_worktree(directory).await {
                tracing::info!(%error, "work could not be saved before the forced removal of a worktree");
            }
        }
        match self.change_at(directory, &args, &[directory.as_os_str()], time::WORKTREE_REMOVE).await {
            Ok(_) => Ok(RemovalMethod::ByGit),
            Err(_) if force => self.delete_worktree(directory, leftover).await,
            Err(error) if error.printed().is_some_and(|text| text.contains(HAS_WORK)) => {
                Err(NamedRemovalError::UncommittedChanges)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn delete_worktree(
        &self,
        directory: &Path,
        leftover: bool,
    ) -> Result<RemovalMethod, NamedRemovalError> {
        let path = directory.to_owned();
        let inspect = move || {
            let checkout = CheckoutKind::of(&path);
            let contains_repository = checkout == CheckoutKind::None && CheckoutKind::anywhere_in(&path);
            (checkout, contains_repository)
        };
        let (checkout, contains_repository) =
            tokio::task::spawn_blocking(inspect).await.map_err(|_| NamedRemovalError::NotAWorktree)?;
        match checkout {
            // The git directory does not exist, so there are no records to remove.
            CheckoutKind::Linked(git_dir) if !git_dir.exists() => {
                delete(directory).await.map_err(NamedRemovalError::Delete)?
            }
            CheckoutKind::Linked(_) => {
                let owner = self.repository(directory).await?.clone_root().to_owned();
                self.worktree_delete(&owner, directory).await.map_err(|error| match error {
                    RemoveWorktreeError::NotAWorktree => NamedRemovalError::NotAWorktree,
                    RemoveWorktreeError::Unsaved(error) => NamedRemovalError::Git(error),
                    RemoveWorktreeError::Delete(error) => NamedRemovalError::Delete(error),
                })?;
            }
            CheckoutKind::None if leftover && !contains_repository => {
                delete(directory).await.map_err(NamedRemovalError::Delete)?;
            }
            _ => return Err(NamedRemovalError::NotAWorktree),
        }
        Ok(RemovalMethod::ByForce)
    }
}
