//! How far a run is, as its streams and its owner see it.

use std::sync::Arc;

use loopgate_api::chat_event::ChatEvent;

use crate::provider::TurnOutput;

/// Where a run stands.
#[derive(Debug, Clone, Default)]
pub(super) struct RunProgress {
    /// Pid of the program, once it runs.
    pub(super) pid: Option<u32>,
    /// Counts reads of the output, so that streams wake.
    pub(super) reads: u64,
    /// Number of the attempt whose output counts.
    pub(super) attempt: u32,
    /// The program is gone, and everything is stored.
    pub(super) outcome: Option<Arc<RunOutcome>>,
}

impl RunProgress {
    /// Whether the rest of the output counts no more, because there is too much of it.
    pub(super) fn is_output_exceeded(&self) -> bool {
        self.outcome.as_ref().is_some_and(|outcome| outcome.end.output_exceeded)
    }
}

/// The end of a run.
#[derive(Debug, Clone)]
pub struct RunOutcome {
    /// What the provider said.
    pub output: TurnOutput,
    /// How its program ended.
    pub end: RunEnd,
    /// The last events of every stream.
    pub(super) last_events: Vec<ChatEvent>,
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEnd {
    /// Whether it exited with 0.
    pub success: bool,
    /// Its exit code; 1 for a signal, and when it is not known.
    pub exit_code: i32,
    /// Whether it was started at all.
    pub was_started: bool,
    /// Whether it was ended because it took too long.
    pub timed_out: bool,
    /// Whether it was ended because it printed too much.
    pub output_exceeded: bool,
    /// What went wrong, for a person: the end of its standard error, redacted, or Loopgate's own reason.
    pub error: Option<String>,
}
