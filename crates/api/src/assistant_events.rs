//! Converts records of the assistant into the parts of a loop's `output` events.
//!
//! All texts are redacted. Arguments and results of tool calls are complete up to [`VALUE_LIMIT`].

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Instant;

use regex::Regex;
use serde_json::Value;

use crate::assistant_record::{
    AssistantRecord, Block, Content, RecordKind, SystemEvent, SystemRecord, ToolResult, ToolUse,
};
use crate::event_body::{
    EventBody, LimitEvent, OutputEvent, OutputRole, ToolCallEvent, ToolCategory, ToolEnd, ToolStart,
};
use crate::redact;

/// Size limit of a text, of a result, and of each string in the arguments of a tool call, in bytes. The assistant
/// limits the output of commands to a tenth of it.
pub const VALUE_LIMIT: usize = 256 * 1024;
/// Size limit of all arguments of a tool call in bytes of JSON. Larger ones are omitted.
const INPUT_LIMIT: usize = 2 * 1024 * 1024;
/// Length limit of the summary of a tool call in characters.
const SUMMARY_CHARS: usize = 200;
/// Limit of the open tool calls. Further ones have no duration; only a corrupt stream has that many.
const OPEN_CALLS: usize = 1_000;

// Text that the driver evaluates, on lines of its own: the end of a run, and the texts of a delivery.
static CONTROL: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r"(?ms)^[ \t]*(?:<promise>[^\n]*</promise>|<delivery>.*?</delivery>)[ \t]*$")
        .expect("constant pattern")
});

/// A tool call that has not ended.
#[derive(Debug)]
struct OpenCall {
    tool: String,
    category: ToolCategory,
    is_internal: bool,
    /// Time at which the start was read; `None` if an earlier process did.
    started: Option<Instant>,
}

/// Converts the records of one stream, in order.
#[derive(Debug, Default)]
pub struct AssistantEvents {
    open: HashMap<String, OpenCall>,
}

impl AssistantEvents {
    /// Processes a record that an earlier process reported.
    pub fn skip(&mut self, record: &AssistantRecord) {
        self.read(record, None);
    }

    /// Returns what a record reports. `now` is the time at which the record was read.
    pub fn parts(&mut self, record: &AssistantRecord, now: Instant) -> Vec<EventBody> {
        self.read(record, Some(now))
    }

    fn read(&mut self, record: &AssistantRecord, now: Option<Instant>) -> Vec<EventBody> {
        match &record.kind {
            RecordKind::Assistant(message) => {
                let parent = message.parent_tool_call.as_deref();
                let role = if message.is_api_error { OutputRole::Error } else { OutputRole::Assistant };
                self.content(&message.content, role, parent, now)
            }
            RecordKind::User(content) => self.content(content, OutputRole::Prompt, None, now),
            RecordKind::TextDelta(text) => prose(text, OutputRole::Assistant, None),
            RecordKind::Result(result) if result.is_error => {
                output(OutputRole::Error, result.reason().unwrap_or(&result.subtype)).into_iter().collect()
            }
            RecordKind::Result(_) => output(OutputRole::Note, "Turn complete").into_iter().collect(),
            RecordKind::System(SystemRecord { event: SystemEvent::WaitingForLimit(message), .. }) => {
                vec![EventBody::Limit(LimitEvent { text: redact::credentials(message) })]
            }
            _ => Vec::new(),
        }
    }

    fn content(
        &mut self,
        content: &Content,
        role: OutputRole,
        parent: Option<&str>,
        now: Option<Instant>,
    ) -> Vec<EventBody> {
        let mut parts = Vec::new();
        for block in content.blocks() {
            match block {
                Block::Text(text) => parts.extend(prose(text, role, parent)),
                Block::Thinking(_) => {
                    let text = OutputEvent::new(OutputRole::Thinking, "Thinking...");
                    parts.push(EventBody::Output(OutputEvent {
                        parent_id: parent.map(str::to_owned),
                        ..text
                    }));
                }
                Block::ToolUse(call) => parts.push(self.start(call, parent, now)),
                Block::ToolResult(result) => parts.push(self.end(result, now)),
                Block::Unknown(_) => {}
            }
        }
        parts
    }

    fn start(&mut self, call: &ToolUse, parent: Option<&str>, now: Option<Instant>) -> EventBody {
        let (category, is_internal) = (category(call), is_internal(call));
        if !call.id.is_empty() && self.open.len() < OPEN_CALLS {
            let open = OpenCall { tool: call.name.clone(), category, is_internal, started: now };
            self.open.insert(call.id.clone(), open);
        }
        let (input, is_shortened) = input(call);
        EventBody::ToolCall(ToolCallEvent::Start(ToolStart {
            tool: call.name.clone(),
            call_id: Some(call.id.clone()).filter(|id| !id.is_empty()),
            category: Some(category),
            parent_id: parent.map(str::to_owned),
            summary: summary(call),
            input,
            is_internal,
            is_shortened,
        }))
    }

    fn end(&mut self, result: &ToolResult, now: Option<Instant>) -> EventBody {
        let call = self.open.remove(&result.call);
        let text = result.texts().collect::<Vec<_>>().join("\n");
        let size = text.len();
        let is_error = result.is_error == Some(true);
        let is_command = call.as_ref().is_some_and(|call| call.category == ToolCategory::Command);
        let duration = call
            .as_ref()
            .and_then(|call| Some(now?.saturating_duration_since(call.started?)))
            .and_then(|duration| u64::try_from(duration.as_millis()).ok());
        EventBody::ToolCall(ToolCallEvent::End(ToolEnd {
            tool: call.as_ref().map_or_else(String::new, |call| call.tool.clone()),
            call_id: Some(result.call.clone()).filter(|id| !id.is_empty()),
            category: call.as_ref().map(|call| call.category),
            output: limited(&text).into(),
            is_error,
            exit_code: if is_command { result.exit_code() } else { None },
            duration_ms: duration,
            size: u64::try_from(size).ok(),
            is_internal: call.is_some_and(|call| call.is_internal),
            is_shortened: size > VALUE_LIMIT,
        }))
    }
}

fn output(role: OutputRole, text: &str) -> Option<EventBody> {
    (!text.trim().is_empty()).then(|| EventBody::Output(OutputEvent::new(role, limited(text))))
}

/// Separates what the driver evaluates from the other text.
fn prose(text: &str, role: OutputRole, parent: Option<&str>) -> Vec<EventBody> {
    let with_parent = |body| match body {
        EventBody::Output(text) => {
            EventBody::Output(OutputEvent { parent_id: parent.map(str::to_owned), ..text })
        }
        other => other,
    };
    let control = CONTROL.find_iter(text).map(|found| found.as_str().trim()).collect::<Vec<_>>().join("\n");
    let rest = if control.is_empty() { text.into() } else { CONTROL.replace_all(text, "") };
    let parts = [output(role, &rest), output(OutputRole::Control, &control)];
    parts.into_iter().flatten().map(with_parent).collect()
}

fn category(call: &ToolUse) -> ToolCategory {
    let has = |name: &str| !call.argument(name).is_empty();
    if has("command") {
        ToolCategory::Command
    } else if ["file_path", "notebook_path", "path", "pattern"].into_iter().any(has) {
        ToolCategory::File
    } else if has("subagent_type") {
        ToolCategory::Agent
    } else {
        ToolCategory::Other
    }
}

/// Returns whether a call serves the loop itself: it runs Loopgate, or accesses the loop's work directory.
fn is_internal(call: &ToolUse) -> bool {
    let path = call.argument("file_path");
    path.starts_with(".loopgate/")
        || path.contains("/.loopgate/")
        || call.argument("command").trim_start().starts_with("loopgate ")
}

fn summary(call: &ToolUse) -> Option<String> {
    let names = ["command", "file_path", "notebook_path", "pattern", "path", "description", "url", "query"];
    let text = names.map(|name| call.argument(name)).into_iter().find(|text| !text.is_empty())?;
    // Redaction comes first: the start of a credential that was cut off would match no pattern.
    Some(redact::credentials(text).chars().take(SUMMARY_CHARS).collect())
}

/// Returns the arguments, and whether they are incomplete.
fn input(call: &ToolUse) -> (Value, bool) {
    if call.input.to_string().len() > INPUT_LIMIT {
        return (Value::Null, true);
    }
    let mut input = redact::json(call.input.clone());
    let is_shortened = shorten_strings(&mut input);
    (input, is_shortened)
}

fn shorten_strings(value: &mut Value) -> bool {
    match value {
        Value::String(text) if text.len() > VALUE_LIMIT => {
            text.truncate(text.floor_char_boundary(VALUE_LIMIT));
            true
        }
        Value::Array(values) => values.iter_mut().fold(false, |any, value| shorten_strings(value) | any),
        Value::Object(members) => members.values_mut().fold(false, |any, value| shorten_strings(value) | any),
        _ => false,
    }
}

fn limited(text: &str) -> String {
    let mut text = redact::credentials(text);
    text.truncate(text.floor_char_boundary(VALUE_LIMIT));
    text
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Returns the parts of records, the second of which is read 1500 ms after the first, and so on.
    fn parts(records: &[Value]) -> Vec<Value> {
        let (mut events, mut now) = (AssistantEvents::default(), Instant::now());
        let mut parts = Vec::new();
        for record in records {
            parts.extend(events.parts(&record.clone().into(), now));
            now += Duration::from_millis(1_500);
        }
        parts.into_iter().map(|part| serde_json::to_value(part).unwrap()).collect()
    }

    fn call(name: &str, input: Value) -> Value {
        json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "t1", "name": name, "input": input}]}})
    }

    fn result(content: impl Into<Value>, is_error: bool) -> Value {
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": "t1", "content": content.into(), "is_error": is_error}]}})
    }

    #[test]
    fn tool_call_has_its_complete_input_and_output() {
        let long = "ok ".repeat(1_000);
        let shown = parts(&[call("Bash", json!({"command": "npm test"})), result(long.clone(), false)]);
        let start = json!({"type": "tool_call", "status": "start", "tool": "Bash", "callId": "t1",
            "category": "command", "input": {"command": "npm test"}, "summary": "npm test"});
        let end = json!({"type": "tool_call", "status": "end", "tool": "Bash", "callId": "t1",
            "category": "command", "output": long, "isError": false, "exitCode": 0, "durationMs": 1500, "size": 3000});
        assert_eq!(shown[0], start);
        assert_eq!(shown[1], {
            let mut end = end;
            end.as_object_mut().unwrap().remove("isError");
            end
        });
    }

    #[test]
    fn failed_command_has_its_exit_code() {
        let shown =
            parts(&[call("Bash", json!({"command": "false"})), result("Exit code 3\nno such test", true)]);
        assert_eq!((&shown[1]["exitCode"], &shown[1]["isError"]), (&json!(3), &json!(true)));
        let shown = parts(&[call("Read", json!({"file_path": "a"})), result("Exit code 3", true)]);
        assert_eq!((&shown[1]["exitCode"], &shown[1]["category"]), (&Value::Null, &json!("file")));
    }

    #[test]
    fn all_blocks_of_a_message_are_reported_with_their_subagent() {
        let shown =
            parts(&[json!({"type": "assistant", "parent_tool_use_id": "t0", "message": {"content": [
            {"type": "thinking", "thinking": "secret thoughts"}, {"type": "text", "text": "Done."},
            {"type": "tool_use", "id": "t2", "name": "Grep", "input": {"pattern": "x"}}]}})]);
        let kinds: Vec<_> = shown.iter().map(|part| (&part["type"], &part["parentId"])).collect();
        let parent = json!("t0");
        assert_eq!(
            kinds,
            [(&json!("output"), &parent), (&json!("output"), &parent), (&json!("tool_call"), &parent)]
        );
        assert!(!json!(shown).to_string().contains("secret"));
    }

    #[test]
    fn promises_and_deliveries_are_control_texts_unless_quoted() {
        let text = |text: &str| {
            let record =
                json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
            let parts = parts(&[record]);
            let texts = parts.iter().map(|part| {
                (part["role"].as_str().unwrap().to_owned(), part["chunk"].as_str().unwrap().trim().to_owned())
            });
            texts.collect::<Vec<_>>()
        };
        let of = |role: &str, text: &str| (role.to_owned(), text.to_owned());
        assert_eq!(
            text("Done.\n<delivery>{\n}</delivery>\n\n<promise>COMPLETE</promise>"),
            [
                of("assistant", "Done."),
                of("control", "<delivery>{\n}</delivery>\n<promise>COMPLETE</promise>"),
            ]
        );
        let sentence = "I will say <promise>COMPLETE</promise> soon.";
        assert_eq!(text(sentence), [of("assistant", sentence)]);
    }

    #[test]
    fn calls_that_serve_the_loop_are_internal() {
        for (input, internal) in [
            (json!({"file_path": "/w/.loopgate/work/plan.md"}), true),
            (json!({"command": "loopgate plan build ."}), true),
            (json!({"command": "npm test"}), false),
            (json!({"file_path": "src/loopgate/a.rs"}), false),
        ] {
            let shown = parts(&[call("x", input.clone()), result("", false)]);
            for part in shown {
                assert_eq!(part.get("isInternal").is_some(), internal, "{input}");
            }
        }
    }

    #[test]
    fn values_are_redacted_and_limited() {
        let secret = format!("ghp_{}", "a".repeat(36));
        let long = format!("{secret} {}", "é".repeat(VALUE_LIMIT));
        let shown = parts(&[call("Write", json!({"file_path": "a", "content": long})), result(long, false)]);
        for (part, member) in [(&shown[0], &shown[0]["input"]["content"]), (&shown[1], &shown[1]["output"])] {
            let text = member.as_str().unwrap();
            assert!(!text.contains(&secret) && text.len() <= VALUE_LIMIT && part["isShortened"] == true);
        }
        assert_eq!(shown[1]["size"], secret.len() + 1 + 2 * VALUE_LIMIT);
    }

    proptest! {
        #[test]
        fn any_record_has_readable_parts(text in ".*", id in ".{0,4}", kind in "assistant|user|result|system") {
            let block = |kind: &str| json!({"type": kind, "text": text, "id": id, "name": text,
                "tool_use_id": id, "content": text, "input": {"command": text}});
            let record = json!({"type": kind, "is_error": true, "result": text, "message":
                {"content": [block("text"), block("tool_use"), block("tool_result")]}});
            for part in AssistantEvents::default().parts(&record.into(), Instant::now()) {
                let sent = serde_json::to_value(&part).unwrap();
                prop_assert_eq!(EventBody::read_part(sent), part);
            }
        }
    }
}
