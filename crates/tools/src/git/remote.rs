//! Operations on the remote `origin`: its URL, fetch, push, and its default branch.

use std::path::Path;
use std::time::Duration;

use loopgate_api::ids::{BranchName, RepoFullName};

use super::{DropPolicy, Git, GitError, time};

impl Git {
    /// Returns the URL of `origin`, including credentials; `None` when there is no such remote.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn remote_url(&self, directory: &Path) -> Result<Option<String>, GitError> {
        // `git remote get-url` would apply `insteadOf`. The configured URL is the one that names the
        // repository.
        let args = ["config", "--get", "remote.origin.url"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout_text().trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// Returns the repository that the URL of `origin` names.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn full_name(&self, directory: &Path) -> Result<Option<RepoFullName>, GitError> {
        Ok(self.remote_url(directory).await?.as_deref().and_then(RepoFullName::from_remote_url))
    }

    /// Fetches from `origin`.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote cannot be reached.
    pub async fn fetch(&self, directory: &Path) -> Result<(), GitError> {
        self.change(directory, &["fetch", "origin"], time::FETCH).await.map(drop)
    }

    /// Pushes a branch to `origin` and sets its upstream. Dropping the future ends the push; it may have reached the
    /// remote by then.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote rejects the push.
    pub async fn push(
        &self,
        directory: &Path,
        branch: &BranchName,
        within: Duration,
    ) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let refspec = format!("{name}:{name}");
        let args = ["push", "-u", "origin", &refspec];
        self.change_with(directory, &args, within, DropPolicy::Interrupt).await.map(drop)
    }

    /// Fetches a branch of `origin`, and returns whether it contains HEAD.
    ///
    /// # Errors
    /// Fails with [`GitError`], also when `origin` has no such branch.
    pub async fn is_pushed(&self, directory: &Path, branch: &BranchName) -> Result<bool, GitError> {
        let tracked = format!("refs/remotes/origin/{branch}");
        let refspec = format!("+refs/heads/{branch}:{tracked}");
        self.change(directory, &["fetch", "origin", &refspec], time::FETCH).await?;
        self.run_predicate(directory, &["merge-base", "--is-ancestor", "HEAD", &tracked]).await
    }

    /// Returns the base branch for work that names none: the default branch of `origin` as recorded in the
    /// clone, else as reported by `origin`, else the current branch.
    ///
    /// # Errors
    /// Fails with [`GitError`] when git cannot run.
    pub async fn default_base(&self, directory: &Path) -> Result<Option<String>, GitError> {
        if let Some(branch) = self.default_branch(directory).await? {
            return Ok(Some(branch));
        }
        match self.fetch_default_branch(directory).await {
            Ok(Some(branch)) => Ok(Some(branch)),
            // Offline, or `origin` is empty: the current branch is a usable base.
            Ok(None) | Err(_) => self.current_branch(directory).await,
        }
    }

    /// Queries the default branch of `origin` and records it in the clone.
    ///
    /// # Errors
    /// Fails with [`GitError`], for example when the remote cannot be reached.
    pub async fn fetch_default_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        self.change(directory, &["remote", "set-head", "origin", "--auto"], time::FETCH).await?;
        self.default_branch(directory).await
    }
}
