//! Messages of the failures that another iteration cannot fix, see [`agent_failure`].

use jiff::Timestamp;
use loopgate_api::agent_failure::{self, AgentFailure};
use loopgate_api::assistant_record::AssistantRecord;
use loopgate_api::redact;

pub use loopgate_api::agent_failure::FailureKind;

/// Upper bound of a message in characters; the failure marker allows 1,000.
const MESSAGE_CHARS: usize = 900;

/// A recognized failure, which ends the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFailure {
    pub kind: FailureKind,
    /// Message to the user, redacted.
    pub message: String,
    /// End of a rate limit, if the assistant reports it.
    pub resets_at: Option<Timestamp>,
}

impl KnownFailure {
    /// Returns the status in `runs.log`.
    #[must_use]
    pub const fn status(&self) -> &'static str {
        match self.kind {
            FailureKind::RateLimit => "assistant_rate_limit",
            FailureKind::ContextLimit => "context_limit",
            FailureKind::Model => "assistant_model_unavailable",
            FailureKind::Policy => "assistant_request_rejected",
            FailureKind::Account => "assistant_auth_error",
        }
    }

    /// Returns the subcode of the failure marker.
    #[must_use]
    pub const fn subcode(&self) -> &'static str {
        match self.kind {
            FailureKind::RateLimit => "ASSISTANT_RATE_LIMIT",
            FailureKind::ContextLimit => "ASSISTANT_CONTEXT_LIMIT",
            FailureKind::Model => "ASSISTANT_MODEL_UNAVAILABLE",
            FailureKind::Policy => "ASSISTANT_REQUEST_REJECTED",
            FailureKind::Account => "ASSISTANT_AUTH_CHALLENGE",
        }
    }
}

impl From<AgentFailure> for KnownFailure {
    fn from(failure: AgentFailure) -> Self {
        let AgentFailure { kind, detail, resets_at } = failure;
        // Overload shares the handling of account failures, but the message must not tell the user to sign
        // in.
        let is_overload = kind == FailureKind::Account && detail.to_lowercase().contains("overloaded");
        let prefix = if is_overload { "The model's service is overloaded." } else { prefix(kind) };
        let detail = if detail.is_empty() { hint(kind) } else { &detail };
        Self { kind, message: clamp(&format!("{prefix} {detail}")), resets_at }
    }
}

const fn prefix(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::RateLimit => "The assistant's rate limit is reached.",
        FailureKind::ContextLimit => "The assistant's context limit is reached.",
        FailureKind::Model => {
            "The assistant's account cannot use the model of the loop. Set `loop_model` in settings.toml to another one."
        }
        FailureKind::Policy => "The model's provider rejects the request.",
        FailureKind::Account => "The assistant cannot use its account.",
    }
}

const fn hint(kind: FailureKind) -> &'static str {
    match kind {
        FailureKind::RateLimit => "Wait until it resets, then run the loop again.",
        FailureKind::ContextLimit => "Start the loop again, with smaller inputs if it recurs.",
        FailureKind::Model => "The model was not found.",
        FailureKind::Policy => "Change the request, then start the loop again.",
        FailureKind::Account => "Sign in to the assistant in a terminal, then run the loop again.",
    }
}

/// Recognizes a failure in a record of the stream.
#[must_use]
pub fn in_record(record: &AssistantRecord) -> Option<KnownFailure> {
    agent_failure::in_record(record).map(KnownFailure::from)
}

/// Recognizes a failure in the standard error of a failed program.
#[must_use]
pub fn in_stderr(stderr: &str) -> Option<KnownFailure> {
    agent_failure::in_error(stderr).map(KnownFailure::from)
}

/// Shortens a message for the failure marker.
#[must_use]
pub fn clamp(message: &str) -> String {
    redact::shorten(message, MESSAGE_CHARS)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn message_names_the_failure_and_its_remedy() {
        let message = |record: serde_json::Value| in_record(&record.into()).unwrap().message;
        assert_eq!(
            message(json!({"type": "result", "is_error": true, "result": "API Error: 529 overloaded_error"})),
            "The model's service is overloaded. API Error: 529 overloaded_error"
        );
        assert!(message(json!({"type": "assistant", "error": "model_not_found"})).contains("`loop_model`"));
        assert_eq!(
            message(json!({"type": "result", "is_error": true, "api_error_status": 429})),
            "The assistant's rate limit is reached. Wait until it resets, then run the loop again."
        );
        assert!(clamp(&"ä".repeat(901)).chars().count() <= MESSAGE_CHARS);
    }
}
