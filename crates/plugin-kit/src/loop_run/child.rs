//! Child processes of the loop: the assistant and git.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use loopgate_tools::process::{Command, Limits, Output, ProcessStatus, StartError, Stdin, alive, identity};
use tokio_util::sync::CancellationToken;

/// Exit code of a process that reports none, for instance after a signal.
pub const UNKNOWN_EXIT: i32 = 1;
/// Time between SIGTERM and SIGKILL of a process group.
const GRACE: Duration = Duration::from_millis(500);
/// Bytes kept of the end of standard error; the cause of a failure is among the last lines.
const STDERR_CAP: usize = 64 * 1024;

/// A program to run, with its arguments and limits.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Path of the executable, or a name that is resolved through `PATH`.
    pub program: OsString,
    pub args: Vec<OsString>,
    /// Working directory of the process.
    pub cwd: PathBuf,
    /// The complete environment; the driver's own is not inherited.
    pub env: BTreeMap<OsString, OsString>,
    /// Time limit, after which the process group is killed.
    pub limit: Duration,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// The process exited; a signal counts as [`UNKNOWN_EXIT`].
    Exited(i32),
    /// The process was killed at its time limit.
    TimedOut,
    /// The process was killed because the driver is stopping.
    Stopped,
}

/// Exit of a process and the end of its standard error.
#[derive(Debug)]
pub struct ProcessResult {
    /// How the process ended; `None` if it was killed because it was silent for too long after its last output.
    pub end: Option<End>,
    /// The last [`STDERR_CAP`] bytes, decoded lossily.
    pub stderr: String,
}

impl Invocation {
    fn command(&self) -> Command {
        Command::new(&self.program).args(&self.args).directory(&self.cwd).environment(self.env.clone())
    }

    /// Runs the program and passes its output to `output` in pieces as it arrives. `output` returns how long the
    /// program may be silent from then on; `None` for any time.
    ///
    /// # Errors
    /// Fails when the program cannot be started.
    pub async fn run(
        &self,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]) -> Option<Duration>,
    ) -> Result<ProcessResult, StartError> {
        self.run_with_input(Stdio::null(), stop, output).await
    }

    /// Like [`Self::run`], with `input` as standard input.
    ///
    /// # Errors
    /// Fails when the program cannot be started.
    pub async fn run_with_input(
        &self,
        input: Stdio,
        stop: &CancellationToken,
        output: impl FnMut(&[u8]) -> Option<Duration>,
    ) -> Result<ProcessResult, StartError> {
        let limits = Limits { grace: GRACE, ..Limits::time(self.limit).output(STDERR_CAP) };
        let streamed = self.command().stream_with_input(input, limits, stop, output).await?;
        let end = match streamed.status {
            Some(ProcessStatus::TimedOut) => Some(End::TimedOut),
            Some(status) => Some(End::Exited(status.code().unwrap_or(UNKNOWN_EXIT))),
            None => stop.is_cancelled().then_some(End::Stopped),
        };
        Ok(ProcessResult { end, stderr: String::from_utf8_lossy(&streamed.stderr).into_owned() })
    }

    /// Runs the program and returns its output. `None` when it fails in any way or prints more than `cap`
    /// bytes.
    pub async fn capture(&self, stop: &CancellationToken, cap: usize) -> Option<Vec<u8>> {
        let output = self.output_for(Vec::new(), stop, cap).await?;
        output.status.success().then_some(output.stdout)
    }

    /// Runs the program with these bytes as standard input. `None` when it cannot be started or exceeds a limit.
    pub async fn output_for(&self, input: Vec<u8>, stop: &CancellationToken, cap: usize) -> Option<Output> {
        let limits = Limits { grace: GRACE, ..Limits::time(self.limit).output(cap) };
        let input = if input.is_empty() { Stdin::Null } else { Stdin::Bytes(input) };
        stop.run_until_cancelled(self.command().stdin(input).run(limits)).await?.ok()
    }
}

/// Returns whether a process with this id is running.
pub fn process_exists(pid: u32) -> bool {
    // A pid alone may have been reused; the start time identifies the process.
    identity(pid).is_some_and(|started| alive(pid, started))
}
