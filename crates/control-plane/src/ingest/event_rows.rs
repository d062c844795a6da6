//! The rows of an event: one for each thing that a runner reports in it, with large values apart.

use loopgate_api::event::code;
use loopgate_api::event_body::{EventBody, QuestionEvent};
use serde_json::{Map, Value};

use super::runner_event::RunnerEvent;

// Size of a tool call's arguments or result in the row of its event, in bytes of JSON. Tool calls are most of the events
// of a loop, and a page that opens the log reads hundreds of them.
const VALUE_LIMIT: usize = 1_000;
// Characters of a text in an excerpt.
const EXCERPT_CHARS: usize = 300;
// Members or elements of an excerpt.
const EXCERPT_ITEMS: usize = 10;
// Members with tokens and costs, which runners report with a text.
const USAGE: [&str; 4] = ["tokenUsage", "turns", "runs", "cost"];

/// A row of an event.
#[derive(Debug, PartialEq)]
pub struct EventRow {
    pub kind: String,
    /// Members without the type.
    pub data: Value,
    /// All members, if `data` contains only an excerpt.
    pub complete: Option<Value>,
}

impl EventRow {
    fn new(kind: impl Into<String>, members: Map<String, Value>) -> Self {
        Self { kind: kind.into(), data: Value::Object(members), complete: None }
    }
}

/// Returns the rows of an event, at least one.
pub fn of(event: RunnerEvent) -> Vec<EventRow> {
    match EventBody::read(&event.kind, &event.members) {
        EventBody::Output(_) => output(event),
        EventBody::ToolCall(_) => vec![tool_call(event.members)],
        EventBody::Error(_) => error(event),
        // An event that this version cannot read keeps its type and members, for later versions.
        EventBody::Unreadable(_) => vec![EventRow::new(event.kind, event.members)],
        body => {
            let (kind, _) = body.into_members();
            vec![EventRow::new(kind, event.members)]
        }
    }
}

/// Returns the parts of an output. Its text, which summarizes them, is not stored.
fn output(event: RunnerEvent) -> Vec<EventRow> {
    let mut members = event.members;
    let parts = match members.remove("parts") {
        Some(Value::Array(parts)) if !parts.is_empty() => parts,
        _ => return vec![EventRow::new(event.kind, members)],
    };
    let timestamp = members.get("timestamp").cloned().unwrap_or_default();
    let mut rows: Vec<_> = parts.into_iter().map(|value| part(value, &timestamp)).collect();
    let usage: Map<_, _> =
        USAGE.iter().filter_map(|name| Some(((*name).to_owned(), members.remove(*name)?))).collect();
    if !usage.is_empty() {
        rows.push(EventRow::new("usage", with_timestamp(usage, &timestamp)));
    }
    rows
}

fn part(value: Value, timestamp: &Value) -> EventRow {
    let (kind, members) = EventBody::read_part(value).into_members();
    let members = with_timestamp(members, timestamp);
    if kind == "tool_call" { tool_call(members) } else { EventRow::new(kind, members) }
}

fn with_timestamp(mut members: Map<String, Value>, timestamp: &Value) -> Map<String, Value> {
    members.insert("timestamp".to_owned(), timestamp.clone());
    members
}

/// Separates large arguments and results.
fn tool_call(members: Map<String, Value>) -> EventRow {
    let mut short = members.clone();
    let mut is_shortened = false;
    for name in ["input", "output"] {
        if let Some(value) = short.get_mut(name)
            && value.to_string().len() > VALUE_LIMIT
        {
            *value = excerpt(value);
            is_shortened = true;
        }
    }
    if !is_shortened {
        return EventRow::new("tool_call", members);
    }
    short.insert("isShortened".to_owned(), true.into());
    EventRow { complete: Some(Value::Object(members)), ..EventRow::new("tool_call", short) }
}

fn excerpt(value: &Value) -> Value {
    match value {
        Value::String(text) => text.chars().take(EXCERPT_CHARS).collect::<String>().into(),
        Value::Object(members) => {
            let members = members.iter().take(EXCERPT_ITEMS);
            members.map(|(name, value)| (name.clone(), nested_excerpt(value))).collect()
        }
        Value::Array(values) => values.iter().take(EXCERPT_ITEMS).map(nested_excerpt).collect(),
        other => other.clone(),
    }
}

fn nested_excerpt(value: &Value) -> Value {
    match value {
        Value::Object(_) | Value::Array(_) => Value::Null,
        other => excerpt(other),
    }
}

/// Returns the end of a loop, after the question if it waits for an answer.
fn error(event: RunnerEvent) -> Vec<EventRow> {
    let mut rows = Vec::new();
    if event.text("code") == Some(code::AWAITING_USER)
        && let Some(text) = event.text("message")
    {
        let (kind, question) = EventBody::Question(QuestionEvent { text: text.to_owned() }).into_members();
        let timestamp = event.members.get("timestamp").cloned().unwrap_or_default();
        rows.push(EventRow::new(kind, with_timestamp(question, &timestamp)));
    }
    rows.push(EventRow::new(event.kind, event.members));
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn rows(event: Value) -> Vec<EventRow> {
        of(RunnerEvent::parse(event, None).unwrap())
    }

    fn kinds(rows: &[EventRow]) -> Vec<&str> {
        rows.iter().map(|row| row.kind.as_str()).collect()
    }

    #[test]
    fn output_of_earlier_runners_is_stored_as_it_is() {
        let event = json!({"type": "output", "chunk": "Tool: Read(a)", "timestamp": "t", "cost": {"totalUsd": 1.0}, "own": 1});
        let stored = rows(event.clone());
        assert_eq!(kinds(&stored), ["output"]);
        let mut expected = event;
        expected.as_object_mut().unwrap().remove("type");
        assert_eq!(stored[0].data, expected);
    }

    #[test]
    fn each_part_is_an_event() {
        let event = json!({"type": "output", "timestamp": "t", "data": {"chunk": "Tool: Read(a)\nDone", "parts": [
            {"type": "tool_call", "status": "start", "tool": "Read", "callId": "1"},
            {"type": "output", "role": "assistant", "chunk": "Done"},
            {"type": "completed", "result": {}},
        ], "tokenUsage": {"inputTokens": 1, "outputTokens": 2}}});
        let stored = rows(event);
        assert_eq!(kinds(&stored), ["tool_call", "output", "unreadable", "usage"]);
        assert_eq!(stored[1].data, json!({"chunk": "Done", "role": "assistant", "timestamp": "t"}));
        assert_eq!(
            stored[3].data,
            json!({"tokenUsage": {"inputTokens": 1, "outputTokens": 2}, "timestamp": "t"})
        );
    }

    #[test]
    fn states_of_a_loop_have_their_own_kind() {
        let queue = json!({"type": "output", "chunk": "1 of 2", "queue": {"place": 1, "waiting": 2}});
        assert_eq!(kinds(&rows(queue)), ["queue"]);
        let question = json!({"type": "error", "code": "AWAITING_USER", "message": "Which colour?"});
        let stored = rows(question);
        assert_eq!(kinds(&stored), ["question", "error"]);
        assert_eq!(stored[0].data["text"], "Which colour?");
    }

    #[test]
    fn large_values_are_separated() {
        let long = "x".repeat(5_000);
        let input = json!({"file_path": "a", "content": long, "edits": [{"old": long}]});
        let call = json!({"type": "tool_call", "tool": "Write", "status": "start", "input": input, "timestamp": "t"});
        let stored = rows(call).remove(0);
        assert_eq!(stored.complete.unwrap()["input"], input);
        assert_eq!(
            stored.data["input"],
            json!({"file_path": "a", "content": "x".repeat(300), "edits": null})
        );
        assert_eq!(stored.data["isShortened"], true);
        let short = json!({"type": "tool_call", "tool": "Read", "status": "end", "output": "ok"});
        assert_eq!(rows(short)[0].complete, None);
    }
}
