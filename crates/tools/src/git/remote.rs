//! Operations on the remotes of a clone: their names and URLs, fetch, push, and the default branch.
//!
//! Base branches belong to the base repository, and the branches of work to the one that is pushed to. Both are usually
//! `origin`; see [`Remotes`].

use std::path::Path;
use std::time::Duration;

use loopgate_api::ids::{BranchName, RepoFullName};
use loopgate_home::Remotes;

use super::{DropPolicy, Git, GitError, time};

/// Message of git for a ref that the remote does not have.
const NO_REMOTE_REF: &str = "couldn't find remote ref";

impl Git {
    /// Returns the remotes of a clone by purpose.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example outside a repository.
    pub async fn remotes(&self, directory: &Path) -> Result<Remotes, GitError> {
        let repository = self.repository(directory).await?;
        // `remote.pushDefault` is often set for all clones of the user.
        let variables = self.effective_config(&repository).await?;
        let entries: Vec<_> = variables.into_iter().map(|variable| variable.entry).collect();
        Ok(Remotes::of(&entries))
    }

    /// Returns the URL of the base repository's remote, including credentials; `None` when there is no such remote.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn remote_url(&self, directory: &Path) -> Result<Option<String>, GitError> {
        // `git remote get-url` would apply `insteadOf`. The configured URL is the one that names the
        // repository.
        Ok(self.remotes(directory).await?.base_url)
    }

    /// Returns the repository that the clone was created from.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn full_name(&self, directory: &Path) -> Result<Option<RepoFullName>, GitError> {
        Ok(self.remotes(directory).await?.clone_repository)
    }

    /// Fetches what the clone follows of the base repository, and of the one that is pushed to.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when a remote cannot be reached.
    pub async fn fetch(&self, directory: &Path) -> Result<(), GitError> {
        let Remotes { base, push, .. } = self.remotes(directory).await?;
        let (one, both) = (["fetch", &base], ["fetch", "--multiple", &base, &push]);
        let args: &[&str] = if base == push { &one } else { &both };
        self.change(directory, args, time::FETCH).await.map(drop)
    }

    /// Fetches a branch of the base repository by its name, because a single-branch clone does not follow it. Returns
    /// `false` when the remote has no such branch.
    ///
    /// # Errors
    /// Fails with [`GitError`] when the remote gave no answer.
    pub async fn fetch_base(&self, directory: &Path, branch: &BranchName) -> Result<bool, GitError> {
        let remotes = self.remotes(directory).await?;
        let tracked = remotes.base_ref(branch.as_str());
        self.fetch_branch(directory, &remotes.base, branch, &tracked).await
    }

    /// Fetches a pushed branch by its name. Returns `false` when the remote has no such branch.
    ///
    /// # Errors
    /// Fails with [`GitError`] when the remote gave no answer.
    pub async fn fetch_pushed(&self, directory: &Path, branch: &BranchName) -> Result<bool, GitError> {
        let remotes = self.remotes(directory).await?;
        let tracked = remotes.pushed_ref(branch.as_str());
        self.fetch_branch(directory, remotes.push_source(), branch, &tracked).await
    }

    async fn fetch_branch(
        &self,
        directory: &Path,
        remote: &str,
        branch: &BranchName,
        tracked: &str,
    ) -> Result<bool, GitError> {
        let refspec = format!("+refs/heads/{branch}:{tracked}");
        match self.change(directory, &["fetch", remote, &refspec], time::FETCH).await {
            Ok(_) => Ok(true),
            Err(error) if error.printed().is_some_and(|text| text.to_lowercase().contains(NO_REMOTE_REF)) => {
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Pushes a branch and sets its upstream. Dropping the future ends the push; it may have reached the remote by then.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote rejects the push.
    pub async fn push(
        &self,
        directory: &Path,
        branch: &BranchName,
        within: Duration,
    ) -> Result<(), GitError> {
        let push = self.remotes(directory).await?.push;
        let name = format!("refs/heads/{branch}");
        let refspec = format!("{name}:{name}");
        let args = ["push", "-u", &push, &refspec];
        self.change_with(directory, &args, within, DropPolicy::Interrupt).await.map(drop)
    }

    /// Fetches a pushed branch, and returns whether it contains HEAD.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when the remote has no such branch.
    pub async fn is_pushed(&self, directory: &Path, branch: &BranchName) -> Result<bool, GitError> {
        let remotes = self.remotes(directory).await?;
        let tracked = remotes.pushed_ref(branch.as_str());
        let refspec = format!("+refs/heads/{branch}:{tracked}");
        self.change(directory, &["fetch", remotes.push_source(), &refspec], time::FETCH).await?;
        self.run_predicate(directory, &["merge-base", "--is-ancestor", "HEAD", &tracked]).await
    }

    /// Returns the base branch for work that names none: the default branch of the base repository as recorded in the
    /// clone, if the remote still has it; else as reported by the remote, else the current branch.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn default_base(&self, directory: &Path) -> Result<Option<String>, GitError> {
        if let Some(branch) = self.default_branch(directory).await? {
            let is_missing = match branch.parse() {
                Ok(name) => matches!(self.fetch_base(directory, &name).await, Ok(false)),
                Err(_) => false,
            };
            // Offline, the recorded branch is the best that is known.
            if !is_missing {
                return Ok(Some(branch));
            }
        }
        match self.fetch_default_branch(directory).await {
            Ok(Some(branch)) => Ok(Some(branch)),
            // Offline, or the remote is empty: the current branch is a usable base.
            Ok(None) | Err(_) => self.current_branch(directory).await,
        }
    }

    /// Queries the default branch of the base repository, fetches it, and records it in the clone.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote cannot be reached.
    pub async fn fetch_default_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        let base = self.remotes(directory).await?.base;
        let args = ["ls-remote", "--symref", &base, "HEAD"];
        let printed = self.change(directory, &args, time::FETCH).await?;
        let Some(branch) = symbolic_head(&printed.stdout_text()) else { return Ok(None) };
        self.fetch_base(directory, &branch).await?;
        let recorded =
            self.change(directory, &["remote", "set-head", &base, branch.as_str()], time::LOCAL).await;
        if let Err(error) = recorded {
            tracing::debug!(%error, "cannot record the default branch in the clone");
        }
        Ok(Some(branch.to_string()))
    }
}

/// Parses the branch of HEAD in the output of `git ls-remote --symref`.
fn symbolic_head(printed: &str) -> Option<BranchName> {
    let target = printed.lines().find_map(|line| line.strip_prefix("ref: ")?.strip_suffix("\tHEAD"))?;
    target.strip_prefix("refs/heads/")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_branch_is_parsed() {
        let of = |printed: &str| symbolic_head(printed).map(|branch| branch.to_string());
        assert_eq!(of("ref: refs/heads/release/1\tHEAD\n1111\tHEAD\n").as_deref(), Some("release/1"));
        assert_eq!(of("1111\tHEAD\n"), None, "a detached HEAD");
        assert_eq!(of(""), None, "an empty repository");
    }
}
