//! Removing a directory that a person named: through git, and when forced and git cannot, by
//! deleting it. Deleted is only what can be made again: a worktree, or what is left of one.

use std::path::Path;

use thiserror::Error;

use super::checkout::CheckoutKind;
use super::worktree::delete;
use super::{Git, GitError, RemoveWorktreeError, time};

/// Git's words for a worktree with work in it.
const HAS_WORK: &str = "contains modified or untracked files";

/// How a directory was removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalMethod {
    /// Git removed it.
    ByGit,
    /// It was deleted.
    ByForce,
}

/// Why it is still there.
#[derive(Debug, Error)]
pub enum NamedRemovalError {
    /// Somebody's work is in it.
    #[error("Worktree has uncommitted changes")]
    HasWork,
    /// It is none, so no force removes it.
    #[error("Path is not a git worktree")]
    NotAWorktree,
    /// Git refused.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The directory could not be deleted.
    #[error("the directory could not be deleted: {0}")]
    Delete(std::io::Error),
}

impl Git {
    /// Removes a worktree. `force` also removes one with work in it, which is saved as far as it can
    /// be; with `leftover` as well a directory in which nothing is known to git any more.
    ///
    /// # Errors
    /// [`NamedRemovalError`]
    pub async fn remove_named(
        &self,
        directory: &Path,
        force: bool,
        leftover: bool,
    ) -> Result<RemovalMethod, NamedRemovalError> {
        let place = directory.to_string_lossy();
        let mut args = vec!["worktree", "remove", "--", &place];
        if force {
            args.insert(2, "--force");
            if let Err(error) = self.save_worktree(directory).await {
                tracing::info!(%error, "the work in a worktree that is removed by force was not saved");
            }
        }
        match self.change(directory, &args, time::WORKTREE_REMOVE).await {
            Ok(_) => Ok(RemovalMethod::ByGit),
            Err(_) if force => self.delete_worktree(directory, leftover).await,
            Err(error) if error.printed().is_some_and(|text| text.contains(HAS_WORK)) => {
                Err(NamedRemovalError::HasWork)
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn delete_worktree(
        &self,
        directory: &Path,
        leftover: bool,
    ) -> Result<RemovalMethod, NamedRemovalError> {
        let place = directory.to_owned();
        let look = move || {
            let checkout = CheckoutKind::of(&place);
            let known = checkout == CheckoutKind::None && CheckoutKind::anywhere_in(&place);
            (checkout, known)
        };
        let (checkout, known) =
            tokio::task::spawn_blocking(look).await.map_err(|_| NamedRemovalError::NotAWorktree)?;
        match checkout {
            // Its repository is gone; nobody keeps a record of it.
            CheckoutKind::Linked(own) if !own.exists() => {
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
            CheckoutKind::None if leftover && !known => {
                delete(directory).await.map_err(NamedRemovalError::Delete)?;
            }
            _ => return Err(NamedRemovalError::NotAWorktree),
        }
        Ok(RemovalMethod::ByForce)
    }
}
