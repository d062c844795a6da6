//! How a run is limited, and how it ended.

use std::borrow::Cow;
use std::time::Duration;

/// Bytes that one stream may carry unless a caller says otherwise.
const DEFAULT_OUTPUT_CAP: usize = 16 * 1024 * 1024;
/// What a process gets between the polite and the final signal after its time is up.
const DEFAULT_GRACE: Duration = Duration::from_secs(2);

/// Limits of one run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Time from start to end.
    pub time: Duration,
    /// Bytes on standard output, and as many on standard error.
    pub output: usize,
    /// Time between SIGTERM and SIGKILL when a limit is passed.
    pub grace: Duration,
}

impl Limits {
    /// So much time, 16 MiB a stream, two seconds to end in peace.
    #[must_use]
    pub const fn time(time: Duration) -> Self {
        Self { time, output: DEFAULT_OUTPUT_CAP, grace: DEFAULT_GRACE }
    }

    /// Another cap on each stream, in bytes.
    #[must_use]
    pub const fn output(mut self, bytes: usize) -> Self {
        self.output = bytes;
        self
    }
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// By itself, with this code.
    Exited(i32),
    /// By a signal that did not come from here.
    Signalled(i32),
    /// Ended here, because its time was up.
    TimedOut,
    /// Ended here, because it printed more than allowed.
    OutputTooLarge,
}

impl RunStatus {
    /// Whether the process ended by itself with code 0.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }

    /// Its exit code, when it ended by itself.
    #[must_use]
    pub const fn code(self) -> Option<i32> {
        match self {
            Self::Exited(code) => Some(code),
            _ => None,
        }
    }
}

/// A finished run. When a limit was passed, what had been read until then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// How it ended.
    pub status: RunStatus,
    /// Standard output.
    pub stdout: Vec<u8>,
    /// Standard error.
    pub stderr: Vec<u8>,
}

impl Output {
    /// Standard output as text; invalid bytes become replacement characters.
    #[must_use]
    pub fn stdout_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stdout)
    }

    /// Standard error as text; invalid bytes become replacement characters.
    #[must_use]
    pub fn stderr_text(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.stderr)
    }
}
