//! Progress of a run, as observed by its streams and its handle.

use std::sync::Arc;

use loopgate_api::agent_failure::FailureKind;
use loopgate_api::chat_event::ChatEvent;

use crate::provider::TurnOutput;

/// Current state of a run.
#[derive(Debug, Clone, Default)]
pub(super) struct RunProgress {
    /// Pid of the program, once it runs.
    pub(super) pid: Option<u32>,
    /// Number of reads of the output; a change wakes the streams.
    pub(super) reads: u64,
    /// Number of the current attempt, from 0.
    pub(super) attempt: u32,
    /// Set when the program has exited and everything is stored.
    pub(super) outcome: Option<Arc<RunOutcome>>,
}

impl RunProgress {
    /// Returns whether later output is ignored because the limit was exceeded.
    pub(super) fn is_output_exceeded(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.end.output_exceeded)
    }
}

/// Final state of a run.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// Parsed output of the provider.
    pub output: TurnOutput,
    /// Exit state of the program.
    pub end: RunEnd,
    /// Final events of every stream.
    pub(super) last_events: Vec<ChatEvent>,
}

/// Exit state of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Whether the program completed the turn: it exited with code 0, reported no failure, and answered if the
    /// store requires it.
    pub success: bool,
    /// Exit code; 1 if the program was killed by a signal, the code is unknown, or the turn failed with code 0.
    pub exit_code: i32,
    /// Whether the program was started.
    pub was_started: bool,
    /// Whether the program was terminated by its timeout.
    pub timed_out: bool,
    /// Whether the program was terminated because its output exceeded the limit.
    pub output_exceeded: bool,
    /// Error message for the user, redacted: the program's reason or Loopgate's own. Absent on success, and if the
    /// program printed only harmless messages.
    pub error: Option<String>,
    /// Kind of the failure, if it is known.
    pub failure: Option<FailureKind>,
}
