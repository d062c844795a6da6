//! Error responses of the control socket.

use loopgate_api::error::MISSING_FIELD;

/// A message for the owner and a stable code.
#[derive(Debug)]
pub(crate) struct ControlError {
    pub(crate) message: String,
    pub(crate) code: &'static str,
}

impl ControlError {
    /// The request is malformed or not possible here.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "invalid_request" }
    }

    /// The line is not a JSON object.
    pub(crate) fn invalid_json() -> Self {
        Self { message: "Invalid JSON body".to_owned(), code: "invalid_json_body" }
    }

    /// A required member is missing.
    pub(crate) fn missing_field(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: MISSING_FIELD }
    }

    /// No loop matches the request.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "not_found" }
    }

    /// The operation failed while it was carried out.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self { message: message.into(), code: "operation_failed" }
    }

    pub(crate) fn internal() -> Self {
        Self { message: "internal error".to_owned(), code: "internal_error" }
    }
}
