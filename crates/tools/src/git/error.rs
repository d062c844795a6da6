//! Why a git command did not do what it should.

use std::time::Duration;

use loopgate_api::redact;
use loopgate_home::RepositoryError;
use thiserror::Error;

use crate::process::{Output, RunStatus, StartError};

/// A git command that failed. Its text is safe to show: credentials and colours are gone.
#[derive(Debug, Error)]
pub enum GitError {
    /// Git itself could not be started.
    #[error("{source}")]
    Start {
        /// The arguments, joined by spaces, and that they failed.
        command: String,
        /// Why.
        source: StartError,
    },
    /// Git, or a hook that it ran, took longer than it may and was ended.
    #[error("git {command} took longer than {} seconds and was ended", limit.as_secs())]
    TimedOut {
        /// The sub-command.
        command: String,
        /// How long it may take.
        limit: Duration,
        /// What it had printed until then; raw.
        printed: String,
    },
    /// Git printed more than it may.
    #[error("git {command} printed too much")]
    TooMuchOutput {
        /// The sub-command.
        command: String,
    },
    /// Git said no.
    #[error("{}", redact::message(said(command, stdout, stderr)))]
    Failed {
        /// The arguments, joined by spaces, and that they failed.
        command: String,
        /// Its exit code; 1 when a signal ended it.
        code: i32,
        /// What it printed.
        stdout: String,
        /// What it complained; raw, so sanitize before showing it.
        stderr: String,
    },
    /// There is no repository that git may be started in.
    #[error("fatal: {0}")]
    Repository(RepositoryError),
    /// There is no branch to do it with.
    #[error("HEAD is not on a branch; check one out first")]
    Detached,
    /// Git answered something that is no answer to the question.
    #[error("git {0} gave an answer that cannot be read")]
    Unreadable(&'static str),
}

fn named(args: &[&str]) -> String {
    format!("git {} failed", args.join(" "))
}

fn said<'a>(command: &'a str, stdout: &'a str, stderr: &'a str) -> &'a str {
    [stderr, stdout].into_iter().map(str::trim).find(|text| !text.is_empty()).unwrap_or(command)
}

impl GitError {
    pub(super) fn failed(args: &[&str], output: &Output) -> Self {
        Self::Failed {
            command: named(args),
            code: output.status.code().unwrap_or(1),
            stdout: output.stdout_text().into_owned(),
            stderr: output.stderr_text().into_owned(),
        }
    }

    pub(super) fn not_started(args: &[&str], source: StartError) -> Self {
        Self::Start { command: named(args), source }
    }

    pub(super) fn check_limits(args: &[&str], output: Output, limit: Duration) -> Result<Output, Self> {
        let command = || args.first().copied().unwrap_or_default().to_owned();
        match output.status {
            RunStatus::TimedOut => {
                let (stdout, stderr) = (output.stdout_text(), output.stderr_text());
                let printed = said("", &stdout, &stderr).trim().to_owned();
                Err(Self::TimedOut { command: command(), limit, printed })
            }
            RunStatus::OutputTooLarge => Err(Self::TooMuchOutput { command: command() }),
            RunStatus::Exited(_) | RunStatus::Signalled(_) => Ok(output),
        }
    }

    /// Standard error, else standard output, of a command that said no; raw.
    #[must_use]
    pub fn printed(&self) -> Option<&str> {
        match self {
            Self::Failed { command, stdout, stderr, .. } => Some(said(command, stdout, stderr)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_text_has_no_secrets() {
        let output = Output {
            status: RunStatus::Exited(128),
            stdout: Vec::new(),
            stderr: b"fatal: https://user:hunter2@host/x.git not found\n".to_vec(),
        };
        let error = GitError::failed(&["fetch", "origin"], &output);
        assert_eq!(error.to_string(), "fatal: https://***@host/x.git not found");
        let silent = Output { stderr: Vec::new(), ..output };
        assert_eq!(GitError::failed(&["commit"], &silent).to_string(), "git commit failed");
    }
}
