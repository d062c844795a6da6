//! What a running chat sends to its page, and how the assistant's output becomes that.

use serde::Serialize;
use serde_json::{Value, json};
use utoipa::ToSchema;

use crate::assistant_stream::is_auth_failure;

/// Tokens of a context when the assistant does not say.
const CONTEXT_WINDOW: u64 = 200_000;
/// What is said of an error that has no text.
const NAMELESS_ERROR: &str = "The assistant reported an error";

/// One line of a chat's stream.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ChatEvent {
    /// The program runs.
    Status {
        /// `running`.
        status: &'static str,
        /// Its process, for whoever wants to stop it.
        pid: u32,
    },
    /// The program's session is known.
    #[serde(rename = "sessionId", rename_all = "camelCase")]
    SessionId {
        /// Id of the session.
        session_id: String,
    },
    /// Text to append.
    Text {
        /// The text.
        content: String,
    },
    /// What the program thinks.
    Thinking {
        /// The text.
        content: String,
    },
    /// A tool is called.
    ToolUse {
        /// Id of the call.
        id: String,
        /// Name of the tool.
        name: String,
        /// Its arguments.
        #[schema(value_type = Object)]
        input: Value,
    },
    /// A tool has answered.
    ToolResult {
        /// Id of the call.
        id: String,
        /// Its answer, whatever its shape.
        #[schema(value_type = Object)]
        content: Value,
        /// Whether the answer is an error.
        #[serde(skip_serializing_if = "Option::is_none")]
        is_error: Option<bool>,
    },
    /// How much of the context is used.
    #[serde(rename_all = "camelCase")]
    Usage {
        /// In percent.
        context_percent: u64,
    },
    /// Something failed; more may follow.
    Error {
        /// For a person.
        error: String,
    },
    /// The outcome; one from the program's own words, one from its end.
    Result {
        /// Whether it went well.
        success: bool,
    },
    /// Nothing happened for a while.
    Keepalive,
    /// The end; nothing follows.
    Done,
}

/// An answer as it comes to be: what was said so far.
#[derive(Debug, Clone, Default)]
pub struct ChatTurn {
    /// All text.
    pub text: String,
    /// Text, thoughts and tool calls as they are kept.
    pub blocks: Vec<Value>,
    /// The program's session.
    pub session_id: Option<String>,
    /// How much of the context is used, in percent.
    pub context_percent: Option<u64>,
    /// Whether the program's account was refused.
    pub auth_failed: bool,
    /// Whether the program has said that it is finished.
    pub finished: bool,
}

impl ChatTurn {
    /// Takes a line of the program's output. What is no JSON object says nothing.
    pub fn feed(&mut self, line: &str) -> Vec<ChatEvent> {
        let mut events = Vec::new();
        let Ok(record) = serde_json::from_str::<Value>(line) else { return events };
        let content = || record.pointer("/message/content").and_then(Value::as_array).into_iter().flatten();
        match record["type"].as_str() {
            Some("init") => self.learn_session(&record["sessionId"], &mut events),
            Some("system") if record["subtype"] == "init" => {
                self.learn_session(&record["session_id"], &mut events);
            }
            Some("assistant") => content().for_each(|block| events.extend(self.block(block))),
            Some("user") => {
                let results = content().filter(|block| block["type"] == "tool_result");
                events.extend(results.map(tool_result));
            }
            Some("content_block_delta") if record["delta"]["type"] == "text_delta" => {
                if let Some(content) = words(&record["delta"]["text"]) {
                    self.text.push_str(&content);
                    events.push(ChatEvent::Text { content });
                }
            }
            Some("result") => self.result(&record, &mut events),
            _ => {}
        }
        events
    }

    fn learn_session(&mut self, id: &Value, events: &mut Vec<ChatEvent>) {
        if self.session_id.is_none()
            && let Some(session_id) = words(id)
        {
            self.session_id = Some(session_id.clone());
            events.push(ChatEvent::SessionId { session_id });
        }
    }

    fn block(&mut self, block: &Value) -> Option<ChatEvent> {
        match block["type"].as_str()? {
            "text" => {
                let text = words(&block["text"])?;
                self.blocks.push(json!({"type": "text", "text": text}));
                let apart = !self.text.is_empty() && !self.text.ends_with('\n');
                let content = if apart { format!("\n\n{text}") } else { text };
                self.text.push_str(&content);
                Some(ChatEvent::Text { content })
            }
            "thinking" => {
                let content = words(&block["thinking"])?;
                self.blocks.push(json!({"type": "thinking", "thinking": content}));
                Some(ChatEvent::Thinking { content })
            }
            "tool_use" => {
                let (id, name) = (text_of(&block["id"]), text_of(&block["name"]));
                let input = block["input"].clone();
                self.blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
                Some(ChatEvent::ToolUse { id, name, input })
            }
            "tool_result" => {
                let content = flattened(&block["content"]);
                let mut kept = json!({"type": "tool_result", "id": block["tool_use_id"], "content": content});
                if let Some(is_error) = block["is_error"].as_bool() {
                    kept["is_error"] = is_error.into();
                }
                self.blocks.push(kept);
                Some(tool_result(block))
            }
            _ => None,
        }
    }

    fn result(&mut self, record: &Value, events: &mut Vec<ChatEvent>) {
        self.finished = true;
        self.learn_session(&record["session_id"], events);
        if record["is_error"] == true {
            let error = record["result"].as_str().unwrap_or(NAMELESS_ERROR).to_owned();
            self.auth_failed |= is_auth_failure(&error);
            events.push(ChatEvent::Error { error });
            return;
        }
        let success = record["subtype"] == "success";
        if success && let Some(context_percent) = context_percent(record) {
            self.context_percent = Some(context_percent);
            events.push(ChatEvent::Usage { context_percent });
        }
        events.push(ChatEvent::Result { success });
    }
}

fn tool_result(block: &Value) -> ChatEvent {
    ChatEvent::ToolResult {
        id: text_of(&block["tool_use_id"]),
        content: block["content"].clone(),
        is_error: block["is_error"].as_bool(),
    }
}

/// A string with something in it.
fn words(value: &Value) -> Option<String> {
    value.as_str().filter(|text| !text.is_empty()).map(str::to_owned)
}

fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The answer of a tool as one text.
fn flattened(content: &Value) -> String {
    let pretty = |value: &Value| serde_json::to_string_pretty(value).unwrap_or_default();
    match content {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let part = |part: &Value| part.as_str().map_or_else(|| pretty(part), str::to_owned);
            parts.iter().map(part).collect::<Vec<_>>().join("\n")
        }
        other => pretty(other),
    }
}

/// How much of the context the tokens of a result fill; `None` when it tells no tokens.
fn context_percent(record: &Value) -> Option<u64> {
    let usage = record.get("usage").filter(|usage| usage.is_object())?;
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let total = ["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"]
        .into_iter()
        .fold(0_u64, |total, name| total.saturating_add(count(name)));
    let told = [&usage["context_window"], &record["context_window"]];
    let window = match told.into_iter().find(|window| window.is_number()) {
        Some(window) => window.as_u64().unwrap_or(0),
        None => CONTEXT_WINDOW,
    };
    if window == 0 {
        return Some(0);
    }
    Some((total.saturating_mul(200).saturating_add(window)) / window.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn fed(lines: &[Value]) -> (ChatTurn, Vec<Value>) {
        let mut turn = ChatTurn::default();
        let events = lines.iter().flat_map(|line| turn.feed(&line.to_string())).collect::<Vec<_>>();
        let events = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
        (turn, events)
    }

    fn says(content: Value) -> Value {
        json!({"type": "assistant", "message": {"content": content}})
    }

    // OR-35, OR-36
    #[test]
    fn an_answer_with_a_tool_becomes_events_and_blocks() {
        let (turn, events) = fed(&[
            json!({"type": "system", "subtype": "init", "session_id": "s-1"}),
            says(json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}])),
            says(json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"a": 1}}])),
            json!({"type": "user", "message": {"content":
                [{"type": "tool_result", "tool_use_id": "t1", "content": [{"x": 1}], "is_error": true}]}}),
            says(json!([{"type": "text", "text": "Done.\n"}, {"type": "text", "text": "Really."}])),
            json!({"type": "content_block_delta", "delta": {"type": "text_delta", "text": "!"}}),
            json!({"type": "result", "subtype": "success", "session_id": "s-1",
                "usage": {"input_tokens": 1000, "output_tokens": 500, "cache_read_input_tokens": 500}}),
        ]);
        assert_eq!(turn.text, "I look.\n\nDone.\nReally.!");
        assert_eq!(turn.blocks.len(), 5);
        assert_eq!((turn.session_id.as_deref(), turn.context_percent), (Some("s-1"), Some(1)));
        let expected = [
            json!({"type": "sessionId", "sessionId": "s-1"}),
            json!({"type": "thinking", "content": "hm"}),
            json!({"type": "text", "content": "I look."}),
            json!({"type": "tool_use", "id": "t1", "name": "Read", "input": {"a": 1}}),
            json!({"type": "tool_result", "id": "t1", "content": [{"x": 1}], "is_error": true}),
            json!({"type": "text", "content": "\n\nDone.\n"}),
            json!({"type": "text", "content": "Really."}),
            json!({"type": "text", "content": "!"}),
            json!({"type": "usage", "contextPercent": 1}),
            json!({"type": "result", "success": true}),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn an_error_is_told_and_its_kind_kept() {
        let failed = json!({"type": "result", "is_error": true, "result": "rate limit reached"});
        let (turn, events) = fed(&[failed]);
        assert!(turn.auth_failed && turn.finished);
        assert_eq!(events, [json!({"type": "error", "error": "rate limit reached"})]);
        let (turn, events) = fed(&[json!({"type": "result", "is_error": true, "result": 5})]);
        assert!(!turn.auth_failed);
        assert_eq!(events, [json!({"type": "error", "error": NAMELESS_ERROR})]);
        let (_, events) = fed(&[json!({"type": "result", "subtype": "error_max_turns"})]);
        assert_eq!(events, [json!({"type": "result", "success": false})]);
    }

    #[test]
    fn percents_are_rounded_and_windows_may_be_odd() {
        for (tokens, window, percent) in [
            (2000, json!(200_000), 1),
            (999, json!(200_000), 0),
            (1000, Value::Null, 1),
            (5, json!(0), 0),
            (5, json!(-1), 0),
        ] {
            let mut record = json!({"usage": {"input_tokens": tokens}});
            if !window.is_null() {
                record["usage"]["context_window"] = window.clone();
            }
            assert_eq!(context_percent(&record), Some(percent), "{tokens} of {window}");
        }
        assert_eq!(context_percent(&json!({})), None);
    }

    #[test]
    fn answers_of_tools_become_text() {
        assert_eq!(flattened(&Value::Null), "");
        assert_eq!(flattened(&json!(["a", {"b": 1}])), "a\n{\n  \"b\": 1\n}");
        assert_eq!(flattened(&json!(true)), "true");
    }

    proptest! {
        #[test]
        fn no_line_breaks_the_reader(line in ".*") {
            ChatTurn::default().feed(&line);
        }
    }
}
