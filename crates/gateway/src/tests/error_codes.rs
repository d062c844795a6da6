//! The error codes that the interface defines for its messages and statuses, for comparison with responses.

use loopgate_api::error::code_of_status;

/// Returns the code for an error message and status.
pub(in crate::tests) fn expected_code(status: u16, text: &str) -> &'static str {
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
        _ if status == 403 && text == "directory not allowed" => "directory_not_allowed",
        _ if status == 400 && reports_missing_field(text) => "missing_field",
        _ => code_of_status(status),
    }
}

fn reports_missing_field(text: &str) -> bool {
    text.contains(" is required")
        || text.contains(" are required")
        || text.starts_with("Missing ")
        || (text.starts_with("No ") && text.ends_with(" provided"))
}
