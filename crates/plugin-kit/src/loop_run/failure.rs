//! Failures of the assistant that another iteration cannot fix: rate limits, context limits, account problems,
//! a model that does not exist, and a request that violates the provider's policy.
//!
//! Only records that are errors by their structure are examined, so that a conversation about rate limits
//! does not match. The assistant's own retries are skipped, because they may still succeed.

use std::sync::LazyLock;

use jiff::Timestamp;
use loopgate_api::assistant_record::{AssistantRecord, RateLimitEvent, RecordKind};
use loopgate_api::redact;
use regex::Regex;

/// Upper bound of a message in characters; the failure marker allows 1,000, including the ellipsis.
const MESSAGE_CHARS: usize = 900;
/// Upper bound of the excerpt of standard error, in characters.
const STDERR_CHARS: usize = 800;

/// Failure kinds, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// Too many requests, or the usage limit of the subscription is reached.
    RateLimit,
    /// The conversation exceeds the model's context, or a request its maximum size.
    ContextLimit,
    /// The model does not exist, or the account may not use it.
    Model,
    /// The provider's usage policy rejects the request.
    Policy,
    /// Sign-in or billing problem, or an overloaded service.
    Account,
}

/// A recognized failure, which ends the loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownFailure {
    pub kind: FailureKind,
    /// Message to the user, redacted.
    pub message: String,
    /// End of a rate limit, if the assistant reports it.
    pub resets_at: Option<Timestamp>,
}

impl FailureKind {
    /// Returns the status in `runs.log`.
    #[must_use]
    pub const fn status(self) -> &'static str {
        match self {
            Self::RateLimit => "assistant_rate_limit",
            Self::ContextLimit => "context_limit",
            Self::Model => "assistant_model_unavailable",
            Self::Policy => "assistant_request_rejected",
            Self::Account => "assistant_auth_error",
        }
    }

    /// Returns the subcode of the failure marker.
    #[must_use]
    pub const fn subcode(self) -> &'static str {
        match self {
            Self::RateLimit => "ASSISTANT_RATE_LIMIT",
            Self::ContextLimit => "ASSISTANT_CONTEXT_LIMIT",
            Self::Model => "ASSISTANT_MODEL_UNAVAILABLE",
            Self::Policy => "ASSISTANT_REQUEST_REJECTED",
            Self::Account => "ASSISTANT_AUTH_CHALLENGE",
        }
    }

    const fn prefix(self) -> &'static str {
        match self {
            Self::RateLimit => "The assistant's rate limit is reached.",
            Self::ContextLimit => "The assistant's context limit is reached.",
            Self::Model => {
                "The assistant's account cannot use the model of the loop. Set `loop_model` in settings.toml to another one."
            }
            Self::Policy => "The model's provider rejects the request.",
            Self::Account => "The assistant cannot use its account.",
        }
    }

    const fn hint(self) -> &'static str {
        match self {
            Self::RateLimit => "Wait until it resets, then run the loop again.",
            Self::ContextLimit => "Start the loop again, with smaller inputs if it recurs.",
            Self::Model => "The model was not found.",
            Self::Policy => "Change the request, then start the loop again.",
            Self::Account => "Sign in to the assistant in a terminal, then run the loop again.",
        }
    }

    const fn all() -> [Self; 5] {
        [Self::RateLimit, Self::ContextLimit, Self::Model, Self::Policy, Self::Account]
    }

    fn matches(self, text: &str) -> bool {
        match self {
            Self::RateLimit => RATE_LIMIT.is_match(text),
            Self::ContextLimit => CONTEXT_LIMIT.is_match(text),
            Self::Model => MODEL.is_match(text),
            Self::Policy => POLICY.is_match(text),
            Self::Account => ACCOUNT.is_match(text),
        }
    }

    fn failure(self, detail: &str) -> KnownFailure {
        let detail = if detail.trim().is_empty() { self.hint() } else { detail.trim() };
        // Overload shares the handling of account failures, but the message must not tell the user to sign
        // in.
        let is_overload = self == Self::Account && detail.to_lowercase().contains("overloaded");
        let prefix = if is_overload { "The model's service is overloaded." } else { self.prefix() };
        let message = clamp(&redact::credentials(&format!("{prefix} {detail}")));
        KnownFailure { kind: self, message, resets_at: None }
    }
}

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    Regex::new(pattern).expect("constant pattern")
}

static RATE_LIMIT: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)you['’]ve hit your (?:\w+ )?limit|usage limit|rate[ _-]?limit"));
static CONTEXT_LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)prompt is too long|exceeds? (?:the )?context limit|context limit reached|conversation too long|request_too_large|request too large",
    )
});
static MODEL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)model_not_found|issue with the selected model|\bmodel\b.{0,80}\b(?:not found|does not exist)\b",
    )
});
static POLICY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)violates? (?:our|the) (?:\w+ )?usage policy|content filtering policy"));
static ACCOUNT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)authentication_error|authentication_failed|invalid bearer token|invalid (?:x-)?api[ -]key|billing_error|permission_error|overloaded_error|api overloaded|\bunauthorized\b|\btoken\b.{0,80}\bexpired\b|not authenticated|please (?:log in|run /login)|login required",
    )
});

/// Recognizes a failure in a record of the stream.
#[must_use]
pub fn in_record(record: &AssistantRecord) -> Option<KnownFailure> {
    let (mut texts, error, status, is_error) = match &record.kind {
        RecordKind::RateLimit(limit) => return rate_limit_failure(limit),
        RecordKind::Result(result) => {
            (Vec::from_iter(result.text.as_deref()), &result.error, result.error_status, result.is_error)
        }
        RecordKind::Assistant(message) => {
            (message.content.texts().collect(), &message.error, message.error_status, message.is_api_error)
        }
        // Among the others are the assistant's reports of its retries, with the errors that caused them.
        _ => return None,
    };
    texts.extend(error.as_deref());
    texts.retain(|text| !text.trim().is_empty());
    let detail = texts.first().copied().unwrap_or_default();
    let is_rate_limit = |error: &String| {
        ["rate_limit", "rate_limit_error"].iter().any(|name| error.eq_ignore_ascii_case(name))
    };
    // Conclusive, whatever the texts of the record.
    if status == Some(429) || error.as_ref().is_some_and(is_rate_limit) {
        return Some(FailureKind::RateLimit.failure(detail));
    }
    if !is_error && error.is_none() {
        return None;
    }
    let by_status = match status {
        Some(404) => Some(FailureKind::Model),
        Some(413) => Some(FailureKind::ContextLimit),
        _ => None,
    };
    let has_text = |kind: &FailureKind| texts.iter().any(|text| kind.matches(text));
    let kind = by_status.or_else(|| FailureKind::all().into_iter().find(has_text))?;
    Some(kind.failure(detail))
}

/// Recognizes a failure in the standard error of a failed program.
#[must_use]
pub fn in_stderr(stderr: &str) -> Option<KnownFailure> {
    // Joined to one line: the assistant wraps its messages, and the patterns must match across the wraps.
    let flat = stderr.split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = FailureKind::all().into_iter().find(|kind| kind.matches(&flat))?;
    let short: String = redact::credentials(&flat).chars().take(STDERR_CHARS).collect();
    Some(kind.failure(&short))
}

/// Recognizes an exceeded rate limit. Events with an `allowed…` status are warnings.
fn rate_limit_failure(event: &RateLimitEvent) -> Option<KnownFailure> {
    if event.status.starts_with("allowed") {
        return None;
    }
    let limit = event.limit.as_ref().map(|limit| format!("Limit: {limit}."));
    let resets_at = event.resets_at.as_deref().and_then(instant);
    let shown = resets_at.map(|at| at.to_string()).or_else(|| event.resets_at.clone());
    let reset = shown.map(|at| format!("It resets at {at}."));
    let detail = [limit, reset].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(KnownFailure { resets_at, ..FailureKind::RateLimit.failure(&detail) })
}

/// Parses Unix seconds or a date.
fn instant(text: &str) -> Option<Timestamp> {
    match text.parse() {
        Ok(seconds) => Timestamp::from_second(seconds).ok(),
        Err(_) => text.parse().ok(),
    }
}

/// Truncates a message for the failure marker.
#[must_use]
pub fn clamp(message: &str) -> String {
    if message.chars().count() <= MESSAGE_CHARS {
        return message.to_owned();
    }
    let mut short: String = message.chars().take(MESSAGE_CHARS).collect();
    short.push_str("...");
    short
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn failure(record: &Value) -> Option<KnownFailure> {
        in_record(&record.clone().into())
    }

    fn kind(record: &Value) -> Option<FailureKind> {
        failure(record).map(|failure| failure.kind)
    }

    #[test]
    fn overloaded_service_is_reported_as_such() {
        let record = json!({"type": "result", "is_error": true, "result": "API Error: 529 overloaded_error"});
        let failure = failure(&record).unwrap();
        assert_eq!(failure.kind, FailureKind::Account);
        assert_eq!(failure.message, "The model's service is overloaded. API Error: 529 overloaded_error");
    }

    #[test]
    fn failure_kind_depends_on_structure_and_text() {
        let cases = [
            (json!({"type": "result", "is_error": true, "api_error_status": 429}), FailureKind::RateLimit),
            (json!({"type": "assistant", "error": "rate_limit"}), FailureKind::RateLimit),
            (
                json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}),
                FailureKind::RateLimit,
            ),
            (
                json!({"type": "result", "is_error": true, "result": "You've hit your limit"}),
                FailureKind::RateLimit,
            ),
            (
                json!({"type": "result", "is_error": true, "result": "Prompt is too long · 9"}),
                FailureKind::ContextLimit,
            ),
            (
                json!({"type": "assistant", "isApiErrorMessage": true,
                       "message": {"content": [{"type": "text", "text": "OAuth token has expired"}]}}),
                FailureKind::Account,
            ),
            (
                json!({"type": "result", "subtype": "error", "result": "Invalid API key · Please run /login"}),
                FailureKind::Account,
            ),
        ];
        for (record, expected) in cases {
            assert_eq!(kind(&record), Some(expected), "{record}");
        }
    }

    #[test]
    fn failures_that_no_retry_repairs_are_recognized_by_status_or_text() {
        let result = |text: &str| json!({"type": "result", "is_error": true, "result": text});
        let cases = [
            (json!({"type": "assistant", "error": "model_not_found"}), FailureKind::Model),
            (json!({"type": "result", "is_error": true, "api_error_status": 404}), FailureKind::Model),
            (result("There's an issue with the selected model (x). It may not exist."), FailureKind::Model),
            (json!({"type": "result", "is_error": true, "api_error_status": 413}), FailureKind::ContextLimit),
            (result("Request too large (max 32MB)"), FailureKind::ContextLimit),
            (
                result(
                    "API Error: unable to respond to this request, which appears to violate our Usage Policy",
                ),
                FailureKind::Policy,
            ),
        ];
        for (record, expected) in cases {
            assert_eq!(kind(&record), Some(expected), "{record}");
        }
        let failure = failure(&json!({"type": "assistant", "error": "model_not_found"})).unwrap();
        assert!(failure.message.contains("`loop_model`"), "{}", failure.message);
        assert_eq!(
            kind(&json!({"type": "result", "is_error": false, "result": "model_not_found is handled"})),
            None
        );
    }

    // PL-19
    #[test]
    fn conversation_retries_and_allowed_limits_are_not_failures() {
        let harmless = [
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "We hit the rate limit"}]}}),
            json!({"type": "result", "is_error": false, "result": "documented the rate limit and 401 unauthorized"}),
            json!({"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"}),
            json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "429 rate limit"}]}}),
        ];
        for record in harmless {
            assert_eq!(kind(&record), None, "{record}");
        }
    }

    #[test]
    fn failure_is_recognized_in_standard_error() {
        assert_eq!(
            in_stderr("fatal:\n  Prompt is too\tlong").map(|f| f.kind),
            Some(FailureKind::ContextLimit)
        );
        assert_eq!(in_stderr("segmentation fault"), None);
    }

    #[test]
    fn long_message_is_truncated() {
        assert_eq!(clamp(&"ä".repeat(901)).chars().count(), 903);
        assert_eq!(clamp("short"), "short");
    }
}
