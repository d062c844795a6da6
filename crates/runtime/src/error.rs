//! What a loop route answers when it cannot do what was asked: a status and an exact text.
//!
//! The texts are matched by clients and never reworded. Nothing here holds a secret: whatever came
//! from a program or the network has passed the redactor before it gets in.

use loopgate_api::error::{
    DIRECTORY_NOT_ALLOWED, ErrorBody, INTERNAL_ERROR, INVALID_JSON_BODY, MISSING_FIELD,
    OPERATION_NOT_IMPLEMENTED, code_of_status,
};
use thiserror::Error;

/// A refusal or failure of a loop route.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{message}")]
pub struct LoopRequestError {
    /// HTTP status.
    pub status: u16,
    /// The exact text.
    pub message: String,
    /// Stable code of the case.
    pub code: &'static str,
    /// Tells cases of one code apart, for programs.
    pub reason: Option<&'static str>,
}

impl LoopRequestError {
    /// A refusal with the general code of its status.
    pub fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), code: code_of_status(status), reason: None }
    }

    /// 409 for a loop that runs, or is being started, here.
    #[must_use]
    pub fn already_running() -> Self {
        let error = Self::new(409, "Loop is already running on this machine");
        Self { reason: Some(loopgate_api::launch::ALREADY_RUNNING), ..error }
    }

    /// 400.
    pub fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, message)
    }

    /// 400 for a member that is needed.
    pub fn missing_field(message: impl Into<String>) -> Self {
        Self { code: MISSING_FIELD, ..Self::bad_request(message) }
    }

    /// 400 for a body that is no JSON.
    #[must_use]
    pub fn invalid_json() -> Self {
        Self { code: INVALID_JSON_BODY, ..Self::bad_request("Invalid JSON body") }
    }

    /// 400 for a member of the wrong shape.
    #[must_use]
    pub fn malformed(field: &str, reason: &str) -> Self {
        Self::bad_request(format!("{field} is malformed: {reason}"))
    }

    /// 403 for a path outside the sandbox.
    #[must_use]
    pub fn not_allowed() -> Self {
        Self::path_not_allowed("directory not allowed")
    }

    /// 403 for a path outside the sandbox, in the words of its route.
    pub fn path_not_allowed(message: impl Into<String>) -> Self {
        Self { code: DIRECTORY_NOT_ALLOWED, ..Self::new(403, message) }
    }

    /// 500 without a reason for the caller; the reason belongs in the log.
    #[must_use]
    pub fn internal() -> Self {
        Self { code: INTERNAL_ERROR, ..Self::new(500, "internal error") }
    }

    /// 501 for what is not built yet, with what exactly.
    #[must_use]
    pub fn not_implemented(what: &str) -> Self {
        let message = format!("operation not implemented: {what}");
        Self { code: OPERATION_NOT_IMPLEMENTED, ..Self::new(501, message) }
    }

    /// The body of the answer.
    #[must_use]
    pub fn body(&self) -> ErrorBody {
        let body = ErrorBody::new(self.status, self.message.clone()).with_code(self.code);
        match self.reason {
            Some(reason) => body.with("reason", reason),
            None => body,
        }
    }
}
