//! Failures of the AI programs that another attempt cannot fix: usage limits, context limits, account problems, a
//! model that does not exist, and a request that violates the provider's policy.
//!
//! Structured members of a record decide first, then the [`FORMS`] of messages. Only records that are errors by their
//! structure are examined, so that a conversation about rate limits does not match. A program's own retries are
//! skipped, because they may still succeed.

use std::sync::LazyLock;

use jiff::Timestamp;
use regex::{Regex, RegexSet};

use crate::assistant_record::{AssistantRecord, RateLimitEvent, RecordKind};
use crate::redact;

/// Failure kinds, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum FailureKind {
    /// Too many requests, or the usage limit of the account is reached.
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

use FailureKind::{Account, ContextLimit, Model, Policy, RateLimit};

/// A recognized failure of an AI program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentFailure {
    /// What kind of failure it is.
    pub kind: FailureKind,
    /// Message of the program on one line, without secrets; empty if it printed none.
    pub detail: String,
    /// Time at which a usage limit resets, if the program reports it.
    pub resets_at: Option<Timestamp>,
}

/// Forms of the messages of `claude` and `codex` across versions, ignoring case. A text is searched for them even if
/// it is not known to be an error, such as the end of a log.
const FORMS: [(FailureKind, &str); 36] = [
    // "You've hit your limit", "… your 5-hour limit", "… your usage limit for <model>", "… your monthly spend limit",
    // "You've reached your Opus limit".
    (RateLimit, r"you(?:['’]ve| have)? (?:hit|reached) your (?:[\w.-]+ ){0,4}(?:limit|spend cap)\b"),
    (RateLimit, r"\b(?:hour|session|daily|weekly|monthly|opus|sonnet|fast|spend|credit) limit reached"),
    (RateLimit, r"spending cap reached"),
    (RateLimit, r"usage limit"),
    (RateLimit, r"reached your specified [\w\s-]*usage limits"),
    (RateLimit, r"out of (?:extra usage|usage|usage credits|credits)\b"),
    (RateLimit, r"rate_limit_error|rate limit reached"),
    (ContextLimit, r"prompt is too long"),
    (ContextLimit, r"exceeds? (?:the )?context limit|context limit reached"),
    (ContextLimit, r"ran out of room in the (?:model['’]s )?context window|context window exceeded"),
    (ContextLimit, r"conversation too long"),
    (ContextLimit, r"request_too_large|request too large"),
    (Model, r"model_not_found"),
    (Model, r"issue with the selected model"),
    (Model, r"\bmodel\b.{0,80}\b(?:not found|does not exist)\b"),
    (Model, r"\bmodel is not supported\b"),
    (Policy, r"violates? (?:our|the) (?:\w+ )?usage policy"),
    (Policy, r"content filtering policy"),
    (Account, r"authentication_error|authentication_failed|authentication required"),
    (Account, r"invalid bearer token|invalid token"),
    (Account, r"invalid (?:x-)?api[ -]key"),
    (Account, r"billing_error|permission_error"),
    (Account, r"overloaded_error|api overloaded"),
    (Account, r"\bunauthorized\b"),
    (Account, r"token.{0,80}expired"),
    (Account, r"\btoken was (?:revoked|already used)\b"),
    (Account, r"not authenticated|not logged in"),
    (Account, r"please (?:log in|run /login)|login required"),
    (Account, r"(?:log out and )?sign in again"),
    (Account, r"credit balance is too low"),
    (Account, r"check your plan and billing details"),
    (Account, r"with your chatgpt plan, upgrade to"),
    // Conclusive only in a text that is known to be an error.
    (RateLimit, r"rate[ _-]?limit"),
    (RateLimit, r"too many requests"),
    (ContextLimit, r"context window"),
    (ContextLimit, r"out of room"),
];
/// Number of forms, from the start, that are also conclusive in a text that is not known to be an error.
const CONCLUSIVE: usize = 32;

/// Upper bound of a detail in characters.
const DETAIL_CHARS: usize = 800;
/// Unix times above this are in milliseconds; as seconds, it is the year 5138.
const MAX_SECONDS: i64 = 100_000_000_000;

static COMPILED: LazyLock<RegexSet> = LazyLock::new(|| {
    let patterns = FORMS.map(|(_, pattern)| format!("(?i){pattern}"));
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    RegexSet::new(patterns).expect("constant patterns")
});
/// Time at which a limit resets, appended to a message as Unix time.
static RESET: LazyLock<Regex> = LazyLock::new(|| regex(r"\|(\d{10,13})\b"));
/// A program's report that it repeats a request.
static RECONNECTING: LazyLock<Regex> = LazyLock::new(|| regex(r"^Reconnecting\b.*\b\d+/\d+\b"));

fn regex(pattern: &str) -> Regex {
    #[expect(clippy::expect_used, reason = "the patterns are constants, and a test compiles them all")]
    Regex::new(pattern).expect("constant pattern")
}

/// Returns the kinds of failures that a text reports, which need not be an error as a whole.
pub fn kinds_in_text(text: &str) -> impl Iterator<Item = FailureKind> {
    let conclusive = COMPILED.matches(text).into_iter().filter(|form| *form < CONCLUSIVE);
    conclusive.map(|form| FORMS[form].0)
}

/// Recognizes a failure in an error message, or in the standard error of a failed program.
#[must_use]
pub fn in_error(text: &str) -> Option<AgentFailure> {
    // Joined to one line: programs wrap their messages, and the forms must match across the wraps.
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let kind = COMPILED.matches(&flat).iter().map(|form| FORMS[form].0).min()?;
    Some(AgentFailure::new(kind, &flat))
}

impl AgentFailure {
    fn new(kind: FailureKind, text: &str) -> Self {
        let end = RESET.captures(text).and_then(|captures| instant(&captures[1]));
        let text = match end {
            Some(end) => RESET.replace(text, format!(". It resets at {end}.")),
            None => text.into(),
        };
        let detail = redact::shorten(redact::credentials(&text).trim(), DETAIL_CHARS);
        Self { kind, detail, resets_at: end }
    }
}

/// Recognizes a failure in a record of the assistant's stream.
#[must_use]
pub fn in_record(record: &AssistantRecord) -> Option<AgentFailure> {
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
        return Some(AgentFailure::new(RateLimit, detail));
    }
    if !is_error && error.is_none() {
        return None;
    }
    let by_status = match status {
        Some(404) => Some(Model),
        Some(413) => Some(ContextLimit),
        _ => None,
    };
    let by_text = || texts.iter().filter_map(|text| in_error(text)).map(|failure| failure.kind).min();
    Some(AgentFailure::new(by_status.or_else(by_text)?, detail))
}

/// Recognizes an exceeded usage limit. Events with an `allowed…` status are warnings.
fn rate_limit_failure(event: &RateLimitEvent) -> Option<AgentFailure> {
    if event.status.starts_with("allowed") {
        return None;
    }
    let limit = event.limit.as_ref().map(|limit| format!("Limit: {limit}."));
    let resets_at = event.resets_at.as_deref().and_then(instant);
    let shown = resets_at.map(|at| at.to_string()).or_else(|| event.resets_at.clone());
    let reset = shown.map(|at| format!("It resets at {at}."));
    let detail = [limit, reset].into_iter().flatten().collect::<Vec<_>>().join(" ");
    Some(AgentFailure { resets_at, ..AgentFailure::new(RateLimit, &detail) })
}

/// Parses a Unix time in seconds or milliseconds, or a date.
fn instant(text: &str) -> Option<Timestamp> {
    match text.parse() {
        Ok(seconds) if seconds <= MAX_SECONDS => Timestamp::from_second(seconds).ok(),
        Ok(milliseconds) => Timestamp::from_millisecond(milliseconds).ok(),
        Err(_) => text.parse().ok(),
    }
}

/// Returns whether an error message of the reviewer reports that it repeats a request: `Reconnecting... 1/5`.
#[must_use]
pub fn is_reconnect(message: &str) -> bool {
    RECONNECTING.is_match(message)
}

/// Returns the message of a line with an error of the reviewer.
fn error(line: &str) -> Option<&str> {
    line.strip_prefix("ERROR:").map(str::trim)
}

/// Returns the errors with which the reviewer ended: the last block of lines that start with `ERROR:`, to the end of
/// its standard error. The whole text if there is none: banner, warnings and progress precede the errors.
#[must_use]
pub fn final_errors(stderr: &str) -> String {
    let is_retry = |line: &&str| error(line).is_some_and(is_reconnect);
    let lines: Vec<&str> = stderr.lines().filter(|line| !is_retry(line)).collect();
    let Some(last) = lines.iter().rposition(|line| error(line).is_some()) else { return stderr.to_owned() };
    let before = lines[..last].iter().rev().take_while(|line| error(line).is_some()).count();
    // To the end, because the last message may have several lines.
    let errors = lines[last - before..].iter().map(|line| error(line).unwrap_or_else(|| line.trim()));
    let mut errors: Vec<&str> = errors.collect();
    errors.dedup();
    errors.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn failure(record: &Value) -> Option<AgentFailure> {
        in_record(&record.clone().into())
    }

    fn kind(record: &Value) -> Option<FailureKind> {
        failure(record).map(|failure| failure.kind)
    }

    #[test]
    fn every_form_is_recognized() {
        // A message per form, in the order of the table.
        let messages = [
            "You've hit your 5-hour limit · resets 3pm (Europe/Berlin)",
            "5-hour limit reached ∙ resets 3am",
            "Spending cap reached resets 8pm",
            "Claude AI usage limit reached|1767225600",
            "You have reached your specified API usage limits. You will regain access on 2026-12-01",
            "You're out of extra usage · resets 3pm",
            "API Error: Rate limit reached",
            "Prompt is too long · 210000 tokens",
            "input length and max_tokens exceed context limit",
            "Codex ran out of room in the model's context window. Start a new thread",
            "Conversation too long. Press esc twice to go up a few messages",
            "Request too large (max 32MB)",
            "{\"type\":\"error\",\"error\":{\"type\":\"model_not_found\"}}",
            "There's an issue with the selected model (x). It may not exist.",
            "The model `x` does not exist or you do not have access to it.",
            "The 'x' model is not supported when using Codex with a ChatGPT account.",
            "unable to respond to this request, which appears to violate our Usage Policy",
            "Output blocked by content filtering policy",
            "authentication_error: OAuth authentication is not supported",
            "Invalid bearer token",
            "Invalid API key · Fix external API key",
            "billing_error",
            "API Error: 529 overloaded_error",
            "unexpected status 401 Unauthorized: , url: https://example.test/responses",
            "OAuth token has expired. Obtain a new one",
            "Your refresh token was revoked.",
            "Not logged in",
            "Please run /login",
            "Please log out and sign in again.",
            "Credit balance is too low",
            "Quota exceeded. Check your plan and billing details.",
            "To use Codex with your ChatGPT plan, upgrade to Plus: https://example.test",
            "This request would exceed your account's rate limit",
            "exceeded retry limit, last status: 429 Too Many Requests",
            "the context window is full",
            "no room: out of room",
        ];
        for (index, (message, (kind, pattern))) in messages.into_iter().zip(FORMS).enumerate() {
            assert!(COMPILED.matches(message).matched(index), "{message}: {pattern}");
            assert_eq!(in_error(message).map(|failure| failure.kind), Some(kind), "{message}");
            assert_eq!(kinds_in_text(message).next().is_some(), index < CONCLUSIVE, "{message}");
        }
    }

    #[test]
    fn usage_limits_of_both_programs_are_recognized() {
        for message in [
            "You've hit your limit",
            "You have reached your weekly limit",
            "You’ve hit your session limit · resets 7:40pm (UTC)",
            "You've hit your weekly limit",
            "You've hit your Opus limit",
            "You've hit your monthly spend limit. /model to switch models.",
            "You've reached your Fable 5 limit.",
            "Weekly limit reached ∙ resets Oct 6, 1pm",
            "Monthly spend limit reached",
            "You're out of usage credits. Run /usage-credits to keep using it",
            "Your org is out of usage · contact your admin",
            "You’ve hit your usage limit for gpt-5.3-codex. Switch to another model now, or try again at 3:28 PM.",
            "You’ve hit your usage limit. Upgrade to Pro or try again in 3 days 2 hours.",
            "You hit your spend cap set by the owner of your workspace.",
            "Your workspace is out of credits. Add credits to continue.",
        ] {
            assert!(kinds_in_text(message).all(|kind| kind == RateLimit), "{message}");
            assert_eq!(in_error(message).map(|failure| failure.kind), Some(RateLimit), "{message}");
        }
    }

    #[test]
    fn end_of_a_limit_is_read_in_every_format() {
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        for value in [json!(1_767_225_600), json!(1_767_225_600_000_u64), json!("2026-01-01T00:00:00Z")] {
            let info = json!({"status": "rejected", "resetsAt": value, "rateLimitType": "five_hour"});
            let failure = failure(&json!({"type": "rate_limit_event", "rate_limit_info": info})).unwrap();
            assert_eq!(failure.resets_at, Some(at), "{value}");
            assert_eq!(failure.detail, "Limit: five_hour. It resets at 2026-01-01T00:00:00Z.");
        }
        for time in ["1767225600", "1767225600000"] {
            let failure = in_error(&format!("Claude AI usage limit reached|{time}")).unwrap();
            assert_eq!(failure.resets_at, Some(at));
            assert_eq!(failure.detail, "Claude AI usage limit reached. It resets at 2026-01-01T00:00:00Z.");
        }
    }

    #[test]
    fn structured_members_decide_before_texts() {
        let cases = [
            (json!({"type": "result", "is_error": true, "api_error_status": 429}), RateLimit),
            (json!({"type": "assistant", "error": "rate_limit"}), RateLimit),
            (json!({"type": "rate_limit_event", "rate_limit_info": {"status": "rejected"}}), RateLimit),
            (json!({"type": "result", "is_error": true, "api_error_status": 404}), Model),
            (json!({"type": "assistant", "error": "model_not_found"}), Model),
            (json!({"type": "result", "is_error": true, "api_error_status": 413}), ContextLimit),
            (json!({"type": "result", "is_error": true, "result": "You've hit your limit"}), RateLimit),
            (
                json!({"type": "assistant", "isApiErrorMessage": true,
                       "message": {"content": [{"type": "text", "text": "OAuth token has expired"}]}}),
                Account,
            ),
            (
                json!({"type": "result", "subtype": "error", "result": "Invalid API key · Please run /login"}),
                Account,
            ),
        ];
        for (record, expected) in cases {
            assert_eq!(kind(&record), Some(expected), "{record}");
        }
    }

    // PL-19
    #[test]
    fn conversation_retries_and_allowed_limits_are_not_failures() {
        let harmless = [
            json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "We hit the rate limit"}]}}),
            json!({"type": "result", "is_error": false, "result": "documented the rate limit and 401 unauthorized"}),
            json!({"type": "result", "is_error": false, "result": "model_not_found is handled"}),
            json!({"type": "system", "subtype": "api_retry", "error_status": 429, "error": "rate_limit"}),
            json!({"type": "rate_limit_event", "rate_limit_info": {"status": "allowed_warning"}}),
            json!({"type": "user", "message": {"content": [{"type": "tool_result", "content": "429 rate limit"}]}}),
        ];
        for record in harmless {
            assert_eq!(kind(&record), None, "{record}");
        }
        assert_eq!(kinds_in_text("how do we handle authorization and the context window?").count(), 0);
    }

    #[test]
    fn failure_is_recognized_in_wrapped_standard_error() {
        let failure = in_error("fatal:\n  Prompt is too\tlong").unwrap();
        assert_eq!((failure.kind, failure.detail.as_str()), (ContextLimit, "fatal: Prompt is too long"));
        assert_eq!(in_error("segmentation fault"), None);
        // The reason is at the end of a long text.
        let long = format!("{} Prompt is too long", "warning: x ".repeat(200));
        assert!(in_error(&long).unwrap().detail.ends_with("Prompt is too long"));
    }

    #[test]
    fn final_errors_of_a_reviewer_are_extracted() {
        let banner = "OpenAI Codex v0.171.0\n--------\nworkdir: /w\n--------\nwarning: hooks are off\n";
        let limit = "You’ve hit your usage limit. Try again at 3:28 PM.";
        for (stderr, errors) in [
            (format!("{banner}ERROR: {limit}\n"), limit),
            (format!("{banner}ERROR: Reconnecting... 1/5\nERROR: {limit}\nERROR: {limit}\n"), limit),
            (format!("{banner}ERROR: first\nexec\nERROR: one\nERROR: two\n  more\n"), "one\ntwo\nmore"),
            (format!("{banner}ERROR: {limit}\nERROR: Reconnecting... 1/5\n"), limit),
            ("boom\n".to_owned(), "boom\n"),
        ] {
            assert_eq!(final_errors(&stderr), errors, "{stderr}");
        }
        assert!(is_reconnect("Reconnecting... 2/5 (stream disconnected before completion)"));
        assert!(!is_reconnect("stream disconnected before completion"));
    }
}
