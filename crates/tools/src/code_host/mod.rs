//! The code host's command line: cloning, pull requests, being logged in.
//!
//! Runs the user's program without a shell, without a terminal, and without a way to ask anything.
//! What it prints is sanitized before anybody sees it. Decides nothing about loops.

mod clone;
mod error;
mod pull_request;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use loopgate_home::Program;

pub use clone::CloneError;
pub use error::{CodeHostError, explain};
pub use pull_request::{NewPullRequest, PullRequest, parse_pull_request};

use crate::process::{Command, Limits, Output};
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
}

/// Bytes that a command may print.
const OUTPUT_CAP: usize = 10 * 1024 * 1024;

/// Whether the user is logged in at the code host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AuthStatus {
    /// Logged in.
    pub logged_in: bool,
    /// What the program says about it, sanitized.
    pub detail: String,
}

/// The user's code host program.
#[derive(Debug, Clone)]
pub struct CodeHost {
    programs: Arc<Programs>,
}

impl CodeHost {
    /// The program as the settings and the login shell's PATH name it.
    #[must_use]
    pub fn new(programs: Arc<Programs>) -> Self {
        Self { programs }
    }

    /// A command that can be given more before it runs.
    pub async fn command(&self) -> Command {
        let command = self.programs.command(Program::CodeHost).await.session();
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
        let command = self.command().await.directory(directory).args(args);
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
        let command = self.command().await.directory(directory).args(args);
        let output = CodeHostError::check_limits(command.run_undisturbed(limits(within)).await?)?;
        if output.status.success() { Ok(output) } else { Err(CodeHostError::failed(&output)) }
    }

    /// Asks whether the user is logged in.
    ///
    /// # Errors
    /// [`CodeHostError`] when the program cannot tell.
    pub async fn auth_status(&self) -> Result<AuthStatus, CodeHostError> {
        let command = self.command().await.args(["auth", "status"]);
        let output = CodeHostError::check_limits(command.run(limits(time::VIEW)).await?)?;
        let detail = CodeHostError::failed(&output).to_string();
        Ok(AuthStatus { logged_in: output.status.success(), detail })
    }
}

const fn limits(within: Duration) -> Limits {
    Limits::time(within).output(OUTPUT_CAP)
}
