//! Removal of worktrees of pull requests whose branches were deleted at the remote.
//!
//! Only clean worktrees are removed, and only after the remote reported that the branch does not exist.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::checkout::CheckoutKind;
use super::{DropPolicy, Git, GitError, checked, finish, time};

/// Timeout for all worktrees together.
const TOTAL_TIMEOUT: Duration = Duration::from_secs(60);
/// Maximum number of concurrent `ls-remote` commands, which usually contact the same host.
const CONCURRENCY: usize = 4;

/// The outcome for each worktree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupOutcome {
    /// Worktrees that were removed.
    pub removed: Vec<PathBuf>,
    /// Worktrees that were kept.
    pub retained: Vec<PathBuf>,
    /// Why worktrees with a deleted or unknown branch were kept: `<directory>: <reason>`.
    pub errors: Vec<String>,
}

/// Whether a worktree can be removed.
enum CleanupDecision {
    Remove,
    Keep,
    Unknown(String),
}

/// Returns the subdirectories of `parent` that are named like worktrees of pull requests, sorted by name.
/// Symbolic links are omitted. Blocks.
///
/// # Errors
/// Fails when the parent cannot be read. A missing parent has no subdirectories.
pub fn pull_request_worktrees(parent: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut directories = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && has_pull_request_name(&entry.file_name().to_string_lossy()) {
            directories.push(entry.path());
        }
    }
    directories.sort();
    Ok(directories)
}

fn has_pull_request_name(name: &str) -> bool {
    let number = name.rsplit_once("-pr-").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Git {
    /// Removes those worktrees whose branch does not exist at a remote.
    pub async fn remove_merged_worktrees(&self, worktrees: Vec<PathBuf>) -> CleanupOutcome {
        let deadline = Instant::now() + TOTAL_TIMEOUT;
        let mut decisions = futures_util::stream::iter(worktrees)
            .map(|worktree| async move {
                let decision = timeout_at(deadline, self.decide(&worktree)).await;
                let timed_out = || {
                    CleanupDecision::Unknown(format!(
                        "not checked within {} seconds",
                        TOTAL_TIMEOUT.as_secs()
                    ))
                };
                (worktree, decision.unwrap_or_else(|_| timed_out()))
            })
            .buffered(CONCURRENCY);
        let mut cleanup = CleanupOutcome::default();
        while let Some((worktree, decision)) = decisions.next().await {
            let reason = match decision {
                CleanupDecision::Keep => None,
                CleanupDecision::Unknown(reason) => Some(reason),
                CleanupDecision::Remove => match self.remove_clean(&worktree).await {
                    Ok(()) => {
                        cleanup.removed.push(worktree);
                        continue;
                    }
                    Err(error) => Some(error.to_string()),
                },
            };
            cleanup.errors.extend(reason.map(|reason| format!("{}: {reason}", worktree.display())));
            cleanup.retained.push(worktree);
        }
        cleanup
    }

    async fn decide(&self, worktree: &Path) -> CleanupDecision {
        let directory = worktree.to_owned();
        let linked = tokio::task::spawn_blocking(move || CheckoutKind::of(&directory)).await;
        if !matches!(linked, Ok(CheckoutKind::Linked(_))) {
            return CleanupDecision::Keep;
        }
        // Without a branch there is nothing to look up at the remote, so the worktree is kept.
        let Ok(Some(branch)) = self.current_branch(worktree).await else { return CleanupDecision::Keep };
        match self.is_at_remote(worktree, &branch).await {
            Ok(true) => CleanupDecision::Keep,
            Ok(false) => CleanupDecision::Remove,
            Err(error) => CleanupDecision::Unknown(error.to_string()),
        }
    }

    /// Queries the base repository, and the one that is pushed to, for exactly this branch.
    async fn is_at_remote(&self, directory: &Path, branch: &str) -> Result<bool, GitError> {
        let remotes = self.remotes(directory).await?;
        let mut places = vec![remotes.base.as_str(), remotes.push_source()];
        places.dedup();
        let full = format!("refs/heads/{branch}");
        for place in places {
            let args = ["ls-remote", "--heads", place, &full];
            let command = self.command(directory).await?.session().args(args);
            let output = checked(&args, finish(&command, &args, time::FETCH, DropPolicy::Kill).await?)?;
            // The pattern of `ls-remote` also matches refs that end with this name.
            if output.stdout_text().lines().any(|line| line.split('\t').nth(1) == Some(&full)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn remove_clean(&self, worktree: &Path) -> Result<(), GitError> {
        // Without `--force`, git itself refuses to remove a worktree with uncommitted changes.
        let args = ["worktree", "remove", "--"];
        self.change_at(worktree, &args, &[worktree.as_os_str()], time::WORKTREE_REMOVE).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_named_like_pull_requests_are_returned() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["w-pr-2", "w-pr-10", "w-x", "w-pr-", "w-pr-1x", "w-pr-1-pr-3"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("file-pr-1"), "").unwrap();
        std::os::unix::fs::symlink("w-pr-2", dir.path().join("link-pr-1")).unwrap();
        let directories = pull_request_worktrees(dir.path()).unwrap();
        let names: Vec<_> =
            directories.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["w-pr-1-pr-3", "w-pr-10", "w-pr-2"]);
        assert_eq!(pull_request_worktrees(&dir.path().join("missing")).unwrap(), [] as [PathBuf; 0]);
    }
}
