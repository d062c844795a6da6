//! Limits and results of a run.

use std::borrow::Cow;
use std::time::Duration;

/// Default cap per output stream, in bytes: more than any command's regular output, so that only a runaway
/// program exceeds it.
const DEFAULT_OUTPUT_CAP: usize = 16 * 1024 * 1024;
/// Default grace period between SIGTERM and SIGKILL when a limit is exceeded.
const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// Limits of a single run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Wall-clock time from the start to the exit, or since the last sign of activity.
    pub time: Duration,
    /// Whether `time` counts from the last sign of activity.
    pub idle: bool,
    /// Cap on standard output, and separately on standard error, in bytes.
    pub output: usize,
    /// Grace period between SIGTERM and SIGKILL when a limit is exceeded.
    pub grace: Duration,
}

impl Limits {
    /// Limits with this timeout, 16 MiB per stream and a grace period of two seconds.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self { time, idle: false, output: DEFAULT_OUTPUT_CAP, grace: DEFAULT_GRACE }
    }

    /// As [`Self::time`], but the time counts from the last sign of activity: output, or a process of the tree that uses
    /// the processor, reads or writes. The tree is sampled four times within the limit, so an idle process may run a
    /// quarter longer.
    #[must_use]
    pub const fn idle(time: Duration) -> Self {
        Self { idle: true, ..Self::time(time) }
    }

    /// Replaces the cap on each stream, in bytes.
    #[must_use]
    pub const fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessStatus {
    /// The process exited with this code.
    Exited(i32),
    /// The process was terminated by this signal, which did not come from Loopgate.
    Signalled(i32),
    /// The process was terminated because it exceeded its time limit.
    TimedOut,
    /// The process was terminated because it exceeded its output cap.
    OutputTooLarge,
}

impl ProcessStatus {
    /// Returns whether the process exited with code 0.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }

    /// Returns the exit code; `None` when the process was terminated.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            _ => None,
        }
    }
}

/// The result of a run. When a limit was exceeded, contains the output read until then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    pub status: ProcessStatus,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    /// After [`ProcessStatus::TimedOut`]: name of the program below the process that was started last.
    pub last_program: Option<String>,
}

impl Output {
    /// Returns standard output as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Returns standard error as text, with invalid UTF-8 replaced.
    #[must_use]
    pub fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }
}
