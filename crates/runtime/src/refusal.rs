//! Why a loop is not started: the answer to its sender, and the event for the control plane.

use loopgate_api::event::code;

use crate::error::LoopRequestError;

/// What is said of a loop that was cancelled before it had a process.
pub(crate) const CANCELLED: &str = "Loop cancelled";

/// Why a loop is not started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The answer.
    pub error: LoopRequestError,
    /// Code and message of the event, when there is one.
    pub event: Option<(&'static str, String)>,
}

impl Refusal {
    /// Answer and event with a text each.
    pub fn with_event(error: LoopRequestError, code: &'static str, message: impl Into<String>) -> Self {
        Self { error, event: Some((code, message.into())) }
    }

    /// Answer and event with the same text.
    pub fn with_same_event(error: LoopRequestError, code: &'static str) -> Self {
        let message = error.message.clone();
        Self::with_event(error, code, message)
    }

    /// The loop was cancelled while it was being prepared.
    pub fn cancelled() -> Self {
        Self::with_same_event(LoopRequestError::new(409, CANCELLED), code::CANCELLED)
    }

    /// Whether this is [`Refusal::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.event.as_ref().is_some_and(|(code, _)| *code == code::CANCELLED)
    }
}

impl From<LoopRequestError> for Refusal {
    fn from(error: LoopRequestError) -> Self {
        Self { error, event: None }
    }
}
