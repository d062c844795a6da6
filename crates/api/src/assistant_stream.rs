//! The assistant's `stream-json` output: one JSON object a line.
//!
//! The runtime's tailer, the loop driver and the chats all read the stream through this module.

use serde_json::Value;

use crate::event::TokensUsed;
use crate::ledger::{Ledger, LedgerEntry};
use crate::redact;

/// Text patterns of an authentication or quota failure; lower case.
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

/// Text patterns of an exhausted context; lower case.
const CONTEXT_PATTERNS: &[&str] =
    &["prompt is too long", "exceed context limit", "context limit reached", "conversation too long"];

/// Whether a text says that the assistant's account cannot be used at present.
#[must_use]
pub fn is_auth_failure(text: &str) -> bool {
    let text = text.to_lowercase();
    AUTH_PATTERNS.iter().any(|pattern| text.contains(pattern))
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == "unauthorized")
        || text.lines().any(|line| line.find("token").is_some_and(|at| line[at..].contains("expired")))
}

/// Whether a text says that the conversation has outgrown the model's context.
#[must_use]
pub fn is_context_limit(text: &str) -> bool {
    let text = text.to_lowercase();
    CONTEXT_PATTERNS.iter().any(|pattern| text.contains(pattern))
}

/// Subtype of the `system` record by which the loop driver says that it waits for the end of a limit.
pub const WAITING_FOR_LIMIT: &str = "waiting_for_limit";

/// Subtype of the `result` record of a run that has spent its budget.
pub const BUDGET_USED_UP: &str = "error_max_budget_usd";

/// One line of a record for people, redacted; `None` when the record has nothing to show.
#[must_use]
pub fn display_text(record: &Value) -> Option<String> {
    match record.get("type")?.as_str()? {
        "assistant" | "user" => {
            let content = record.pointer("/message/content")?;
            content.as_array()?.iter().find_map(block_text)
        }
        "content_block_delta" => {
            let delta = record.get("delta")?;
            (delta.get("type")?.as_str()? == "text_delta")
                .then(|| cut(delta.get("text")?.as_str()?, 200).into())?
        }
        "result" => Some(result_text(record)),
        "system" if record.get("subtype")?.as_str()? == WAITING_FOR_LIMIT => {
            Some(cut(record.get("message")?.as_str()?, 300))
        }
        _ => None,
    }
}

fn block_text(block: &Value) -> Option<String> {
    match block.get("type")?.as_str()? {
        "tool_use" => Some(tool_text(block)),
        "text" => Some(cut(block.get("text")?.as_str()?, 200)).filter(|text| !text.trim().is_empty()),
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
        Some(argument) => format!("Tool: {name}({})", cut(argument, 80)),
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
        Some(text) if !text.trim().is_empty() => format!("Tool result: {}", cut(text, 120)),
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
    format!("Error: {}", cut(text.unwrap_or_default(), 200))
}

/// Redacts, then keeps the first `max` characters.
fn cut(text: &str, max: usize) -> String {
    let text = redact::credentials(text);
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

/// Session id named by a record.
#[must_use]
pub fn session_id(record: &Value) -> Option<&str> {
    ["/session_id", "/sessionId", "/message/session_id", "/message/sessionId", "/item/session_id"]
        .iter()
        .find_map(|pointer| record.pointer(pointer)?.as_str())
        .filter(|id| !id.is_empty())
}

/// What one pass over a stream has learned; fed line by line, never re-read.
#[derive(Debug, Clone, Default)]
pub struct StreamSummary {
    /// Tokens and money.
    pub ledger: Box<Ledger>,
    /// The last session id.
    pub session_id: Option<String>,
    /// Where the assistant's key came from.
    pub api_key_source: Option<String>,
    /// Whether a `result` record said success.
    pub succeeded: bool,
    /// Text of the last failing `result` record, or of an API error record.
    pub failure: Option<String>,
    /// Failure of the account: rate limit, login, billing.
    pub auth_failure: Option<String>,
    /// Failure of the context size.
    pub context_failure: Option<String>,
}

impl StreamSummary {
    /// Takes one line; a line that is not a JSON object changes nothing.
    pub fn feed(&mut self, line: &str) {
        if let Ok(record) = serde_json::from_str::<Value>(line) {
            self.feed_record(&record);
        }
    }

    /// Takes one record; answers the turn or run that it brought.
    pub fn feed_record(&mut self, record: &Value) -> Option<LedgerEntry> {
        if let Some(id) = session_id(record) {
            self.session_id = Some(id.to_owned());
        }
        match record.get("type").and_then(Value::as_str) {
            Some("system") => {
                if record.get("subtype").and_then(Value::as_str) == Some(WAITING_FOR_LIMIT) {
                    // A limit that is waited out explains no later failure.
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

    /// The form that the `completed` event carries.
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
        let named = ["rate_limit", "forbidden", "access denied"].iter().any(|word| error.contains(word));
        if named {
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
    fn secret_is_replaced_before_the_cut() {
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
        fn no_line_breaks_the_reader(line in ".*") {
            StreamSummary::default().feed(&line);
        }
    }
}
