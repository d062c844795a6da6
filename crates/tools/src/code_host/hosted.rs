//! Whether the code host has a repository and a branch, for the user's account.

use loopgate_api::ids::{BranchName, RepoFullName};

use super::{CodeHost, CodeHostError};

impl CodeHost {
    /// Returns the default branch of a repository.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the repository does not exist or the account has no access to it.
    pub async fn default_branch(&self, repository: &RepoFullName) -> Result<String, CodeHostError> {
        let path = format!("repos/{repository}");
        let output = self.query(&["api", &path, "--jq", ".default_branch"]).await?;
        Ok(output.stdout_text().trim().to_owned())
    }

    /// Returns whether a repository has a branch.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`] when the host gave no answer.
    pub async fn has_branch(
        &self,
        repository: &RepoFullName,
        branch: &BranchName,
    ) -> Result<bool, CodeHostError> {
        let path = format!("repos/{repository}/branches/{branch}");
        match self.query(&["api", &path, "--jq", ".name"]).await {
            Ok(_) => Ok(true),
            Err(error) if error.is_not_found() => Ok(false),
            Err(error) => Err(error),
        }
    }
}
