//! Programs of the loop: the assistant, and git.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use loopgate_tools::process::{Command, Limits, RunStatus, StartError, alive, identity};
use tokio_util::sync::CancellationToken;

/// Exit code when the system does not tell one.
pub const UNKNOWN_EXIT: i32 = 1;
/// How long a program may take to end after TERM.
const GRACE: Duration = Duration::from_millis(500);
/// How much of standard error is kept: its end.
const STDERR_CAP: usize = 64 * 1024;

/// What to run.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Executable: a path, or a name for the search path.
    pub program: OsString,
    /// Arguments, one each.
    pub args: Vec<OsString>,
    /// Directory it runs in.
    pub cwd: PathBuf,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// After this time its group is killed.
    pub limit: Duration,
}

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// By itself; a signal counts as [`UNKNOWN_EXIT`].
    Exited(i32),
    /// Killed at its time limit.
    TimedOut,
    /// Killed because the driver was asked to stop.
    Stopped,
}

/// How a program ended, and the end of its standard error.
#[derive(Debug)]
pub struct ProcessResult {
    /// How it ended.
    pub end: End,
    /// The last [`STDERR_CAP`] bytes, decoded loosely.
    pub stderr: String,
}

impl Invocation {
    fn command(&self) -> Command {
        Command::new(&self.program).args(&self.args).directory(&self.cwd).environment(self.env.clone())
    }

    /// Runs the program and hands its output on, piece by piece, as it arrives.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn run(
        &self,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]),
    ) -> Result<ProcessResult, StartError> {
        self.run_with_input(Stdio::null(), stop, output).await
    }

    /// As [`Self::run`], for a program that reads from `input`.
    ///
    /// # Errors
    /// When the program cannot be started.
    pub async fn run_with_input(
        &self,
        input: Stdio,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]),
    ) -> Result<ProcessResult, StartError> {
        let limits = Limits { time: self.limit, output: STDERR_CAP, grace: GRACE };
        let streamed = self.command().stream_with_input(input, limits, stop, output).await?;
        let end = match streamed.status {
            Some(RunStatus::TimedOut) => End::TimedOut,
            Some(status) => End::Exited(status.code().unwrap_or(UNKNOWN_EXIT)),
            None => End::Stopped,
        };
        Ok(ProcessResult { end, stderr: String::from_utf8_lossy(&streamed.stderr).into_owned() })
    }

    /// Runs the program for its short output; `None` when it fails in any way or prints too much.
    pub async fn capture(&self, stop: &CancellationToken, cap: usize) -> Option<Vec<u8>> {
        let limits = Limits { time: self.limit, output: cap, grace: GRACE };
        let output = stop.run_until_cancelled(self.command().run(limits)).await?.ok()?;
        output.status.success().then_some(output.stdout)
    }
}

/// Whether a process with this id runs.
pub fn process_exists(pid: u32) -> bool {
    identity(pid).is_some_and(|started| alive(pid, started))
}
