//! The remote `origin`: where it is, what is new there, sending a branch there.

use std::path::Path;
use std::time::Duration;

use loopgate_api::ids::{BranchName, RepoFullName};

use super::{Git, GitError, time};

impl Git {
    /// The URL of `origin`, with credentials if it has any; `None` when there is no such remote.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn remote_url(&self, directory: &Path) -> Result<Option<String>, GitError> {
        // The configured URL, not the one after `insteadOf`: it is the one that names the repository.
        let args = ["config", "--get", "remote.origin.url"];
        let output = self.output(directory, &args, time::LOCAL).await?;
        match output.status.code() {
            Some(0) => Ok(Some(output.stdout_text().trim().to_owned())),
            Some(1) => Ok(None),
            _ => Err(GitError::failed(&args, &output)),
        }
    }

    /// The repository that `origin` names.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn full_name(&self, directory: &Path) -> Result<Option<RepoFullName>, GitError> {
        Ok(self.remote_url(directory).await?.as_deref().and_then(RepoFullName::from_remote_url))
    }

    /// Gets what is new at `origin`.
    ///
    /// # Errors
    /// [`GitError`], for example without a network.
    pub async fn fetch(&self, directory: &Path) -> Result<(), GitError> {
        self.change(directory, &["fetch", "origin"], time::FETCH).await.map(drop)
    }

    /// Sends a branch to `origin` and makes it the branch's upstream.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn push(
        &self,
        directory: &Path,
        branch: &BranchName,
        within: Duration,
    ) -> Result<(), GitError> {
        let name = format!("refs/heads/{branch}");
        let refspec = format!("{name}:{name}");
        self.change(directory, &["push", "-u", "origin", &refspec], within).await.map(drop)
    }

    /// Whether a branch of `origin` holds the commit that is checked out, as `origin` says now.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn is_pushed(&self, directory: &Path, branch: &BranchName) -> Result<bool, GitError> {
        let tracked = format!("refs/remotes/origin/{branch}");
        let refspec = format!("+refs/heads/{branch}:{tracked}");
        self.change(directory, &["fetch", "origin", &refspec], time::FETCH).await?;
        self.says_yes(directory, &["merge-base", "--is-ancestor", "HEAD", &tracked]).await
    }

    /// The branch from which work in a clone starts when nobody names one: the default branch of
    /// `origin` as the clone remembers it, else as `origin` says now, else the branch that is checked out.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn usual_base(&self, directory: &Path) -> Result<Option<String>, GitError> {
        if let Some(known) = self.default_branch(directory).await? {
            return Ok(Some(known));
        }
        match self.ask_default_branch(directory).await {
            Ok(Some(told)) => Ok(Some(told)),
            Ok(None) | Err(_) => self.current_branch(directory).await,
        }
    }

    /// Asks `origin` which branch is its default, and remembers the answer in the clone.
    ///
    /// # Errors
    /// [`GitError`]
    pub async fn ask_default_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        self.change(directory, &["remote", "set-head", "origin", "--auto"], time::FETCH).await?;
        self.default_branch(directory).await
    }
}
