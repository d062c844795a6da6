//! Refused launches: the error for the caller and the event for the control plane.

use loopgate_api::event::{ErrorEvent, code};
use loopgate_api::redact;
use serde_json::json;

use crate::error::LoopRequestError;

/// Message for a loop that was cancelled before it had a process.
pub(crate) const CANCELLED: &str = "Loop cancelled";

/// A launch that is refused before the loop has a process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// Response to the caller of the launch.
    pub error: LoopRequestError,
    /// Event for the control plane; `None` sends no event.
    pub event: Option<RefusalEvent>,
}

/// The event of a refused launch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RefusalEvent {
    pub code: &'static str,
    /// What this machine lacks, see [`loopgate_api::event::subcode`].
    pub subcode: Option<&'static str>,
    pub message: String,
}

impl RefusalEvent {
    pub fn new(code: &'static str, message: impl Into<String>) -> Self {
        Self { code, subcode: None, message: message.into() }
    }

    /// Returns the event for the control plane.
    pub fn error(&self) -> ErrorEvent {
        ErrorEvent {
            code: self.code.to_owned(),
            message: redact::message(&self.message),
            result: self.subcode.and_then(|subcode| json!({"subcode": subcode}).as_object().cloned()),
            ..ErrorEvent::default()
        }
    }
}

impl Refusal {
    /// Creates a refusal with separate texts for the response and the event.
    pub fn with_event(error: LoopRequestError, code: &'static str, message: impl Into<String>) -> Self {
        Self { error, event: Some(RefusalEvent::new(code, message)) }
    }

    /// Creates a refusal with one text for the response and the event.
    pub fn with_same_event(error: LoopRequestError, code: &'static str) -> Self {
        let message = error.message.clone();
        Self::with_event(error, code, message)
    }

    /// Adds what this machine lacks to the event.
    pub fn lacking(mut self, subcode: &'static str) -> Self {
        if let Some(event) = &mut self.event {
            event.subcode = Some(subcode);
        }
        self
    }

    /// Creates the refusal of a loop that was cancelled during its preparation.
    pub fn cancelled() -> Self {
        Self::with_same_event(LoopRequestError::new(409, CANCELLED), code::CANCELLED)
    }

    /// Returns whether this is [`Refusal::cancelled`].
    pub fn is_cancelled(&self) -> bool {
        self.event.as_ref().is_some_and(|event| event.code == code::CANCELLED)
    }
}

impl From<LoopRequestError> for Refusal {
    fn from(error: LoopRequestError) -> Self {
        Self { error, event: None }
    }
}
