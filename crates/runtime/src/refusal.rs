//! Refused launches: the error for the caller and the event for the control plane.

use loopgate_api::event::code;

use crate::error::LoopRequestError;

/// Message for a loop that was cancelled before it had a process.
pub(crate) const CANCELLED: &str = "Loop cancelled";

/// A launch that is refused before the loop has a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Response to the caller of the launch.
    pub error: LoopRequestError,
    /// Code and message of the event for the control plane; `None` sends no event.
    pub event: Option<(&'static str, String)>,
}

impl Refusal {
    /// Creates a refusal with separate texts for the response and the event.
    pub fn with_event(error: LoopRequestError, code: &'static str, message: impl Into<String>) -> Self {
        Self { error, event: Some((code, message.into())) }
    }

    /// Creates a refusal with one text for the response and the event.
    pub fn with_same_event(error: LoopRequestError, code: &'static str) -> Self {
        let message = error.message.clone();
        Self::with_event(error, code, message)
    }

    /// Creates the refusal of a loop that was cancelled during its preparation.
    pub fn cancelled() -> Self {
        Self::with_same_event(LoopRequestError::new(409, CANCELLED), code::CANCELLED)
    }

    /// Returns whether this is [`Refusal::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.event.as_ref().is_some_and(|(code, _)| *code == code::CANCELLED)
    }
}

impl From<LoopRequestError> for Refusal {
    fn from(error: LoopRequestError) -> Self {
        Self { error, event: None }
    }
}
