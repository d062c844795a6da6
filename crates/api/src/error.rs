//! The one error shape: `{"error": <for a person>, "code": <stable>, …details}`.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use utoipa::ToSchema;

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
    /// An error whose code follows from its text, and otherwise from its status.
    pub fn new(status: u16, error: impl Into<String>) -> Self {
        let error = error.into();
        let code = code_for(status, &error).to_owned();
        Self { error, code, details: Map::new() }
    }

    /// Replaces the derived code by one that the route names.
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

/// The code of an error: decided by its text first, then by its status.
#[must_use]
pub fn code_for(status: u16, text: &str) -> &'static str {
    match text {
        "unauthorized" => "unauthorized",
        "host not allowed" => "host_not_allowed",
        "onboarding not completed" => "onboarding_not_completed",
        "request denied" => "request_denied",
        "approval timed out" => "approval_timed_out",
        "not available over relay" => "not_available_over_relay",
        "process not managed by this gateway" => "process_not_managed",
        "request body too large" => "request_body_too_large",
        "operation not implemented" => "operation_not_implemented",
        "route not found" => "route_not_found",
        "Server not configured — complete onboarding" => "not_configured",
        "malformed path" => "malformed_path",
        "malformed request target" => "malformed_request_target",
        "Invalid JSON body" | "invalid JSON body" | "Invalid or empty JSON body" => "invalid_json_body",
        "Invalid form data" => "invalid_form_data",
        "fallback gateway unreachable" => "fallback_unreachable",
        "internal error" => "internal_error",
        _ if text.starts_with("Unmapped operation: ") => "unmapped_operation",
        _ if text.starts_with("operation not implemented: ") => "operation_not_implemented",
        _ if says_outside_sandbox(status, text) => "directory_not_allowed",
        _ if status == 400 && says_missing(text) => "missing_field",
        _ => code_for_status(status),
    }
}

/// Whether an error tells that a path lies outside of the sandbox.
#[must_use]
pub fn says_outside_sandbox(status: u16, text: &str) -> bool {
    status == 403
        && (text == "directory not allowed"
            || text == "Repository path not allowed"
            || text.starts_with("Worktree path not allowed")
            || text.starts_with("Additional repo worktree path not allowed"))
}

fn says_missing(text: &str) -> bool {
    text.contains(" is required")
        || text.contains(" are required")
        || text.starts_with("Missing ")
        || (text.starts_with("No ") && text.ends_with(" provided"))
}

fn code_for_status(status: u16) -> &'static str {
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
    fn the_text_decides_before_the_status() {
        assert_eq!(code_for(403, "directory not allowed"), "directory_not_allowed");
        assert_eq!(code_for(403, "something else"), "forbidden");
        assert_eq!(code_for(400, "repo query parameter is required"), "missing_field");
        assert_eq!(code_for(400, "Missing required fields: loopId"), "missing_field");
        assert_eq!(code_for(500, "Failed to read plan: x"), "operation_failed");
    }

    #[test]
    fn details_stand_beside_error_and_code() {
        let body = ErrorBody::new(501, "operation not implemented").with("method", "PUT");
        let json = serde_json::to_string(&body).unwrap();
        assert_eq!(
            json,
            r#"{"error":"operation not implemented","code":"operation_not_implemented","method":"PUT"}"#
        );
    }
}
