//! Result of one assistant process.

use std::time::Duration;

use super::child::{End, ProcessResult, UNKNOWN_EXIT};
use super::failure::{self, FailureKind, KnownFailure};
use super::session_check::SessionFault;
use super::stream::RunSummary;

/// Result of one assistant process.
#[derive(Debug)]
pub struct AssistantRun {
    /// How the process exited.
    pub end: End,
    /// The last part of standard error.
    pub stderr: String,
    /// Facts extracted from the output stream.
    pub facts: RunSummary,
    /// Why the session was stopped at its start.
    pub fault: Option<SessionFault>,
    /// Description of the uses of tools that the assistant's permissions refused.
    pub refusals: Option<String>,
    /// Time spent waiting for rate limits of the account; excluded from the iteration's duration.
    pub waited: Duration,
}

impl AssistantRun {
    /// Returns the result of a process with these facts. A process that was ended because its run was over counts as
    /// exited, with the code that the assistant derives from its last result.
    pub fn new(process: ProcessResult, facts: RunSummary) -> Self {
        let is_error = facts.result.as_ref().is_none_or(|result| result.is_error);
        let end = process.end.unwrap_or(End::Exited(i32::from(is_error)));
        Self { stderr: process.stderr, ..Self::without_process(end, facts, Duration::ZERO) }
    }

    /// Returns the result of a run that was stopped before the assistant started.
    pub fn stopped(waited: Duration) -> Self {
        Self::without_process(End::Stopped, RunSummary::default(), waited)
    }

    /// Returns the result of a run that was not started because the budget is exhausted.
    pub fn unaffordable(waited: Duration) -> Self {
        let facts = RunSummary { used_up_budget: true, ..RunSummary::default() };
        Self::without_process(End::Exited(UNKNOWN_EXIT), facts, waited)
    }

    const fn without_process(end: End, facts: RunSummary, waited: Duration) -> Self {
        Self { end, stderr: String::new(), facts, fault: None, refusals: None, waited }
    }

    /// Returns the recognized cause of a failed run. The stream takes precedence; standard error is searched
    /// only when the stream contains no failure and the exit code is nonzero.
    #[must_use]
    pub fn known_failure(&self, code: i32) -> Option<KnownFailure> {
        let known = self.facts.final_failure().cloned();
        known.or_else(|| (code != 0).then(|| failure::in_stderr(&self.stderr)).flatten())
    }

    /// Returns the rate limit of the account that ended the run.
    #[must_use]
    pub fn rate_limit(&self) -> Option<KnownFailure> {
        let End::Exited(code) = self.end else { return None };
        self.known_failure(code).filter(|known| known.kind == FailureKind::RateLimit)
    }
}
