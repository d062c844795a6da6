//! Error responses of the loop routes: a status, a code and an exact text.
//!
//! Clients match the texts, so they must not be reworded. Text from programs or from the network is redacted
//! before it becomes part of an error.

use loopgate_api::error::{
    DIRECTORY_NOT_ALLOWED, ErrorBody, INTERNAL_ERROR, INVALID_JSON_BODY, MISSING_FIELD,
    OPERATION_NOT_IMPLEMENTED, code_of_status,
};
use thiserror::Error;

/// Error response of a loop route.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct LoopRequestError {
    pub status: u16,
    pub message: String,
    /// Stable error code for programs.
    pub code: &'static str,
    /// Distinguishes cases that share one code.
    pub reason: Option<&'static str>,
}

impl LoopRequestError {
    /// Creates an error with the default code of its status.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), code: code_of_status(status), reason: None }
    }

    /// Returns 409 for a loop that is running or starting on this desktop.
    #[must_use]
    pub fn already_running() -> Self {
        let error = Self::new(409, "Loop is already running on this machine");
        Self { reason: Some(loopgate_api::launch::ALREADY_RUNNING), ..error }
    }

    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// Returns 400 for a missing required member.
    pub fn missing_field(message: impl Into<String>) -> Self {
        Self { code: MISSING_FIELD, ..Self::bad_request(message) }
    }

    /// Returns 400 for a body that is not valid JSON.
    #[must_use]
    pub fn invalid_json() -> Self {
        Self { code: INVALID_JSON_BODY, ..Self::bad_request("Invalid JSON body") }
    }

    /// Returns 400 for a member of the wrong type or format.
    #[must_use]
    pub fn malformed(field: &str, reason: &str) -> Self {
        Self::bad_request(format!("{field} is malformed: {reason}"))
    }

    /// Returns 403 for a path outside the sandbox.
    #[must_use]
    pub fn not_allowed() -> Self {
        Self::path_not_allowed("directory not allowed")
    }

    /// Returns 403 for a path outside the sandbox, with the text of the route.
    pub fn path_not_allowed(message: impl Into<String>) -> Self {
        Self { code: DIRECTORY_NOT_ALLOWED, ..Self::new(403, message) }
    }

    /// Returns 500 without details; the caller logs the cause.
    #[must_use]
    pub fn internal() -> Self {
        Self { code: INTERNAL_ERROR, ..Self::new(500, "internal error") }
    }

    /// Returns 501 and names the operation that is not implemented.
    #[must_use]
    pub fn not_implemented(operation: &str) -> Self {
        let message = format!("operation not implemented: {operation}");
        Self { code: OPERATION_NOT_IMPLEMENTED, ..Self::new(501, message) }
    }

    /// Returns the JSON body of the response.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let body = ErrorBody::new(self.status, self.message.clone()).with_code(self.code);
        match self.reason {
            Some(reason) => body.with("reason", reason),
            None => body,
        }
    }
}
