//! The status of the branch of a checkout: whether the remote still has it, and whether it was merged.
//!
//! A page asks this for every ticket at once, so the branches of a remote are listed once for all worktrees of a
//! repository, and cached for 30 seconds.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::Git;

/// Time limit of one command.
const WITHIN: Duration = Duration::from_secs(5);
/// How long the answer of a remote is cached, a failure too.
const TIME_TO_LIVE: Duration = Duration::from_secs(30);
/// Repositories whose remotes' answers are cached at a time.
const MAX_REMOTES: u64 = 1000;
/// Prefix of a branch's full name.
const HEADS: &str = "refs/heads/";
/// The project's instructions for the assistant.
const INSTRUCTIONS: &str = "CLAUDE.md";

/// The status of a branch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BranchStatus {
    /// Whether the main branch of the remote holds all its commits. Not asked while the remote has
    /// the branch.
    pub merged: bool,
    /// Whether the remote has no such branch.
    pub remote_missing: bool,
}

/// Answers for many checkouts at once.
#[derive(Debug)]
pub struct BranchStatusBatch {
    git: Git,
    /// Branches of the remote, by the directory that all worktrees of a repository share; nothing when the
    /// remote could not be asked. Whoever comes while it is asked waits for that answer.
    remotes: Cache<PathBuf, Option<Arc<HashSet<String>>>>,
}

impl BranchStatusBatch {
    /// Nothing is cached yet.
    #[must_use]
    pub fn new(git: Git) -> Self {
        let remotes = Cache::builder().max_capacity(MAX_REMOTES).time_to_live(TIME_TO_LIVE).build();
        Self { git, remotes }
    }

    /// The status of the branch that is checked out; `None` when it cannot be determined.
    pub async fn of(&self, checkout: &Path) -> Option<BranchStatus> {
        // Not the short form: git lengthens that where a tag has the branch's name.
        let named =
            self.git.text(checkout, &["rev-parse", "--symbolic-full-name", "HEAD"], WITHIN).await.ok()?;
        // A detached HEAD is on none.
        let branch = named.strip_prefix(HEADS)?;
        let (branches, merged) =
            tokio::join!(self.remote_branches(checkout), self.is_merged(checkout, branch));
        let remote_missing = !branches?.contains(branch);
        Some(BranchStatus { merged: remote_missing && merged, remote_missing })
    }

    /// The instructions of the project, when they were changed and not committed.
    pub async fn pending_instructions(&self, checkout: &Path) -> Option<PathBuf> {
        let file = checkout.join(INSTRUCTIONS);
        tokio::fs::metadata(&file).await.ok().filter(std::fs::Metadata::is_file)?;
        let below = self.git.repository(checkout).await.ok()?.prefix.join(INSTRUCTIONS);
        let args = ["status", "--porcelain", "--ignore-submodules=all", "--", below.to_str()?];
        let changed = self.git.text(checkout, &args, WITHIN).await;
        changed.is_ok_and(|changed| !changed.is_empty()).then_some(file)
    }

    async fn is_merged(&self, checkout: &Path, branch: &str) -> bool {
        let Some(main) = self.main_of_remote(checkout).await else { return false };
        let branch = format!("{HEADS}{branch}");
        let args = ["merge-base", "--is-ancestor", "--end-of-options", &branch, &main];
        let asked = self.git.output(checkout, &args, WITHIN).await;
        asked.is_ok_and(|answer| answer.status.code() == Some(0))
    }

    /// `main`, else what the remote calls its default.
    async fn main_of_remote(&self, checkout: &Path) -> Option<String> {
        let main = "refs/remotes/origin/main".to_owned();
        if self.git.commit_of(checkout, &main).await.ok()?.is_some() {
            return Some(main);
        }
        let default = self.git.default_branch(checkout).await.ok()??;
        Some(format!("refs/remotes/origin/{default}"))
    }

    async fn remote_branches(&self, checkout: &Path) -> Option<Arc<HashSet<String>>> {
        let shared = self.git.repository(checkout).await.ok()?.common.clone();
        let ask = async {
            let printed = self.git.text(checkout, &["ls-remote", "--heads", "origin"], WITHIN).await;
            printed.ok().map(|printed| Arc::new(parse_heads(&printed)))
        };
        self.remotes.get_with(shared, ask).await
    }
}

/// Reads `git ls-remote --heads`: a hash, a tab, a full name.
fn parse_heads(printed: &str) -> HashSet<String> {
    let names = printed.lines().filter_map(|line| line.split_once('\t')?.1.strip_prefix(HEADS));
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_are_whole_names() {
        let heads =
            parse_heads("1111\trefs/heads/main\n2222\trefs/heads/feature/main\n3333\trefs/tags/x\n\nodd");
        assert_eq!(heads, HashSet::from(["main".to_owned(), "feature/main".to_owned()]));
    }
}
