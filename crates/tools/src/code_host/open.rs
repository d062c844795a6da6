//! Opening a pull request for the current branch: push, create, and determine its number.

use std::path::Path;

use thiserror::Error;

use super::error::NO_COMMITS;
use super::pull_request::pull_requests_in;
use super::{CodeHost, CodeHostError, PullRequest, explain};
use crate::git::{Git, GitError};

const DETACHED: &str = "Cannot create a PR from a detached HEAD";

/// The content of a new pull request.
#[derive(Debug, Clone)]
pub struct Proposal {
    pub title: String,
    /// Text of the pull request in Markdown.
    pub body: String,
}

/// The pull request of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenResult {
    /// URL and number, if the program printed them.
    pub pull: Option<PullRequest>,
    /// Whether the pull request existed before.
    pub existed: bool,
}

/// An error while opening a pull request.
#[derive(Debug, Error)]
pub enum OpenPullRequestError {
    #[error("{}", DETACHED)]
    Detached,
    /// The current branch is the default branch of the repository.
    #[error("{}", NO_COMMITS)]
    DefaultBranch,
    /// A git command, such as the push, failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The code host's program failed.
    #[error(transparent)]
    CodeHost(#[from] CodeHostError),
    /// The task that performs the operation panicked.
    #[error("the operation was interrupted")]
    Interrupted,
}

impl OpenPullRequestError {
    /// Returns a message for the user, chosen by texts in the output.
    #[must_use]
    pub fn user_message(&self) -> &'static str {
        match self {
            Self::Detached => DETACHED,
            Self::DefaultBranch => NO_COMMITS,
            Self::CodeHost(error) => error.user_message(),
            Self::Git(GitError::TimedOut { .. }) => CodeHostError::TimedOut.user_message(),
            Self::Git(GitError::Failed { stdout, stderr, .. }) => {
                explain(if stderr.trim().is_empty() { stdout } else { stderr })
            }
            Self::Git(GitError::Repository(error)) => explain(&error.to_string()),
            Self::Git(_) | Self::Interrupted => CodeHostError::Unreadable.user_message(),
        }
    }
}

impl CodeHost {
    /// Pushes the current branch and opens a pull request for it in the base repository. Runs to completion even when
    /// the future is dropped.
    ///
    /// # Errors
    /// Fails with [`OpenPullRequestError`]. The branch may have been pushed by then.
    pub async fn open_pull_request(
        &self,
        git: &Git,
        directory: &Path,
        proposal: Proposal,
    ) -> Result<OpenResult, OpenPullRequestError> {
        let (host, git, directory) = (self.clone(), git.clone(), directory.to_owned());
        let work = tokio::spawn(async move { host.open(&git, &directory, proposal).await });
        work.await.unwrap_or(Err(OpenPullRequestError::Interrupted))
    }

    async fn open(
        &self,
        git: &Git,
        directory: &Path,
        proposal: Proposal,
    ) -> Result<OpenResult, OpenPullRequestError> {
        let branch = git.current_branch(directory).await?.ok_or(OpenPullRequestError::Detached)?;
        if default_branch(git, directory).await.as_ref() == Some(&branch) {
            return Err(OpenPullRequestError::DefaultBranch);
        }
        git.push_here(directory).await?;
        // With `--head`, the program does not offer to push or fork, which would require a prompt.
        let (head, base) = (git.remotes(directory).await?.head(&branch), self.base_options(directory).await?);
        let mut args = vec!["pr", "create", "--head", &head, "--title", &proposal.title, "--body-file", "-"];
        args.extend(base.iter().map(String::as_str));
        match self.run_with_input(directory, &args, proposal.body.into_bytes()).await {
            Ok(printed) => Ok(self.created(directory, &branch, &printed).await),
            Err(error) => match self.existing(directory, &branch, &error).await {
                Some(opened) => Ok(opened),
                None => Err(error.into()),
            },
        }
    }

    async fn created(&self, directory: &Path, branch: &str, printed: &str) -> OpenResult {
        let pull = match pull_requests_in(printed).next() {
            // The program also succeeds without printing a URL, for example with a wrapper script.
            Some(pull) => Some(pull),
            None => self.find(directory, branch).await,
        };
        OpenResult { pull, existed: false }
    }

    /// Returns the existing pull request if that is why the program failed.
    async fn existing(&self, directory: &Path, branch: &str, error: &CodeHostError) -> Option<OpenResult> {
        let CodeHostError::Failed { printed, .. } = error else { return None };
        if !printed.to_lowercase().contains("already exists") {
            return None;
        }
        let pull = self.find(directory, branch).await?;
        Some(OpenResult { pull: Some(pull), existed: true })
    }

    async fn find(&self, directory: &Path, branch: &str) -> Option<PullRequest> {
        self.open_pull_of(directory, branch).await.ok()?
    }
}

/// Returns the default branch as recorded in the clone, else as reported by the remote.
async fn default_branch(git: &Git, directory: &Path) -> Option<String> {
    match git.default_branch(directory).await {
        Ok(Some(branch)) => Some(branch),
        _ => git.fetch_default_branch(directory).await.ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_errors_are_explained_like_those_of_the_code_host() {
        let failed = |stderr: &str| {
            let (command, stdout) = ("git push failed".to_owned(), String::new());
            OpenPullRequestError::from(GitError::Failed {
                command,
                code: 128,
                stdout,
                stderr: stderr.to_owned(),
            })
        };
        assert_eq!(failed("fatal: not a git repository").user_message(), "Not a git repository.");
        assert!(failed("fatal: Could not resolve host: github.com").user_message().starts_with("Network"));
        assert!(failed("! [rejected] main -> main").user_message().starts_with("Failed to complete"));
    }
}
