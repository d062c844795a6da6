//! The assistant: command line and `stream-json` output.

use std::ffi::OsString;

use loopgate_api::agent_failure::{self, AgentFailure};
use loopgate_api::assistant_record::{
    AssistantMessage, AssistantRecord, Block, RecordKind, ResultRecord, SystemEvent, ToolResult,
};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_api::run_phase::RunTracker;
use loopgate_home::Program;
use loopgate_tools::environment::TrustGuard;
use serde_json::{Value, json};

use super::{
    OutputReader, Provider, ProviderCommand, ProviderProgram, TurnError, TurnOutput, TurnRequest,
    contains_any,
};

/// Context window in tokens, used when the assistant does not report it.
const CONTEXT_WINDOW: u64 = 200_000;
/// Message of an error result without text.
const UNKNOWN_ERROR: &str = "The assistant reported an error";
/// Error phrases, across versions of the program, for an unknown session. In lower case.
const SESSION_MISSING: [&str; 4] = [
    "no conversation found with session id",
    "session not found",
    "session id not found",
    "failed to load session",
];

/// Provider for the assistant, the program `claude`.
#[derive(Debug)]
pub struct Assistant;

impl Provider for Assistant {
    fn id(&self) -> &ProviderId {
        &ProviderId::ASSISTANT
    }

    fn default_model(&self) -> &str {
        "claude-sonnet-4-5"
    }

    fn supports_model(&self, model: &str) -> bool {
        model.starts_with("claude-")
    }

    fn command(&self, turn: &TurnRequest, guard: &TrustGuard) -> ProviderCommand {
        let mut args: Vec<OsString> = guard.args.iter().map(OsString::from).collect();
        args.extend(["-p", "--verbose", "--output-format", "stream-json"].map(OsString::from));
        // With `=`, because the option otherwise consumes all following arguments.
        args.push(format!("--allowedTools={}", turn.tools).into());
        let options = [
            ("--model", &turn.model),
            ("--append-system-prompt", &turn.instructions),
            ("--resume", &turn.session),
        ];
        for (name, value) in options {
            if let Some(value) = value {
                args.extend([OsString::from(name), OsString::from(value)]);
            }
        }
        ProviderCommand {
            program: ProviderProgram::Known(Program::Assistant),
            args,
            stdin: turn.prompt.clone(),
            variables: Vec::new(),
        }
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(StreamJsonReader::default())
    }

    fn is_session_missing(&self, stderr: &str) -> bool {
        contains_any(stderr, &SESSION_MISSING)
    }
}

/// Reads one JSON object per line. Ignores other lines.
#[derive(Default)]
struct StreamJsonReader {
    tracker: RunTracker,
}

impl OutputReader for StreamJsonReader {
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent> {
        let mut events = Vec::new();
        let Ok(record) = serde_json::from_str::<AssistantRecord>(line) else { return events };
        self.tracker.feed(&record);
        output.phase = self.tracker.phase();
        let failure = agent_failure::in_record(&record);
        match record.kind {
            RecordKind::System(system) if matches!(system.event, SystemEvent::Init { .. }) => {
                set_session(output, record.session_id, &mut events);
            }
            // The program's own message in place of an answer, such as the text of a usage limit.
            RecordKind::Assistant(message) if is_error(&message, failure.as_ref()) => {
                let text =
                    message.content.texts().next().or(message.error.as_deref()).unwrap_or(UNKNOWN_ERROR);
                output.fail(TurnError { text: text.to_owned(), failure });
            }
            RecordKind::RateLimit(_) => {
                if let Some(failure) = failure {
                    output.fail(TurnError { text: failure.detail.clone(), failure: Some(failure) });
                }
            }
            RecordKind::Assistant(message) => {
                events.extend(message.content.blocks().iter().filter_map(|block| read_block(output, block)));
            }
            RecordKind::User(content) => events.extend(content.tool_results().map(tool_result)),
            RecordKind::TextDelta(content) if !content.is_empty() => {
                output.text.push_str(&content);
                events.push(ChatEvent::Text { content });
            }
            RecordKind::Result(result) => {
                set_session(output, record.session_id, &mut events);
                read_result(output, result, failure, &mut events);
            }
            _ => {}
        }
        events
    }
}

fn set_session(output: &mut TurnOutput, id: Option<String>, events: &mut Vec<ChatEvent>) {
    if output.session_id.is_none()
        && let Some(session_id) = id
    {
        output.session_id = Some(session_id.clone());
        events.push(ChatEvent::SessionId { session_id });
    }
}

fn read_block(output: &mut TurnOutput, block: &Block) -> Option<ChatEvent> {
    match block {
        Block::Text(text) if !text.is_empty() => {
            output.blocks.push(json!({"type": "text", "text": text}));
            // Text blocks are separated like paragraphs, unless the text ends with a line break already.
            let is_separate = !output.text.is_empty() && !output.text.ends_with('\n');
            let content = if is_separate { format!("\n\n{text}") } else { text.clone() };
            output.text.push_str(&content);
            Some(ChatEvent::Text { content })
        }
        Block::Thinking(content) if !content.is_empty() => {
            output.blocks.push(json!({"type": "thinking", "thinking": content}));
            Some(ChatEvent::Thinking { content: content.clone() })
        }
        Block::ToolUse(call) => {
            let (id, name, input) = (call.id.clone(), call.name.clone(), call.input.clone());
            output.blocks.push(json!({"type": "tool_use", "id": id, "name": name, "input": input}));
            Some(ChatEvent::ToolUse { id, name, input })
        }
        Block::ToolResult(result) => {
            let content = flattened(&result.content);
            let mut stored_block = json!({"type": "tool_result", "id": result.call, "content": content});
            if let Some(is_error) = result.is_error {
                stored_block["is_error"] = is_error.into();
            }
            output.blocks.push(stored_block);
            Some(tool_result(result))
        }
        _ => None,
    }
}

/// Returns whether a message reports a failure of the program. Older versions do not mark such messages.
fn is_error(message: &AssistantMessage, failure: Option<&AgentFailure>) -> bool {
    let is_known = |text: &str| agent_failure::in_error(text).is_some();
    failure.is_some()
        || message.is_api_error
        || message.error.is_some()
        || message.is_synthetic() && message.content.texts().any(is_known)
}

fn read_result(
    output: &mut TurnOutput,
    result: ResultRecord,
    failure: Option<AgentFailure>,
    events: &mut Vec<ChatEvent>,
) {
    output.failed = !result.is_success();
    if result.is_error {
        let earlier = output.error.as_ref().map(|error| error.text.as_str());
        let text = result.reason().or(earlier).unwrap_or(UNKNOWN_ERROR).to_owned();
        output.fail(TurnError { text, failure });
    } else if result.subtype.starts_with("error") {
        output.fail(TurnError::new(format!("The turn ended with {}", result.subtype)));
    } else {
        if let Some(context_percent) = context_percent(&result).filter(|_| result.is_success()) {
            output.context_percent = Some(context_percent);
            events.push(ChatEvent::Usage { context_percent });
        }
        // The program overcame earlier errors, unless their message is all that it answered.
        output.error.take_if(|_| !output.text.is_empty());
    }
    output.result_text = result.text;
}

fn tool_result(result: &ToolResult) -> ChatEvent {
    let ToolResult { call, content, is_error } = result.clone();
    ChatEvent::ToolResult { id: call, content, is_error }
}

/// Converts the result of a tool call into text.
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

/// Returns the used share of the context window in percent, or `None` if the result contains no usage.
fn context_percent(result: &ResultRecord) -> Option<u64> {
    let usage = result.usage?;
    let total = [usage.output, usage.cache_creation, usage.cache_read]
        .into_iter()
        .fold(usage.input, u64::saturating_add);
    let window = result.context_window.unwrap_or(CONTEXT_WINDOW);
    if window == 0 {
        return Some(0);
    }
    // Integer division, rounded half up.
    Some((total.saturating_mul(200).saturating_add(window)) / window.saturating_mul(2))
}

#[cfg(test)]
mod tests {
    use loopgate_api::agent_failure::FailureKind;
    use loopgate_api::run_phase::RunPhase;
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &[Value]) -> (TurnOutput, Vec<Value>) {
        let mut turn = TurnOutput::default();
        let mut reader = StreamJsonReader::default();
        let read = |line: &Value| reader.read_line(&line.to_string(), &mut turn);
        let events = lines.iter().flat_map(read).collect::<Vec<_>>();
        let events = events.iter().map(|event| serde_json::to_value(event).unwrap()).collect();
        (turn, events)
    }

    fn message(content: Value) -> Value {
        json!({"type": "assistant", "message": {"content": content}})
    }

    // OR-35, OR-36
    #[test]
    fn response_with_a_tool_call_becomes_events_and_blocks() {
        let (turn, events) = read(&[
            json!({"type": "system", "subtype": "init", "session_id": "s-1"}),
            message(json!([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "I look."}])),
            message(json!([{"type": "tool_use", "id": "t1", "name": "Read", "input": {"a": 1}}])),
            json!({"type": "user", "message": {"content":
                [{"type": "tool_result", "tool_use_id": "t1", "content": [{"x": 1}], "is_error": true}]}}),
            message(json!([{"type": "text", "text": "Done.\n"}, {"type": "text", "text": "Really."}])),
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
        ];
        assert_eq!(events, expected);
    }

    // RC-39
    #[test]
    fn text_blocks_of_one_message_are_paragraphs() {
        let (turn, events) =
            read(&[message(json!([{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]))]);
        assert_eq!(turn.text, "One.\n\nTwo.");
        let expected =
            [json!({"type": "text", "content": "One."}), json!({"type": "text", "content": "\n\nTwo."})];
        assert_eq!(events, expected);
    }

    #[test]
    fn error_results_are_classified() {
        let error_result = json!({"type": "result", "is_error": true, "result": "rate limit reached"});
        let (turn, events) = read(&[error_result]);
        assert!(turn.failed && turn.phase == RunPhase::Over && events.is_empty());
        assert_eq!(kind(&turn), Some(FailureKind::RateLimit));
        let (turn, _) = read(&[json!({"type": "result", "is_error": true, "result": 5})]);
        assert_eq!(turn.error.unwrap(), TurnError::new(UNKNOWN_ERROR));
        let (turn, _) = read(&[json!({"type": "result", "subtype": "error_max_turns"})]);
        assert_eq!(turn.error.unwrap().text, "The turn ended with error_max_turns");
    }

    fn kind(turn: &TurnOutput) -> Option<FailureKind> {
        turn.error.as_ref()?.failure.as_ref().map(|failure| failure.kind)
    }

    #[test]
    fn text_of_a_usage_limit_is_not_an_answer() {
        let limit = "You've hit your limit · resets 3pm";
        let text = json!([{"type": "text", "text": limit}]);
        let rejected = json!({"type": "rate_limit_event",
            "rate_limit_info": {"status": "rejected", "resetsAt": 1_767_225_600}});
        let result = json!({"type": "result", "subtype": "success", "is_error": true, "result": limit});
        for message in [
            json!({"type": "assistant", "error": "rate_limit", "message": {"content": text}}),
            json!({"type": "assistant", "isApiErrorMessage": true, "message": {"content": text}}),
            // As older versions print it.
            json!({"type": "assistant", "message": {"model": "<synthetic>", "content": text}}),
        ] {
            let (turn, events) = read(&[rejected.clone(), message.clone(), result.clone()]);
            assert!(turn.text.is_empty() && turn.blocks.is_empty() && events.is_empty(), "{message}");
            let error = turn.error.unwrap();
            assert_eq!(error.text, limit);
            assert!(error.failure.unwrap().resets_at.is_some(), "{message}");
            // A result without an error does not turn the message into an answer.
            let (turn, _) = read(&[message.clone(), json!({"type": "result", "subtype": "success"})]);
            assert_eq!(kind(&turn), Some(FailureKind::RateLimit), "{message}");
        }
    }

    #[test]
    fn class_of_a_message_applies_to_its_repetition() {
        let text = "Take a break";
        let (turn, _) = read(&[
            json!({"type": "assistant", "error": "rate_limit", "message": {"content": text}}),
            json!({"type": "result", "is_error": true, "result": text}),
        ]);
        assert_eq!(kind(&turn), Some(FailureKind::RateLimit));
    }

    #[test]
    fn overcome_error_is_not_reported() {
        let limit = json!({"type": "assistant", "error": "rate_limit",
            "message": {"content": [{"type": "text", "text": "You've hit your limit"}]}});
        let answer = message(json!([{"type": "text", "text": "Done."}]));
        let (turn, _) = read(&[limit, answer, json!({"type": "result", "subtype": "success"})]);
        assert_eq!((turn.text.as_str(), turn.error), ("Done.", None));
    }

    #[test]
    fn answer_after_a_task_in_the_background_belongs_to_the_turn() {
        let said = |text: &str| message(json!([{"type": "text", "text": text}]));
        let event = |subtype: &str| json!({"type": "system", "subtype": subtype, "task_id": "b"});
        let failed =
            json!({"type": "result", "subtype": "success", "is_error": true, "result": "overloaded"});
        let succeeded = json!({"type": "result", "subtype": "success"});
        let mut lines = vec![event("task_started"), said("The tests run."), failed];
        let (turn, _) = read(&lines);
        assert!(turn.failed && turn.phase == RunPhase::WaitingForTasks);
        lines.extend([event("task_notification"), event("init"), said("They pass.")]);
        assert_eq!(read(&lines).0.phase, RunPhase::Working);
        lines.push(succeeded);
        let (turn, _) = read(&lines);
        assert_eq!((turn.text.as_str(), turn.phase), ("The tests run.\n\nThey pass.", RunPhase::Over));
        assert!(!turn.failed, "the last result decides");
    }

    #[test]
    fn context_percent_is_rounded_for_any_window() {
        for (tokens, window, percent) in [
            (2000, json!(200_000), 1),
            (999, json!(200_000), 0),
            (1000, Value::Null, 1),
            (5, json!(0), 0),
            (5, json!(-1), 0),
        ] {
            let usage = json!({"input_tokens": tokens, "context_window": window});
            let (turn, _) = read(&[json!({"type": "result", "subtype": "success", "usage": usage})]);
            assert_eq!(turn.context_percent, Some(percent), "{tokens} of {window}");
        }
        assert_eq!(read(&[json!({"type": "result", "subtype": "success"})]).0.context_percent, None);
    }

    #[test]
    fn tool_results_are_flattened_to_text() {
        assert_eq!(flattened(&Value::Null), "");
        assert_eq!(flattened(&json!(["a", {"b": 1}])), "a\n{\n  \"b\": 1\n}");
        assert_eq!(flattened(&json!(true)), "true");
    }

    proptest! {
        #[test]
        fn reader_accepts_any_line(line in ".*") {
            StreamJsonReader::default().read_line(&line, &mut TurnOutput::default());
        }
    }
}
