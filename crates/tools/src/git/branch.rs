//! Queries about branches and commits: HEAD, the existence of refs, and ahead and behind counts.

use std::path::Path;

use loopgate_api::ids::BranchName;
use loopgate_home::RepositoryError;

use super::{DropPolicy, Git, GitError, finish, time};
use crate::process::Stdin;

/// Namespace of the branches that loops create.
pub const LOOP_NAMESPACE: &str = "orchestrator";

impl Git {
    /// Returns the current branch, also when it has no commit yet; `None` when HEAD is detached.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn current_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        // Not `--short`: git prints `heads/<name>` when a tag has the name of the branch.
        let args = ["symbolic-ref", "--quiet", "HEAD"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => {
                // Another branch could have the name that a lossy conversion returns.
                let full = str::from_utf8(&output.stdout).map_err(|_| {
                    let reason =
                        "the name of the checked-out branch is not UTF-8; rename it with: git branch -m";
                    GitError::Repository(RepositoryError::Refused(reason.to_owned()))
                })?;
                Ok(full.trim().strip_prefix("refs/heads/").map(str::to_owned))
            }
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// Resolves a revision to a commit; `None` when it does not exist.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn commit_of(&self, directory: &Path, revision: &str) -> Result<Option<String>, GitError> {
        let peeled = format!("{revision}^{{commit}}");
        let args = ["rev-parse", "--verify", "--quiet", "--end-of-options", &peeled];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let hash = output.stdout_text().trim().to_owned();
        match output.status.code() {
            Some(0) => Ok(Some(hash)),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// Resolves HEAD to a commit.
    ///
    /// # Errors
    /// Fails with [`GitError`], also in a repository without commits.
    pub async fn head(&self, directory: &Path) -> Result<String, GitError> {
        self.text(directory, &["rev-parse", "--verify", "HEAD"], time::LOCAL).await
    }

    /// Returns the full ref of a branch: the remote-tracking branch of the base repository, else the local branch, else
    /// `None`. Tags and hashes are not resolved.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn base_ref(&self, directory: &Path, branch: &BranchName) -> Result<Option<String>, GitError> {
        let tracked = self.remotes(directory).await?.base_ref(branch.as_str());
        for name in [tracked, format!("refs/heads/{branch}")] {
            if self.commit_of(directory, &name).await?.is_some() {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Returns the default branch of the base repository as recorded in the clone; `None` when it is not recorded.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn default_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        let prefix = self.remotes(directory).await?.base_ref("");
        let args = ["symbolic-ref", "--quiet", &format!("{prefix}HEAD")];
        let output = self.output(directory, &args, time::LOCAL).await?;
        let text = output.stdout_text();
        Ok(text.trim().strip_prefix(&prefix).map(str::to_owned))
    }

    /// Returns the merge base of two revisions; `None` when their histories are unrelated.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn merge_base(
        &self,
        directory: &Path,
        one: &str,
        other: &str,
    ) -> Result<Option<String>, GitError> {
        let args = ["merge-base", "--end-of-options", one, other];
        let output = self.output(directory, &args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout_text().trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// Returns the number of commits on HEAD that are not on `base`.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn ahead_of(&self, directory: &Path, base: &str) -> Result<u64, GitError> {
        let range = format!("{base}..HEAD");
        let args = ["rev-list", "--count", "--end-of-options", &range];
        let text = self.text(directory, &args, time::LOCAL).await?;
        text.parse().map_err(|_| GitError::Unreadable("rev-list"))
    }

    /// Returns the number of commits that are only on the first, and only on the second revision.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example for an unknown revision.
    pub async fn ahead_behind(
        &self,
        directory: &Path,
        one: &str,
        other: &str,
    ) -> Result<(u64, u64), GitError> {
        let range = format!("{one}...{other}");
        let args = ["rev-list", "--left-right", "--count", "--end-of-options", &range];
        let text = self.text(directory, &args, time::LOCAL).await?;
        let counts = text.split_once(char::is_whitespace);
        let counts = counts.and_then(|(one, other)| Some((one.parse().ok()?, other.trim().parse().ok()?)));
        counts.ok_or(GitError::Unreadable("rev-list"))
    }

    /// Returns whether HEAD has commits that are neither on a remote nor on a branch or tag that no loop
    /// created.
    ///
    /// # Errors
    /// Fails with [`GitError`], also in a repository without commits.
    pub async fn has_unpushed_commits(&self, directory: &Path) -> Result<bool, GitError> {
        let args = ["rev-list", "-n", "1", "HEAD", "--not", "--remotes"];
        let on_a_remote = self.text(directory, &args, time::LOCAL).await?.is_empty();
        Ok(!on_a_remote && !self.head_is_kept_elsewhere(directory).await?)
    }

    /// Returns whether every commit of HEAD is also on a branch or tag that no loop created. Returns `false`
    /// without such refs.
    ///
    /// # Errors
    /// Fails with [`GitError`], also in a repository without commits.
    pub async fn head_is_kept_elsewhere(&self, directory: &Path) -> Result<bool, GitError> {
        let args = ["for-each-ref", "--format=%(refname)", "refs/heads", "refs/remotes", "refs/tags"];
        let listed = self.text(directory, &args, time::LOCAL).await?;
        let other_refs: Vec<&str> = listed.lines().filter(|name| !is_of_loop(name)).collect();
        if other_refs.is_empty() {
            return Ok(false);
        }
        // On standard input, because the refs of a large repository exceed the limit on arguments.
        let revisions: String = std::iter::once("HEAD\n".to_owned())
            .chain(other_refs.iter().map(|name| format!("^{name}\n")))
            .collect();
        let args = ["rev-list", "-n", "1", "--stdin"];
        let command = self.reader(directory).await?.args(args).stdin(Stdin::Bytes(revisions.into_bytes()));
        let output = finish(&command, &args, time::LOCAL, DropPolicy::Kill).await?;
        let output = super::checked(&args, output)?;
        Ok(output.stdout.trim_ascii().is_empty())
    }

    /// Returns a branch with which a branch of this name cannot exist, in the clone or where branches are pushed: git stores
    /// branches as files, and many disks ignore the case of their names. A branch that exists in the clone is in conflict
    /// with none there.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn conflicting_branch(
        &self,
        directory: &Path,
        branch: &BranchName,
    ) -> Result<Option<String>, GitError> {
        let (heads, pushed) = ("refs/heads/".to_owned(), self.remotes(directory).await?.pushed_ref(""));
        let args = ["for-each-ref", "--format=%(refname)", &heads, &pushed];
        let refs = self.text(directory, &args, time::LOCAL).await?;
        let exists = refs.lines().any(|name| name.strip_prefix(&heads) == Some(branch.as_str()));
        let mut others = refs.lines().filter_map(|name| match name.strip_prefix(&heads) {
            Some(local) => Some(local).filter(|_| !exists),
            None => name.strip_prefix(&pushed).filter(|remote| *remote != "HEAD"),
        });
        Ok(others.find(|other| is_in_conflict(branch.as_str(), other)).map(str::to_owned))
    }
}

/// Returns whether git cannot store both branches on every disk: one is the directory of the other one, or they differ only
/// in case, in the name of a directory too.
fn is_in_conflict(branch: &str, other: &str) -> bool {
    let (mut own, mut others) = (branch.split('/'), other.split('/'));
    loop {
        match (own.next(), others.next()) {
            (Some(part), Some(other)) if part == other => {}
            (Some(part), Some(other)) => return part.eq_ignore_ascii_case(other),
            (None, None) => return false,
            _ => return true,
        }
    }
}

/// Returns whether a branch has the name of one that a loop created: `orchestrator/<key>`, or `orchestrator-<key>` in a
/// repository with a branch `orchestrator`.
#[must_use]
pub fn is_loop_branch(name: &str) -> bool {
    name.strip_prefix(LOOP_NAMESPACE).is_some_and(|rest| rest.starts_with(['/', '-']))
}

/// Returns whether a full ref is a branch that a loop created, in the clone or at a remote. A commit that is reachable
/// only from these is not considered safe.
fn is_of_loop(name: &str) -> bool {
    let remote = name.strip_prefix("refs/remotes/").and_then(|rest| rest.split_once('/'));
    let branch = name.strip_prefix("refs/heads/").or(remote.map(|(_, branch)| branch));
    branch.is_some_and(is_loop_branch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn branches_conflict_as_directories_and_in_their_case() {
        for other in ["feature", "Feature", "feature/SHOP-7/x", "feature/shop-7", "FEATURE/x"] {
            assert!(is_in_conflict("feature/SHOP-7", other), "{other}");
        }
        for other in ["feature/SHOP-7", "feature/SHOP-70", "feature-SHOP-7", "main", "feat/SHOP-7"] {
            assert!(!is_in_conflict("feature/SHOP-7", other), "{other}");
        }
    }
}
