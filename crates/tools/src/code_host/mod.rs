//! The code host's program (`gh`): clones, pull requests, comments, the signed-in user.
//!
//! Runs the user's program without a shell, without a terminal, and with prompts disabled. Its output is
//! redacted before it is shown. Contains no logic of loops.

mod api;
mod clone;
mod comment;
mod comments;
mod error;
mod files;
mod graphql;
mod hosted;
mod list;
mod merge;
mod name;
mod new_review;
mod open;
mod permission;
mod pull_request;
mod review_threads;
mod reviews;
mod standing;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::RepoFullName;
use loopgate_home::{Program, Remotes, RepositoryError};

pub use api::{ApiRequest, CodeHostApiError, RateLimitWait};
pub use clone::CloneError;
pub use comment::{CommentResult, CommentTarget, InlineComment, PostedComment, PullRequestReply};
pub use comments::{Comment, CommentKind, Discussion};
pub use error::{CodeHostError, explain};
pub use files::{ChangedFile, parse_files};
pub use graphql::GraphQlError;
pub use list::{ListState, MAX_LISTED, PullRequestSummary};
pub use merge::{DisplayedPull, PullChangeError};
pub use name::{PullNumber, origin_at_code_host};
pub use new_review::{NewReview, NewReviewComment};
pub use open::{OpenPullRequestError, OpenResult, Proposal};
pub use pull_request::{NewPullRequest, PullRequest, parse_pull_request};
pub use review_threads::{OwnReviews, OwnThread, PullRequestPatch, ReviewPlacement};
pub use reviews::{ReviewerVerdict, ReviewerVerdicts};

use crate::git::{Git, GitError};
use crate::process::{Command, Limits, Output, Stdin};
use crate::programs::Programs;

/// Timeouts of commands, by kind.
pub mod time {
    use std::time::Duration;

    /// Cloning a complete repository.
    pub const CLONE: Duration = Duration::from_secs(120);
    /// Reading a pull request or the signed-in user.
    pub const VIEW: Duration = Duration::from_secs(15);
    /// Creating a pull request for a loop.
    pub const CREATE: Duration = Duration::from_secs(30);
    /// Changing a pull request for a loop.
    pub const EDIT: Duration = Duration::from_secs(15);
    /// A query that the user waits for.
    pub const READ: Duration = Duration::from_secs(30);
    /// A pull request, comment or review that the user posts.
    pub const WRITE: Duration = Duration::from_secs(60);
}

/// Output cap of a command, in bytes.
const OUTPUT_CAP: usize = 16 * 1024 * 1024;

/// Removed from the environment, because they change the program's output or its target repository.
const REMOVED_VARIABLES: [&str; 5] = ["GH_FORCE_TTY", "GH_DEBUG", "DEBUG", "CLICOLOR_FORCE", "GH_REPO"];

/// The user's code host program. Clones share the query limiter and the cache of standings.
#[derive(Debug, Clone)]
pub struct CodeHost {
    programs: Arc<Programs>,
    git: Git,
    /// Limits concurrent GraphQL queries.
    limiter: Arc<graphql::QueryLimiter>,
    standings: standing::StandingCache,
}

impl CodeHost {
    /// Creates a handle that uses the configured program, or the first one on the login shell's PATH. `git`
    /// resolves clones.
    #[must_use]
    pub fn new(programs: Arc<Programs>, git: Git) -> Self {
        Self { programs, git, limiter: Arc::default(), standings: standing::cache() }
    }

    /// Creates a command without arguments, with prompts and colors disabled.
    pub async fn command(&self) -> Command {
        let mut command = self.programs.command(Program::CodeHost).await.session();
        for name in REMOVED_VARIABLES {
            command = command.env_remove(name);
        }
        command
            .env("GH_PROMPT_DISABLED", "1")
            .env("GH_NO_UPDATE_NOTIFIER", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "")
            .env("SSH_ASKPASS", "")
            .env("SSH_ASKPASS_REQUIRE", "never")
            .env("GCM_INTERACTIVE", "never")
            .env("NO_COLOR", "1")
            .env("LC_ALL", "C")
    }

    /// Returns the options that select the base repository of a clone. Without them the program chooses among the
    /// remotes by their names.
    async fn base_options(&self, directory: &Path) -> Result<Vec<String>, CodeHostError> {
        let remotes = self.remotes(directory).await?;
        Ok(remotes.base_repository.iter().flat_map(|base| ["-R".to_owned(), base.to_string()]).collect())
    }

    async fn remotes(&self, directory: &Path) -> Result<Remotes, CodeHostError> {
        match self.git.remotes(directory).await {
            // The program itself reports that there is no repository.
            Err(GitError::Repository(RepositoryError::None)) => Ok(Remotes::of(&[])),
            remotes => Ok(remotes?),
        }
    }

    /// Creates a command in a clone. The git that the program starts is restricted as our own.
    async fn command_in(&self, directory: &Path) -> Result<Command, CodeHostError> {
        Ok(self.git.restrict(self.command().await, directory).await?)
    }

    /// Runs a reading command in a clone. An exit code other than 0 is not an error.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`] when the program did not start, or exceeded its time limit or output cap.
    pub async fn output(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, CodeHostError> {
        let command = self.command_in(directory).await?.args(args);
        CodeHostError::check_limits(command.run(limits(within)).await?)
    }

    /// Runs a writing command, to completion even when the future is dropped.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also for an exit code other than 0.
    pub async fn change(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, CodeHostError> {
        let command = self.command_in(directory).await?.args(args);
        succeeded(command.run_to_completion(limits(within)).await?)
    }

    /// Runs a reading command outside of any clone.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also for an exit code other than 0.
    async fn query(&self, args: &[&str]) -> Result<Output, CodeHostError> {
        succeeded(self.command().await.args(args).run(limits(time::READ)).await?)
    }

    /// Runs a command that posts a text in the user's name, with the text as standard input and to completion
    /// even when the future is dropped. Returns its output without surrounding whitespace.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], also for an exit code other than 0.
    async fn run_with_input(
        &self,
        directory: &Path,
        args: &[&str],
        text: Vec<u8>,
    ) -> Result<String, CodeHostError> {
        let output = self.change_with(directory, args, text, time::WRITE).await?;
        Ok(output.stdout_text().trim().to_owned())
    }

    /// As [`CodeHost::change`], with a text as standard input.
    async fn change_with(
        &self,
        directory: &Path,
        args: &[&str],
        text: Vec<u8>,
        within: Duration,
    ) -> Result<Output, CodeHostError> {
        let command = self.command_in(directory).await?.args(args).stdin(Stdin::Bytes(text));
        succeeded(command.run_to_completion(limits(within)).await?)
    }

    /// Returns the login of the signed-in user; `None` when the program prints none.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when no user is signed in.
    pub async fn login(&self) -> Result<Option<String>, CodeHostError> {
        let output = self.query(&["api", "user", "--jq", ".login"]).await?;
        let login = output.stdout_text().trim().to_owned();
        Ok((!login.is_empty()).then_some(login))
    }

    /// Returns the full hash of a pull request's head commit; `None` when the program prints none.
    ///
    /// # Errors
    /// Fails with [`CodeHostError`], for example when the pull request does not exist.
    pub async fn head_sha(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<Option<String>, CodeHostError> {
        let path = format!("repos/{repository}/pulls/{number}");
        let output = self.query(&["api", &path, "--jq", ".head.sha"]).await?;
        let hash = output.stdout_text().trim().to_owned();
        Ok((!hash.is_empty() && hash.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(hash))
    }
}

fn succeeded(output: Output) -> Result<Output, CodeHostError> {
    let output = CodeHostError::check_limits(output)?;
    if output.status.success() { Ok(output) } else { Err(CodeHostError::failed(&output)) }
}

const fn limits(within: Duration) -> Limits {
    Limits::time(within).output(OUTPUT_CAP)
}
