//! One run of the assistant, and what its end says.

use std::time::Duration;

use super::child::{End, UNKNOWN_EXIT};
use super::failure::{self, FailureKind, KnownFailure};
use super::stream::RunSummary;

/// One run of the assistant.
#[derive(Debug)]
pub struct AssistantRun {
    /// How the process ended.
    pub end: End,
    /// End of its standard error.
    pub stderr: String,
    /// What its output said.
    pub facts: RunSummary,
    /// How long limits of the account were waited out.
    pub waited: Duration,
}

impl AssistantRun {
    /// The driver was asked to stop before the assistant ran.
    pub fn stopped(waited: Duration) -> Self {
        Self { end: End::Stopped, stderr: String::new(), facts: RunSummary::default(), waited }
    }

    /// There is no money left for a run.
    pub fn unaffordable(waited: Duration) -> Self {
        let facts = RunSummary { used_up_budget: true, ..RunSummary::default() };
        Self { end: End::Exited(UNKNOWN_EXIT), stderr: String::new(), facts, waited }
    }

    /// Why the run failed, where that is known. The stream is asked first, standard error only when it says
    /// nothing and the run has failed.
    #[must_use]
    pub fn known_failure(&self, code: i32) -> Option<KnownFailure> {
        let known = self.facts.final_failure().cloned();
        known.or_else(|| (code != 0).then(|| failure::in_stderr(&self.stderr)).flatten())
    }

    /// The limit of the account that ended the run.
    #[must_use]
    pub fn rate_limit(&self) -> Option<KnownFailure> {
        let End::Exited(code) = self.end else { return None };
        self.known_failure(code).filter(|known| known.kind == FailureKind::RateLimit)
    }
}
