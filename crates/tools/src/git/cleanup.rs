//! Removing worktrees of pull requests whose branches are gone at `origin`.
//!
//! Only clean worktrees go, and only when the remote itself said that the branch is gone.

use std::path::{Path, PathBuf};
use std::time::Duration;

use futures_util::StreamExt as _;
use tokio::time::{Instant, timeout_at};

use super::checkout::CheckoutKind;
use super::{CallerPresence, Git, GitError, checked, finish, time};

/// How long all of it may take.
const TOTAL: Duration = Duration::from_secs(60);
/// Remotes that are asked at the same time.
const CONCURRENCY: usize = 4;

/// What became of each worktree.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CleanupOutcome {
    /// Gone.
    pub removed: Vec<PathBuf>,
    /// Still there.
    pub kept: Vec<PathBuf>,
    /// Why some of those are still there: `<directory>: <reason>`.
    pub errors: Vec<String>,
}

/// What is to become of a worktree.
enum CleanupDecision {
    Stale,
    Wanted,
    Unclear(String),
}

/// Directories directly below a parent that are named like worktrees of pull requests, by name.
/// Links are none. Touches the disk.
///
/// # Errors
/// When the parent cannot be read; a missing one holds nothing.
pub fn pull_request_worktrees(parent: &Path) -> std::io::Result<Vec<PathBuf>> {
    let entries = match std::fs::read_dir(parent) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in entries {
        let entry = entry?;
        if entry.file_type()?.is_dir() && is_of_a_pull_request(&entry.file_name().to_string_lossy()) {
            found.push(entry.path());
        }
    }
    found.sort();
    Ok(found)
}

fn is_of_a_pull_request(name: &str) -> bool {
    let number = name.rsplit_once("-pr-").map(|(_, number)| number);
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

impl Git {
    /// Removes those of the worktrees whose branch is gone at `origin`.
    pub async fn clean_up(&self, worktrees: Vec<PathBuf>) -> CleanupOutcome {
        let deadline = Instant::now() + TOTAL;
        let mut judged = futures_util::stream::iter(worktrees)
            .map(|place| async move {
                let verdict = timeout_at(deadline, self.decide(&place)).await;
                let late =
                    || CleanupDecision::Unclear(format!("not looked at within {} seconds", TOTAL.as_secs()));
                (place, verdict.unwrap_or_else(|_| late()))
            })
            .buffered(CONCURRENCY);
        let mut cleanup = CleanupOutcome::default();
        while let Some((place, verdict)) = judged.next().await {
            let reason = match verdict {
                CleanupDecision::Wanted => None,
                CleanupDecision::Unclear(reason) => Some(reason),
                CleanupDecision::Stale => match self.remove_clean(&place).await {
                    Ok(()) => {
                        cleanup.removed.push(place);
                        continue;
                    }
                    Err(error) => Some(error.to_string()),
                },
            };
            cleanup.errors.extend(reason.map(|reason| format!("{}: {reason}", place.display())));
            cleanup.kept.push(place);
        }
        cleanup
    }

    async fn decide(&self, place: &Path) -> CleanupDecision {
        let directory = place.to_owned();
        let linked = tokio::task::spawn_blocking(move || CheckoutKind::of(&directory)).await;
        if !matches!(linked, Ok(CheckoutKind::Linked(_))) {
            return CleanupDecision::Wanted;
        }
        // On no branch, or broken: nobody can say that it is of no use.
        let Ok(Some(branch)) = self.current_branch(place).await else { return CleanupDecision::Wanted };
        match self.is_at_origin(place, &branch).await {
            Ok(true) => CleanupDecision::Wanted,
            Ok(false) => CleanupDecision::Stale,
            Err(error) => CleanupDecision::Unclear(error.to_string()),
        }
    }

    /// Asks `origin` whether it has exactly this branch.
    async fn is_at_origin(&self, directory: &Path, branch: &str) -> Result<bool, GitError> {
        let full = format!("refs/heads/{branch}");
        let args = ["ls-remote", "--heads", "origin", &full];
        let command = self.command(directory).await?.session().args(args);
        let output = checked(&args, finish(&command, &args, time::FETCH, CallerPresence::Needed).await?)?;
        // A pattern also matches the tails of longer names.
        Ok(output.stdout_text().lines().any(|line| line.split('\t').nth(1) == Some(&full)))
    }

    async fn remove_clean(&self, place: &Path) -> Result<(), GitError> {
        let args = ["worktree", "remove", "--", &place.to_string_lossy()];
        self.change(place, &args, time::WORKTREE_REMOVE).await.map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_directories_that_end_with_a_number_are_found() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["w-pr-2", "w-pr-10", "w-x", "w-pr-", "w-pr-1x", "w-pr-1-pr-3"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("file-pr-1"), "").unwrap();
        std::os::unix::fs::symlink("w-pr-2", dir.path().join("link-pr-1")).unwrap();
        let found = pull_request_worktrees(dir.path()).unwrap();
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["w-pr-1-pr-3", "w-pr-10", "w-pr-2"]);
        assert_eq!(pull_request_worktrees(&dir.path().join("missing")).unwrap(), [] as [PathBuf; 0]);
    }
}
