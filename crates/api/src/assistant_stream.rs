//! What the assistant's output says about a run: lines for users, token counts, and the reasons of failures.

use crate::agent_failure::{FailureKind, kinds_in_text};
use crate::assistant_record::{
    AssistantMessage, AssistantRecord, Block, RecordKind, ResultRecord, SystemEvent, SystemRecord,
    ToolResult, ToolUse,
};
use crate::event::TokensUsed;
use crate::ledger::{Ledger, LedgerEntry};
use crate::names::DELIVERY_TAGS;
use crate::redact;

/// Returns whether a text reports that the assistant's account cannot be used at present.
#[must_use]
pub fn is_auth_failure(text: &str) -> bool {
    kinds_in_text(text).any(|kind| matches!(kind, FailureKind::RateLimit | FailureKind::Account))
}

/// Returns whether a text reports that the conversation exceeds the model's context window.
#[must_use]
pub fn is_context_limit(text: &str) -> bool {
    kinds_in_text(text).any(|kind| kind == FailureKind::ContextLimit)
}

/// Returns one redacted line that describes a record to users; `None` for a record without displayable
/// content.
#[must_use]
pub fn display_text(record: &AssistantRecord) -> Option<String> {
    match &record.kind {
        // The display has one line per record, so only the first displayable block is shown.
        RecordKind::Assistant(message) => message.content.blocks().iter().find_map(block_text),
        RecordKind::User(content) => content.blocks().iter().find_map(block_text),
        RecordKind::TextDelta(text) if !text.is_empty() => Some(redact_and_truncate(text, 200)),
        RecordKind::Result(result) => Some(result_text(result)),
        RecordKind::System(SystemRecord { event: SystemEvent::WaitingForLimit(message), .. }) => {
            Some(redact_and_truncate(message, 300))
        }
        _ => None,
    }
}

fn block_text(block: &Block) -> Option<String> {
    match block {
        Block::ToolUse(call) => Some(tool_text(call)),
        Block::Text(text) => Some(redact_and_truncate(text, 200)).filter(|text| !text.trim().is_empty()),
        Block::Thinking(_) => Some("Thinking...".to_owned()),
        Block::ToolResult(result) => Some(tool_result_text(result)),
        Block::Unknown(_) => None,
    }
}

fn tool_text(call: &ToolUse) -> String {
    let name = if call.name.is_empty() { "?" } else { &call.name };
    let arguments = ["file_path", "path", "command", "pattern"].map(|name| call.argument(name));
    match arguments.into_iter().find(|argument| !argument.is_empty()) {
        Some(argument) => format!("Tool: {name}({})", redact_and_truncate(argument, 80)),
        None => format!("Tool: {name}"),
    }
}

fn tool_result_text(result: &ToolResult) -> String {
    if result.is_error == Some(true) {
        return "Tool error".to_owned();
    }
    match result.texts().next() {
        Some(text) if !text.trim().is_empty() => format!("Tool result: {}", redact_and_truncate(text, 120)),
        _ => "Tool result".to_owned(),
    }
}

fn result_text(result: &ResultRecord) -> String {
    if !result.is_error {
        return "Turn complete".to_owned();
    }
    format!("Error: {}", redact::shorten(&redact::credentials(result.reason().unwrap_or_default()), 200))
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
    /// Text of the last successful `result` record that contains the texts of a delivery.
    pub delivery: Option<String>,
    /// Whether the last run exhausted its budget.
    pub used_up_budget: bool,
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
        if let Ok(record) = serde_json::from_str(line) {
            self.feed_record(&record);
        }
    }

    /// Processes one record; returns the turn or run that it completed.
    pub fn feed_record(&mut self, record: &AssistantRecord) -> Option<LedgerEntry> {
        if let Some(id) = &record.session_id {
            self.session_id = Some(id.clone());
        }
        match &record.kind {
            RecordKind::System(system) => match &system.event {
                // The driver resumes after the limit resets, so this error does not explain a later failure.
                SystemEvent::WaitingForLimit(_) => (self.failure, self.auth_failure) = (None, None),
                SystemEvent::Init { api_key_source: Some(source), .. } => {
                    self.api_key_source = Some(source.clone());
                }
                _ => {}
            },
            RecordKind::Assistant(message) if message.is_api_error => self.feed_api_error(message),
            RecordKind::Result(result) => self.feed_result(result),
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

    fn feed_api_error(&mut self, message: &AssistantMessage) {
        let error = message.error.as_deref().unwrap_or_default();
        let text = message.content.texts().next().unwrap_or(error);
        self.failure = Some(text.to_owned());
        // The status may be absent, so the error class is checked first.
        let has_class = ["rate_limit", "forbidden", "access denied"].iter().any(|word| error.contains(word));
        if has_class {
            let status = message.error_status.map(|s| format!(" (status {s})")).unwrap_or_default();
            self.auth_failure = Some(format!("Assistant API {error} error{status}"));
        } else if let Some(status @ (401 | 403 | 429)) = message.error_status {
            self.auth_failure = Some(format!("API returned HTTP {status}: {error}"));
        } else {
            self.classify(text);
        }
    }

    fn feed_result(&mut self, result: &ResultRecord) {
        self.used_up_budget = result.is_budget_used_up();
        if result.is_success() {
            self.succeeded = true;
            // Reviews of the work may follow in the same stream.
            if result.text.as_ref().is_some_and(|text| text.contains(DELIVERY_TAGS.0)) {
                self.delivery.clone_from(&result.text);
            }
            return;
        }
        let text = result.reason().unwrap_or(&result.subtype);
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
    use serde_json::{Value, json};

    use super::*;

    fn shown(record: Value) -> Option<String> {
        display_text(&record.into())
    }

    #[test]
    fn records_are_shown_in_one_line() {
        let read = json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Read", "input": {"file_path": "src/main.rs"}}]}});
        assert_eq!(shown(read).as_deref(), Some("Tool: Read(src/main.rs)"));
        let done = json!({"type": "result", "subtype": "success"});
        assert_eq!(shown(done).as_deref(), Some("Turn complete"));
        let failed = json!({"type": "result", "is_error": true, "result": "Prompt is too long"});
        assert_eq!(shown(failed).as_deref(), Some("Error: Prompt is too long"));
        assert_eq!(shown(json!({"type": "system"})), None);
    }

    #[test]
    fn texts_of_the_delivery_are_kept_when_further_runs_follow() {
        let mut summary = StreamSummary::default();
        for text in ["Working", "Done. <delivery>{}</delivery>", "No findings."] {
            summary.feed(&json!({"type": "result", "subtype": "success", "result": text}).to_string());
        }
        assert_eq!(summary.delivery.as_deref(), Some("Done. <delivery>{}</delivery>"));
    }

    #[test]
    fn secret_is_redacted_before_truncation() {
        let secret = format!("{} ghp_{}", "x".repeat(190), "a".repeat(30));
        let record = json!({"type": "assistant", "message": {"content": [{"type": "text", "text": secret}]}});
        assert!(!shown(record).unwrap().contains("ghp_"));
    }

    #[test]
    fn tokens_are_summed_over_records_and_models() {
        let mut summary = StreamSummary::default();
        for model in ["large", "small", "large"] {
            let usage = json!({"input_tokens": 10, "output_tokens": 1});
            let message = json!({"type": "assistant", "message": {"model": model, "usage": usage}});
            summary.feed_record(&message.into());
        }
        assert_eq!(summary.ledger.usage().input_tokens, 30);
        assert_eq!(summary.ledger.models(), ["large", "small"]);
        assert_eq!(summary.ledger.by_model()["large"].input, 20);
        assert_eq!(summary.tokens_used().turns, 3);
    }

    #[test]
    fn failures_are_classified() {
        let mut summary = StreamSummary::default();
        summary.feed(r#"{"type": "result", "is_error": true, "result": "Prompt is too long"}"#);
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
