//! Opening a pull request for the branch that is checked out: send it, ask for it, find its number.

use std::path::Path;

use loopgate_api::ids::RepoFullName;
use thiserror::Error;

use super::error::NO_COMMITS;
use super::pull_request::named_in;
use super::{CodeHost, CodeHostError, PullRequest, explain, time};
use crate::git::{self, Git, GitError};

const DETACHED: &str = "Cannot create a PR from a detached HEAD";

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Proposal {
    /// Title.
    pub title: String,
    /// Markdown.
    pub body: String,
}

/// The pull request that a branch has now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenResult {
    /// Which one it is, when the host named it.
    pub pull: Option<PullRequest>,
    /// It was there before.
    pub existed: bool,
}

/// Why there is none.
#[derive(Debug, Error)]
pub enum OpenPullRequestError {
    /// No branch is checked out.
    #[error("{}", DETACHED)]
    Detached,
    /// The branch is the one that work goes into.
    #[error("{}", NO_COMMITS)]
    DefaultBranch,
    /// The branch could not be looked at or sent.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The code host said no.
    #[error(transparent)]
    CodeHost(#[from] CodeHostError),
    /// The work broke off.
    #[error("interrupted")]
    Interrupted,
}

impl OpenPullRequestError {
    /// One of a few known sentences for people.
    #[must_use]
    pub fn sentence(&self) -> &'static str {
        match self {
            Self::Detached => DETACHED,
            Self::DefaultBranch => NO_COMMITS,
            Self::CodeHost(error) => error.sentence(),
            Self::Git(GitError::TimedOut { .. }) => CodeHostError::TimedOut.sentence(),
            Self::Git(GitError::Failed { stdout, stderr, .. }) => {
                explain(if stderr.trim().is_empty() { stdout } else { stderr })
            }
            Self::Git(GitError::Repository(error)) => explain(&error.to_string()),
            Self::Git(_) | Self::Interrupted => CodeHostError::Unreadable.sentence(),
        }
    }
}

impl CodeHost {
    /// Sends the branch that is checked out to `origin` and opens a pull request for it. Runs to
    /// its end even when the caller goes away.
    ///
    /// # Errors
    /// [`OpenPullRequestError`]
    pub async fn open_pull_request(
        &self,
        git: &Git,
        directory: &Path,
        repository: Option<RepoFullName>,
        proposal: Proposal,
    ) -> Result<OpenResult, OpenPullRequestError> {
        let (host, git, directory) = (self.clone(), git.clone(), directory.to_owned());
        let work =
            tokio::spawn(async move { host.open(&git, &directory, repository.as_ref(), proposal).await });
        work.await.unwrap_or(Err(OpenPullRequestError::Interrupted))
    }

    async fn open(
        &self,
        git: &Git,
        directory: &Path,
        repository: Option<&RepoFullName>,
        proposal: Proposal,
    ) -> Result<OpenResult, OpenPullRequestError> {
        let branch = git.current_branch(directory).await?.ok_or(OpenPullRequestError::Detached)?;
        if default_branch(git, directory).await.as_ref() == Some(&branch) {
            return Err(OpenPullRequestError::DefaultBranch);
        }
        let refspec = format!("refs/heads/{branch}:refs/heads/{branch}");
        git.change(directory, &["push", "-u", "origin", &refspec], git::time::ASKED_FOR).await?;
        let mut args =
            vec!["pr", "create", "--head", &branch, "--title", &proposal.title, "--body-file", "-"];
        args.extend(repository.iter().flat_map(|name| ["-R", name.as_str()]));
        match self.run_with_input(directory, &args, proposal.body.into_bytes()).await {
            Ok(printed) => Ok(self.created(directory, &printed).await),
            Err(error) => match self.existing(directory, &error).await {
                Some(opened) => Ok(opened),
                None => Err(error.into()),
            },
        }
    }

    async fn created(&self, directory: &Path, printed: &str) -> OpenResult {
        let pull = match named_in(printed).next() {
            Some(named) => Some(named),
            None => self.view_own(directory).await.ok(),
        };
        OpenResult { pull, existed: false }
    }

    /// The pull request that a refusal speaks of.
    async fn existing(&self, directory: &Path, refusal: &CodeHostError) -> Option<OpenResult> {
        let CodeHostError::Failed { printed, .. } = refusal else { return None };
        if !printed.to_lowercase().contains("already exists") {
            return None;
        }
        let pull = self.view_own(directory).await.ok()?;
        Some(OpenResult { pull: Some(pull), existed: true })
    }

    /// The pull request of the branch that is checked out.
    async fn view_own(&self, directory: &Path) -> Result<PullRequest, CodeHostError> {
        let output = self.output(directory, &["pr", "view", "--json", "url,number"], time::READ).await?;
        if !output.status.success() {
            return Err(CodeHostError::failed(&output));
        }
        serde_json::from_slice(&output.stdout).map_err(|_| CodeHostError::Unreadable)
    }
}

/// The branch that work goes into, as the clone remembers it, else as `origin` tells.
async fn default_branch(git: &Git, directory: &Path) -> Option<String> {
    match git.default_branch(directory).await {
        Ok(Some(known)) => Some(known),
        _ => git.ask_default_branch(directory).await.ok().flatten(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_errors_have_the_messages_of_the_code_host() {
        let failed = |stderr: &str| {
            let (command, stdout) = ("git push failed".to_owned(), String::new());
            OpenPullRequestError::from(GitError::Failed {
                command,
                code: 128,
                stdout,
                stderr: stderr.to_owned(),
            })
        };
        assert_eq!(failed("fatal: not a git repository").sentence(), "Not a git repository.");
        assert!(failed("fatal: Could not resolve host: github.com").sentence().starts_with("Network"));
        assert!(failed("! [rejected] main -> main").sentence().starts_with("Failed to complete"));
    }
}
