//! The one error shape: `{"error": <for a person>, "code": <stable>, …details}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// Code of a path outside of the sandbox.
pub const DIRECTORY_NOT_ALLOWED: &str = "directory_not_allowed";
/// Code of a failure that has no words of its own.
pub const INTERNAL_ERROR: &str = "internal_error";
/// Code of a form that does not parse.
pub const INVALID_FORM_DATA: &str = "invalid_form_data";
/// Code of a body that does not parse.
pub const INVALID_JSON_BODY: &str = "invalid_json_body";
/// Code of a member, parameter or file that is needed and missing.
pub const MISSING_FIELD: &str = "missing_field";
/// Code of a route or an option that is not built yet.
pub const OPERATION_NOT_IMPLEMENTED: &str = "operation_not_implemented";

/// Body of every error answer of the gateway.
///
/// `error` is exact: clients match on it. `code` is additive and never changes for one case.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ErrorBody {
    /// What went wrong, for a person.
    pub error: String,
    /// Stable identifier of the case, snake case unless a route says otherwise.
    pub code: String,
    /// Further members that the route lists.
    #[serde(flatten)]
    pub details: Map<String, Value>,
}

impl ErrorBody {
    /// An error with the general code of its status.
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        Self { error: error.into(), code: code_of_status(status).to_owned(), details: Map::new() }
    }

    /// 400 for a member, parameter or file that is needed.
    pub fn missing_field(error: impl Into<String>) -> Self {
        Self::new(400, error).with_code(MISSING_FIELD)
    }

    /// 403 for a path outside of the sandbox.
    #[must_use]
    pub fn directory_not_allowed() -> Self {
        Self::new(403, "directory not allowed").with_code(DIRECTORY_NOT_ALLOWED)
    }

    /// 403 for a request over the link to a route that is not served there.
    #[must_use]
    pub fn not_available_over_relay() -> Self {
        Self::new(403, "not available over relay").with_code("not_available_over_relay")
    }

    /// 501 for a route that is not built yet.
    #[must_use]
    pub fn not_implemented() -> Self {
        Self::new(501, "operation not implemented").with_code(OPERATION_NOT_IMPLEMENTED)
    }

    /// 503 while no sandbox is set.
    #[must_use]
    pub fn not_configured() -> Self {
        Self::new(503, "Server not configured — complete onboarding").with_code("not_configured")
    }

    /// Replaces the code by one that the case or the route names.
    #[must_use]
    pub fn with_code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// Adds a member beside `error` and `code`.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }
}

/// The general code of a status, for cases that have none of their own.
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
    fn code_does_not_follow_from_the_text() {
        assert_eq!(ErrorBody::new(403, "directory not allowed").code, "forbidden");
        assert_eq!(ErrorBody::directory_not_allowed().code, "directory_not_allowed");
        assert_eq!(ErrorBody::new(500, "Failed to read plan: x").code, "operation_failed");
    }

    #[test]
    fn details_stand_beside_error_and_code() {
        let json = serde_json::to_string(&ErrorBody::not_implemented().with("method", "PUT")).unwrap();
        assert_eq!(
            json,
            r#"{"error":"operation not implemented","code":"operation_not_implemented","method":"PUT"}"#
        );
    }
}
