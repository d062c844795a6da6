//! The code host's command line: cloning, pull requests, being logged in.
//!
//! Runs the user's program without a shell, without a terminal, and without a way to ask anything.
//! What it prints is sanitized before anybody sees it. Decides nothing about loops.

mod clone;
mod comment;
mod comments;
mod error;
mod files;
mod graphql;
mod list;
mod name;
mod open;
mod pull_request;
mod reviews;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopgate_api::ids::RepoFullName;
use loopgate_home::Program;

pub use clone::CloneError;
pub use comment::{CommentResult, CommentTarget, InlineComment, PostedComment, PullRequestReply};
pub use comments::{Comment, CommentKind, Discussion};
pub use error::{CodeHostError, explain};
pub use files::{ChangedFile, parse_files};
pub use graphql::GraphQlError;
pub use list::{ListState, MAX_LISTED, PullRequestSummary};
pub use name::{PullNumber, origin_at_code_host};
pub use open::{OpenPullRequestError, OpenResult, Proposal};
pub use pull_request::{NewPullRequest, PullRequest, parse_pull_request};
pub use reviews::{ReviewerVerdict, ReviewerVerdicts};

use crate::git::Git;
use crate::process::{Command, Limits, Output, Stdin};
use crate::programs::Programs;

/// How long each kind of command may take.
pub mod time {
    use std::time::Duration;

    /// Getting a whole repository.
    pub const CLONE: Duration = Duration::from_secs(120);
    /// Looking at a pull request, and being asked who is logged in.
    pub const VIEW: Duration = Duration::from_secs(15);
    /// Making a pull request.
    pub const CREATE: Duration = Duration::from_secs(30);
    /// Changing a pull request.
    pub const EDIT: Duration = Duration::from_secs(15);
    /// A question that a person asks.
    pub const READ: Duration = Duration::from_secs(30);
    /// A pull request, comment or review that a person asks for.
    pub const WRITE: Duration = Duration::from_secs(60);
}

/// Bytes that a command may print.
const OUTPUT_CAP: usize = 16 * 1024 * 1024;

/// Variables of the own environment that would change what the program prints.
const MISLEADING: [&str; 5] = ["GH_FORCE_TTY", "GH_DEBUG", "DEBUG", "CLICOLOR_FORCE", "GH_REPO"];

/// The user's code host program. Clones share its turns.
#[derive(Debug, Clone)]
pub struct CodeHost {
    programs: Arc<Programs>,
    git: Git,
    /// Who may ask the graph, and when not.
    turns: Arc<graphql::QueryLimiter>,
}

impl CodeHost {
    /// The program as the settings and the login shell's PATH name it, and the git that tells it about
    /// clones.
    #[must_use]
    pub fn new(programs: Arc<Programs>, git: Git) -> Self {
        Self { programs, git, turns: Arc::default() }
    }

    /// A command that can be given more before it runs.
    pub async fn command(&self) -> Command {
        let mut command = self.programs.command(Program::CodeHost).await.session();
        for name in MISLEADING {
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

    /// A command in a clone. The git that it starts looks where ours would.
    async fn command_in(&self, directory: &Path) -> Result<Command, CodeHostError> {
        Ok(self.git.within(self.command().await, directory).await?)
    }

    /// Runs a command that only reads, in the clone it is about; any exit code is an answer.
    ///
    /// # Errors
    /// [`CodeHostError`] when it did not start, took too long or printed too much.
    pub async fn output(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, CodeHostError> {
        let command = self.command_in(directory).await?.args(args);
        CodeHostError::check_limits(command.run(limits(within)).await?)
    }

    /// Runs a command that changes something: to its end, even when the caller goes away.
    ///
    /// # Errors
    /// [`CodeHostError`], also for an exit code other than 0.
    pub async fn change(
        &self,
        directory: &Path,
        args: &[&str],
        within: Duration,
    ) -> Result<Output, CodeHostError> {
        let command = self.command_in(directory).await?.args(args);
        succeeded(command.run_undisturbed(limits(within)).await?)
    }

    /// Runs a command that only reads and belongs to no clone; answers what it printed.
    ///
    /// # Errors
    /// [`CodeHostError`], also for an exit code other than 0.
    async fn ask(&self, args: &[&str]) -> Result<Output, CodeHostError> {
        succeeded(self.command().await.args(args).run(limits(time::READ)).await?)
    }

    /// Runs a command that says something in the user's name, with its text as standard input: to
    /// its end, even when the caller goes away. Answers what it printed, trimmed.
    ///
    /// # Errors
    /// [`CodeHostError`], also for an exit code other than 0.
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
        succeeded(command.run_undisturbed(limits(within)).await?)
    }

    /// Login of the user; `None` when the program reports none.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn login(&self) -> Result<Option<String>, CodeHostError> {
        let output = self.ask(&["api", "user", "--jq", ".login"]).await?;
        let login = output.stdout_text().trim().to_owned();
        Ok((!login.is_empty()).then_some(login))
    }

    /// Hash of a pull request's last commit; `None` when the program names none.
    ///
    /// # Errors
    /// [`CodeHostError`]
    pub async fn head_sha(
        &self,
        repository: &RepoFullName,
        number: PullNumber,
    ) -> Result<Option<String>, CodeHostError> {
        let path = format!("repos/{repository}/pulls/{number}");
        let output = self.ask(&["api", &path, "--jq", ".head.sha"]).await?;
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
