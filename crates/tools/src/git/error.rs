//! The error of a git command.

use std::path::PathBuf;

use loopgate_api::redact;
use loopgate_home::RepositoryError;
use thiserror::Error;

use super::{LfsGap, UnfinishedOperation, UnpublishedSubmodule};
use crate::process::{Limits, Output, ProcessStatus, StartError};

/// An error of a git command. Its `Display` text is safe to show: credentials and escape sequences are
/// removed.
#[derive(Debug, Error)]
pub enum GitError {
    /// Git could not be started.
    #[error("{source}")]
    Start {
        /// The command line, followed by `failed`.
        command: String,
        /// Why the process did not start.
        source: StartError,
    },
    /// Git, or a hook that it ran, exceeded its time limit and was terminated.
    #[error("{}", timed_out(command, *limits, program.as_deref()))]
    TimedOut {
        /// Name of the sub-command.
        command: String,
        /// The limits of the command.
        limits: Limits,
        /// What git printed until then; not redacted.
        printed: String,
        /// Program that git had started last, for example a hook.
        program: Option<String>,
    },
    /// Git exceeded its output cap and was terminated.
    #[error("git {command} exceeded the output limit")]
    TooMuchOutput {
        /// Name of the sub-command.
        command: String,
    },
    /// Git exited with a code other than 0.
    #[error("{}", redact::message(first_output(command, stdout, stderr)))]
    Failed {
        /// The command line, followed by `failed`.
        command: String,
        /// The exit code; 1 when a signal terminated git.
        code: i32,
        /// Standard output; not redacted.
        stdout: String,
        /// Standard error; not redacted.
        stderr: String,
    },
    /// There is no repository, or it must not be used.
    #[error("fatal: {0}")]
    Repository(RepositoryError),
    /// The command requires a current branch, but HEAD is detached.
    #[error("HEAD is not on a branch; check one out first")]
    Detached,
    /// A merge, rebase, cherry-pick or revert has stopped, or files have conflicts.
    #[error("{0}")]
    Unfinished(UnfinishedOperation),
    /// The branch refers to commits of submodules that no remote has.
    #[error("{}", describe_all(.0))]
    UnpublishedSubmodules(Vec<UnpublishedSubmodule>),
    /// The branch refers to content of Git LFS that only this machine has.
    #[error("{0}")]
    LargeFiles(LfsGap),
    /// A submodule with a repository of its own contains work that would be lost with its worktree.
    #[error("its submodule {} contains commits or files that exist nowhere else", .0.display())]
    SubmoduleWork(PathBuf),
    /// The output of this sub-command could not be parsed.
    #[error("the output of git {0} could not be parsed")]
    Unreadable(&'static str),
}

fn timed_out(command: &str, limits: Limits, program: Option<&str>) -> String {
    let seconds = limits.time.as_secs();
    if !limits.idle {
        return format!("git {command} took longer than {seconds} seconds and was terminated");
    }
    let program = program.map(|program| format!(", last in `{program}`")).unwrap_or_default();
    format!(
        "git {command} showed no activity for {seconds} seconds{program}, and was terminated. If it needs more time, raise \
         `git_idle_limit_seconds` in the settings"
    )
}

fn describe_all(submodules: &[UnpublishedSubmodule]) -> String {
    submodules.iter().map(UnpublishedSubmodule::describe).collect::<Vec<_>>().join("; ")
}

fn failed_command(args: &[&str]) -> String {
    format!("git {} failed", args.join(" "))
}

fn first_output<'a>(command: &'a str, stdout: &'a str, stderr: &'a str) -> &'a str {
    [stderr, stdout].into_iter().map(str::trim).find(|text| !text.is_empty()).unwrap_or(command)
}

impl GitError {
    pub(super) fn failed(args: &[&str], output: &Output) -> Self {
        Self::Failed {
            command: failed_command(args),
            code: output.status.code().unwrap_or(1),
            stdout: output.stdout_text().into_owned(),
            stderr: output.stderr_text().into_owned(),
        }
    }

    pub(super) fn not_started(args: &[&str], source: StartError) -> Self {
        Self::Start { command: failed_command(args), source }
    }

    pub(super) fn check_limits(args: &[&str], output: Output, limits: Limits) -> Result<Output, Self> {
        let command = || args.first().copied().unwrap_or_default().to_owned();
        match output.status {
            ProcessStatus::TimedOut => {
                let (stdout, stderr) = (output.stdout_text(), output.stderr_text());
                let printed = first_output("", &stdout, &stderr).trim().to_owned();
                Err(Self::TimedOut { command: command(), limits, printed, program: output.last_program })
            }
            ProcessStatus::OutputTooLarge => Err(Self::TooMuchOutput { command: command() }),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) => Ok(output),
        }
    }

    /// Returns standard error, else standard output, of a command that failed; not redacted.
    #[must_use]
    pub fn printed(&self) -> Option<&str> {
        match self {
            Self::Failed { command, stdout, stderr, .. } => Some(first_output(command, stdout, stderr)),
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
            status: ProcessStatus::Exited(128),
            stdout: Vec::new(),
            stderr: b"fatal: https://user:hunter2@host/x.git not found\n".to_vec(),
            last_program: None,
        };
        let error = GitError::failed(&["fetch", "origin"], &output);
        assert_eq!(error.to_string(), "fatal: https://***@host/x.git not found");
        let silent = Output { stderr: Vec::new(), ..output };
        assert_eq!(GitError::failed(&["commit"], &silent).to_string(), "git commit failed");
    }
}
