//! Why the owner's socket does not do what was asked.

use loopgate_api::error::MISSING_FIELD;

/// A text for the owner, and a stable code.
#[derive(Debug)]
pub(crate) struct ControlError {
    pub(crate) message: String,
    pub(crate) code: &'static str,
}

impl ControlError {
    /// The request is invalid.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "invalid_request" }
    }

    /// The line is no JSON object.
    pub(crate) fn invalid_json() -> Self {
        Self { message: "Invalid JSON body".to_owned(), code: "invalid_json_body" }
    }

    /// A member is needed.
    pub(crate) fn missing_field(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: MISSING_FIELD }
    }

    /// What is named is not known here.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "not_found" }
    }

    /// It was tried and failed.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "operation_failed" }
    }

    pub(crate) fn internal() -> Self {
        Self { message: "internal error".to_owned(), code: "internal_error" }
    }
}
