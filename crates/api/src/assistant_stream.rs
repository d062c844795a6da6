//! Parser of the assistant's `stream-json` output: one JSON object per line.
//!
//! The runtime, the loop driver and the chats all read the stream through this module.

use serde_json::Value;

use crate::event::TokensUsed;
use crate::ledger::{Ledger, LedgerEntry};
use crate::redact;

/// Substrings of authentication, quota and overload errors; lower case.
const AUTH_PATTERNS: &[&str] = &[
    "authentication_error",
    "authentication required",
    "invalid bearer token",
    "invalid token",
    "rate_limit_error",
    "rate limit reached",
    "usage limit",
    "billing_error",
    "permission_error",
    "overloaded_error",
    "api overloaded",
];

/// Substrings of errors about an exhausted context window; lower case.
const CONTEXT_PATTERNS: &[&str] =
    &["prompt is too long", "exceed context limit", "context limit reached", "conversation too long"];

/// Returns whether an error text means that the assistant's account cannot be used at present.
#[must_use]
pub fn is_auth_failure(text: &str) -> bool {
    let text = text.to_lowercase();
    // Whole words only for the short patterns: "unauthorized" occurs in many identifiers, and "token" and
    // "expired" count only in this order on one line.
    AUTH_PATTERNS.iter().any(|pattern| text.contains(pattern))
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unauthorized")
        || text.lines().any(|line| line.find("token").is_some_and(|at| line[at..].contains("expired")))
}

/// Returns whether an error text means that the conversation exceeds the model's context window.
#[must_use]
pub fn is_context_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    CONTEXT_PATTERNS.iter().any(|pattern| text.contains(pattern))
}

/// Subtype of the `system` record with which the loop driver reports that it waits until a usage limit
/// resets.
pub const WAITING_FOR_LIMIT: &str = "waiting_for_limit";

/// Subtype of the `result` record of a run that exhausted its budget.
pub const BUDGET_USED_UP: &str = "error_max_budget_usd";

/// Returns one redacted line that describes a record to users; `None` for a record without displayable
/// content.
#[must_use]
pub fn display_text(record: &Value) -> Option<String> {
    match record.get("type")?.as_str()? {
        "assistant" | "user" => {
            let content = record.pointer("/message/content")?;
            // The display has one line per record, so only the first displayable block is shown.
            content.as_array()?.iter().find_map(block_text)
        }
        "content_block_delta" => {
            let delta = record.get("delta")?;
            (delta.get("type")?.as_str()? == "text_delta")
                .then(|| redact_and_truncate(delta.get("text")?.as_str()?, 200).into())?
        }
        "result" => Some(result_text(record)),
        "system" if record.get("subtype")?.as_str()? == WAITING_FOR_LIMIT => {
            Some(redact_and_truncate(record.get("message")?.as_str()?, 300))
        }
        _ => None,
    }
}

fn block_text(block: &Value) -> Option<String> {
    match block.get("type")?.as_str()? {
        "tool_use" => Some(tool_text(block)),
        "text" => Some(redact_and_truncate(block.get("text")?.as_str()?, 200))
            .filter(|text| !text.trim().is_empty()),
        "thinking" => Some("Thinking...".to_owned()),
        "tool_result" => Some(tool_result_text(block)),
        _ => None,
    }
}

fn tool_text(block: &Value) -> String {
    let name = block.get("name").and_then(Value::as_str).unwrap_or("?");
    let argument = ["file_path", "path", "command", "pattern"]
        .iter()
        .find_map(|member| block.pointer(&format!("/input/{member}"))?.as_str());
    match argument {
        Some(argument) => format!("Tool: {name}({})", redact_and_truncate(argument, 80)),
        None => format!("Tool: {name}"),
    }
}

fn tool_result_text(block: &Value) -> String {
    if block.get("is_error").and_then(Value::as_bool).unwrap_or(false) {
        return "Tool error".to_owned();
    }
    let content = block.get("content");
    let text = content
        .and_then(Value::as_str)
        .or_else(|| content?.as_array()?.iter().find_map(|part| part.get("text")?.as_str()));
    match text {
        Some(text) if !text.trim().is_empty() => format!("Tool result: {}", redact_and_truncate(text, 120)),
        _ => "Tool result".to_owned(),
    }
}

fn result_text(record: &Value) -> String {
    let failed = record.get("is_error").and_then(Value::as_bool).unwrap_or(false)
        || record.get("subtype").and_then(Value::as_str) == Some("error");
    if !failed {
        return "Turn complete".to_owned();
    }
    let text = ["/result", "/error", "/errors/0"].iter().find_map(|at| record.pointer(at)?.as_str());
    format!("Error: {}", redact_and_truncate(text.unwrap_or_default(), 200))
}

/// Redacts a text, then truncates it to `max` characters.
fn redact_and_truncate(text: &str, max: usize) -> String {
    // Redaction comes first: the start of a credential that was cut off would match no pattern.
    let text = redact::credentials(text);
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// Returns the session id of a record, whichever member holds it.
#[must_use]
pub fn session_id(record: &Value) -> Option<&str> {
    ["/session_id", "/sessionId", "/message/session_id", "/message/sessionId", "/item/session_id"]
        .iter()
        .find_map(|pointer| record.pointer(pointer)?.as_str())
        .filter(|id| !id.is_empty())
}

/// Accumulated state of one pass over a stream, fed line by line.
#[derive(Debug, Clone, Default)]
pub struct StreamSummary {
    /// Token counts and cost of the stream.
    pub ledger: Box<Ledger>,
    /// Session id of the last record that had one.
    pub session_id: Option<String>,
    /// Source of the assistant's API key, as it reports it; `None` until it does.
    pub api_key_source: Option<String>,
    /// Whether a `result` record reported success.
    pub succeeded: bool,
    /// Text of the last failed `result` record or API error record.
    pub failure: Option<String>,
    /// Account error: rate limit, authentication or billing.
    pub auth_failure: Option<String>,
    /// Error about an exhausted context window.
    pub context_failure: Option<String>,
}

impl StreamSummary {
    /// Processes one line; ignores lines that are not JSON.
    pub fn feed(&mut self, line: &str) {
        if let Ok(record) = serde_json::from_str::<Value>(line) {
            self.feed_record(&record);
        }
    }

    /// Processes one record; returns the turn or run that it completed.
    pub fn feed_record(&mut self, record: &Value) -> Option<LedgerEntry> {
        if let Some(id) = session_id(record) {
            self.session_id = Some(id.to_owned());
        }
        match record.get("type").and_then(Value::as_str) {
            Some("system") => {
                if record.get("subtype").and_then(Value::as_str) == Some(WAITING_FOR_LIMIT) {
                    // The driver resumes after the limit resets, so this error does not explain a later
                    // failure.
                    (self.failure, self.auth_failure) = (None, None);
                }
                if let Some(source) = record.get("apiKeySource").and_then(Value::as_str) {
                    self.api_key_source = Some(source.to_owned());
                }
            }
            Some("assistant") if record.get("isApiErrorMessage").is_some_and(|is| is == true) => {
                self.feed_api_error(record);
            }
            Some("result") => self.feed_result(record),
            _ => {}
        }
        self.ledger.feed(record)
    }

    /// Returns the token counts in the form of the `completed` event.
    #[must_use]
    pub fn tokens_used(&self) -> TokensUsed {
        let usage = self.ledger.usage();
        TokensUsed {
            input: usage.input_tokens,
            output: usage.output_tokens,
            cache_creation_input_tokens: usage.cache_creation_input_tokens,
            cache_read_input_tokens: usage.cache_read_input_tokens,
            turns: self.ledger.turns(),
            models: self.ledger.models().to_vec(),
        }
    }

    fn feed_api_error(&mut self, record: &Value) {
        let status = record.get("apiErrorStatus").and_then(Value::as_u64);
        let error = record.get("error").and_then(Value::as_str).unwrap_or_default();
        let text = record
            .pointer("/message/content")
            .and_then(Value::as_array)
            .and_then(|blocks| blocks.iter().find_map(|block| block.get("text")?.as_str()))
            .unwrap_or(error);
        self.failure = Some(text.to_owned());
        // `apiErrorStatus` may be absent, so the error class is checked first.
        let has_class = ["rate_limit", "forbidden", "access denied"].iter().any(|word| error.contains(word));
        if has_class {
            let status = status.map(|s| format!(" (status {s})")).unwrap_or_default();
            self.auth_failure = Some(format!("Assistant API {error} error{status}"));
        } else if let Some(status @ (401 | 403 | 429)) = status {
            self.auth_failure = Some(format!("API returned HTTP {status}: {error}"));
        } else {
            self.classify(text);
        }
    }

    fn feed_result(&mut self, record: &Value) {
        let failed = record.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let subtype = record.get("subtype").and_then(Value::as_str).unwrap_or_default();
        if !failed && subtype == "success" {
            self.succeeded = true;
            return;
        }
        let text =
            record.get("result").or_else(|| record.get("error")).and_then(Value::as_str).unwrap_or(subtype);
        self.failure = Some(text.to_owned());
        self.classify(text);
    }

    fn classify(&mut self, text: &str) {
        if is_context_limit(text) {
            self.context_failure = Some(text.to_owned());
        } else if is_auth_failure(text) {
            self.auth_failure = Some(text.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn records_are_shown_in_one_line() {
        let read = json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Read", "input": {"file_path": "src/main.rs"}}]}});
        assert_eq!(display_text(&read).as_deref(), Some("Tool: Read(src/main.rs)"));
        let done = json!({"type": "result", "subtype": "success"});
        assert_eq!(display_text(&done).as_deref(), Some("Turn complete"));
        let failed = json!({"type": "result", "is_error": true, "result": "Prompt is too long"});
        assert_eq!(display_text(&failed).as_deref(), Some("Error: Prompt is too long"));
        assert_eq!(display_text(&json!({"type": "system"})), None);
    }

    #[test]
    fn secret_is_redacted_before_truncation() {
        let secret = format!("{} ghp_{}", "x".repeat(190), "a".repeat(30));
        let record = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": secret}]}});
        assert!(!display_text(&record).unwrap().contains("ghp_"));
    }

    #[test]
    fn tokens_are_summed_over_records_and_models() {
        let mut summary = StreamSummary::default();
        for model in ["large", "small", "large"] {
            summary.feed_record(&json!({"type": "assistant", "message": {"model": model,
                "usage": {"input_tokens": 10, "output_tokens": 1}}}));
        }
        assert_eq!(summary.ledger.usage().input_tokens, 30);
        assert_eq!(summary.ledger.models(), ["large", "small"]);
        assert_eq!(summary.ledger.by_model()["large"].input, 20);
        assert_eq!(summary.tokens_used().turns, 3);
    }

    #[test]
    fn failures_are_classified() {
        let mut summary = StreamSummary::default();
        summary.feed_record(&json!({"type": "result", "is_error": true, "result": "Prompt is too long"}));
        assert!(summary.context_failure.is_some() && summary.auth_failure.is_none());
        assert!(is_auth_failure("OAuth token has expired"));
        assert!(!is_auth_failure("how do we handle authorization in this design?"));
    }

    proptest! {
        #[test]
        fn any_line_is_accepted(line in ".*") {
            StreamSummary::default().feed(&line);
        }
    }
}
