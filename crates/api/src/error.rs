//! The common error body: `{"error": <message for the user>, "code": <stable>, …details}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Error code for a path outside the sandbox.
pub const DIRECTORY_NOT_ALLOWED: &str = "directory_not_allowed";
/// Error code for an unexpected failure without a message of its own.
pub const INTERNAL_ERROR: &str = "internal_error";
/// Error code for a malformed form.
pub const INVALID_FORM_DATA: &str = "invalid_form_data";
/// Error code for a malformed request body.
pub const INVALID_JSON_BODY: &str = "invalid_json_body";
/// Error code for a missing required member, parameter or file.
pub const MISSING_FIELD: &str = "missing_field";
/// Error code for a route or option that is not implemented.
pub const OPERATION_NOT_IMPLEMENTED: &str = "operation_not_implemented";

/// Body of all error responses of the gateway.
///
/// Clients compare `error` byte for byte. `code` was added later and is stable for each kind of error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// Error message for the user.
    pub error: String,
    /// Stable error code, in snake case unless the route documents otherwise.
    pub code: String,
    /// Further members, as documented by the route.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl ErrorBody {
    /// Creates an error with the general code of its HTTP status.
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        Self { error: error.into(), code: code_of_status(status).to_owned(), details: Map::new() }
    }

    /// 400 for a missing required member, parameter or file.
    pub fn missing_field(error: impl Into<String>) -> Self {
        Self::new(400, error).with_code(MISSING_FIELD)
    }

    /// 403 for a path outside the sandbox.
    #[must_use]
    pub fn directory_not_allowed() -> Self {
        Self::new(403, "directory not allowed").with_code(DIRECTORY_NOT_ALLOWED)
    }

    /// 403 for a request over the link to a route that is not available there.
    #[must_use]
    pub fn not_available_over_relay() -> Self {
        Self::new(403, "not available over relay").with_code("not_available_over_relay")
    }

    /// 501 for a route that is not implemented.
    #[must_use]
    pub fn not_implemented() -> Self {
        Self::new(501, "operation not implemented").with_code(OPERATION_NOT_IMPLEMENTED)
    }

    /// 503 while no sandbox directory is configured.
    #[must_use]
    pub fn not_configured() -> Self {
        Self::new(503, "Server not configured — complete onboarding").with_code("not_configured")
    }

    /// Replaces the general code by a more specific one.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// Adds a member in addition to `error` and `code`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// Returns the general error code of an HTTP status, for errors without a specific one.
#[must_use]
pub const fn code_of_status(status: u16) -> &'static str {
    match status {
        401 => "unauthorized",
        403 => "forbidden",
        404 => "not_found",
        409 => "conflict",
        410 => "gone",
        413 => "request_body_too_large",
        415 => "unsupported_media_type",
        429 => "too_many_requests",
        502 => "upstream_failed",
        503 => "unavailable",
        504 => "upstream_timed_out",
        500..=599 => "operation_failed",
        _ => "invalid_request",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_independent_of_the_message() {
        assert_eq!(ErrorBody::new(403, "directory not allowed").code, "forbidden");
        assert_eq!(ErrorBody::directory_not_allowed().code, "directory_not_allowed");
        assert_eq!(ErrorBody::new(500, "Failed to read plan: x").code, "operation_failed");
    }

    #[test]
    fn details_follow_error_and_code() {
        let json = serde_json::to_string(&ErrorBody::not_implemented().with("method", "PUT")).unwrap();
        assert_eq!(
            json,
            r#"{"error":"operation not implemented","code":"operation_not_implemented","method":"PUT"}"#
        );
    }
}
