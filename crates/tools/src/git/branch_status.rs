//! The status of the branch of a checkout: whether it exists on the remote, and whether it was merged.
//!
//! A page requests this for all tickets at once, so the branches of a remote are listed once for all
//! worktrees of a repository, and cached for 30 seconds.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::Git;

/// Timeout of each git command. A remote that does not answer must not delay the page further.
const TIMEOUT: Duration = Duration::from_secs(5);
/// How long the branches of a remote are cached. Failures are cached as well, so that an unreachable remote
/// is not contacted once per ticket.
const TIME_TO_LIVE: Duration = Duration::from_secs(30);
/// Maximum number of repositories in the cache.
const MAX_REMOTES: u64 = 1000;
const HEADS: &str = "refs/heads/";
/// File with the project's instructions for the assistant.
const INSTRUCTIONS: &str = "CLAUDE.md";

/// The status of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchStatus {
    /// Whether the main branch of the remote contains all commits of the branch. Always `false` while the
    /// branch exists on the remote.
    pub merged: bool,
    /// Whether the branch does not exist on the remote.
    pub remote_missing: bool,
}

/// A cache that serves many checkouts of the same repositories.
#[derive(Debug)]
pub struct BranchStatusBatch {
    git: Git,
    /// Names of the remote's branches, by the git directory that all worktrees of a repository share; `None`
    /// when the remote could not be reached. Concurrent callers share a single `ls-remote`.
    remotes: Cache<PathBuf, Option<Arc<HashSet<String>>>>,
}

impl BranchStatusBatch {
    /// Creates an empty cache.
    #[must_use]
    pub fn new(git: Git) -> Self {
        let remotes = Cache::builder().max_capacity(MAX_REMOTES).time_to_live(TIME_TO_LIVE).build();
        Self { git, remotes }
    }

    /// Returns the status of the current branch; `None` when HEAD is detached or the remote cannot be
    /// reached.
    pub async fn of(&self, checkout: &Path) -> Option<BranchStatus> {
        // Not `--abbrev-ref`: git prints `heads/<name>` when a tag has the name of the branch.
        let full_ref =
            self.git.text(checkout, &["rev-parse", "--symbolic-full-name", "HEAD"], TIMEOUT).await.ok()?;
        // A detached HEAD is printed as `HEAD`.
        let branch = full_ref.strip_prefix(HEADS)?;
        let (branches, merged) =
            tokio::join!(self.remote_branches(checkout), self.is_merged(checkout, branch));
        let remote_missing = !branches?.contains(branch);
        Some(BranchStatus { merged: remote_missing && merged, remote_missing })
    }

    /// Returns the path of the project's instructions when they have uncommitted changes.
    pub async fn pending_instructions(&self, checkout: &Path) -> Option<PathBuf> {
        let file = checkout.join(INSTRUCTIONS);
        tokio::fs::metadata(&file).await.ok().filter(std::fs::Metadata::is_file)?;
        let below = self.git.repository(checkout).await.ok()?.prefix.join(INSTRUCTIONS);
        let args = ["status", "--porcelain", "--ignore-submodules=all", "--", below.to_str()?];
        let changed = self.git.text(checkout, &args, TIMEOUT).await;
        changed.is_ok_and(|changed| !changed.is_empty()).then_some(file)
    }

    async fn is_merged(&self, checkout: &Path, branch: &str) -> bool {
        let Some(main) = self.main_of_remote(checkout).await else { return false };
        let branch = format!("{HEADS}{branch}");
        let args = ["merge-base", "--is-ancestor", "--end-of-options", &branch, &main];
        let output = self.git.output(checkout, &args, TIMEOUT).await;
        output.is_ok_and(|answer| answer.status.code() == Some(0))
    }

    /// Returns the ref of `main`, else of the remote's default branch.
    async fn main_of_remote(&self, checkout: &Path) -> Option<String> {
        let remotes = self.git.remotes(checkout).await.ok()?;
        let main = remotes.base_ref("main");
        if self.git.commit_of(checkout, &main).await.ok()?.is_some() {
            return Some(main);
        }
        let default = self.git.default_branch(checkout).await.ok()??;
        Some(remotes.base_ref(&default))
    }

    async fn remote_branches(&self, checkout: &Path) -> Option<Arc<HashSet<String>>> {
        let shared = self.git.repository(checkout).await.ok()?.common_dir.clone();
        let query = async {
            let remotes = self.git.remotes(checkout).await.ok()?;
            let args = ["ls-remote", "--heads", remotes.push_source()];
            let printed = self.git.text(checkout, &args, TIMEOUT).await;
            printed.ok().map(|printed| Arc::new(parse_heads(&printed)))
        };
        self.remotes.get_with(shared, query).await
    }
}

/// Parses `git ls-remote --heads`: a hash, a tab and a full ref per line.
fn parse_heads(printed: &str) -> HashSet<String> {
    let names = printed.lines().filter_map(|line| line.split_once('\t')?.1.strip_prefix(HEADS));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_parsed_with_their_full_name() {
        let heads =
            parse_heads("1111\trefs/heads/main\n2222\trefs/heads/feature/main\n3333\trefs/tags/x\n\nodd");
        assert_eq!(heads, HashSet::from(["main".to_owned(), "feature/main".to_owned()]));
    }
}
