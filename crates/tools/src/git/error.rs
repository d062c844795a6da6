//! Why a git command did not do what it should.

use loopgate_api::redact;
use thiserror::Error;

use crate::process::{Output, StartError, Status};

/// A git command that failed. Its text is safe to show: credentials and colours are gone.
#[derive(Debug, Error)]
pub enum GitError {
    /// Git itself could not be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// Git took longer than it may.
    #[error("git {command} took too long")]
    TimedOut {
        /// The sub-command.
        command: String,
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
        /// The arguments, joined by spaces.
        command: String,
        /// Its exit code; 1 when a signal ended it.
        code: i32,
        /// What it printed.
        stdout: String,
        /// What it complained; raw, so sanitize before showing it.
        stderr: String,
    },
    /// Git answered something that is no answer to the question.
    #[error("git {0} gave an answer that cannot be read")]
    Unreadable(&'static str),
}

fn said<'a>(command: &'a str, stdout: &'a str, stderr: &'a str) -> &'a str {
    [stderr, stdout].into_iter().map(str::trim).find(|text| !text.is_empty()).unwrap_or(command)
}

impl GitError {
    pub(super) fn failed(args: &[&str], output: &Output) -> Self {
        Self::Failed {
            command: format!("git {} failed", args.join(" ")),
            code: output.status.code().unwrap_or(1),
            stdout: output.stdout_text().into_owned(),
            stderr: output.stderr_text().into_owned(),
        }
    }

    pub(super) fn check_limits(args: &[&str], output: Output) -> Result<Output, Self> {
        let command = || args.first().copied().unwrap_or_default().to_owned();
        match output.status {
            Status::TimedOut => Err(Self::TimedOut { command: command() }),
            Status::OutputTooLarge => Err(Self::TooMuchOutput { command: command() }),
            Status::Exited(_) | Status::Signalled(_) => Ok(output),
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
    fn what_is_shown_holds_no_secret() {
        let output = Output {
            status: Status::Exited(128),
            stdout: Vec::new(),
            stderr: b"fatal: https://user:hunter2@host/x.git not found\n".to_vec(),
        };
        let error = GitError::failed(&["fetch", "origin"], &output);
        assert_eq!(error.to_string(), "fatal: https://[REDACTED]@host/x.git not found");
        let silent = Output { stderr: Vec::new(), ..output };
        assert_eq!(GitError::failed(&["commit"], &silent).to_string(), "git commit failed");
    }
}
