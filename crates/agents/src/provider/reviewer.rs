//! The reviewer: command line and JSON Lines output.

use std::ffi::OsString;
use std::sync::LazyLock;

use loopgate_api::agent_failure::{final_errors, is_reconnect};
use loopgate_api::chat_event::ChatEvent;
use loopgate_api::provider::ProviderId;
use loopgate_api::run_phase::RunPhase;
use loopgate_home::Program;
use loopgate_tools::environment::TrustGuard;
use regex::Regex;
use serde_json::{Value, json};

use super::{
    FileAccess, OutputReader, Provider, ProviderCommand, ProviderProgram, TurnError, TurnOutput, TurnRequest,
    contains_any,
};

/// Context window in tokens; the reviewer does not report it.
const CONTEXT_WINDOW: u64 = 272_000;
/// Message of a failure without text.
const UNKNOWN_ERROR: &str = "The reviewer reported an error";
/// Error phrases, across versions of the program, for an unknown session. In lower case.
const SESSION_MISSING: [&str; 5] = [
    "no rollout found for thread",
    "no such session",
    "unknown session",
    "session not found",
    "session id not found",
];

static SESSION: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(r"(?i)session id:\s*([0-9a-f-]{36})").expect("constant pattern")
});
static NOISE: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "constant pattern")]
    Regex::new(
        r"(?i)^\S+ ERROR codex_core::session: failed to record rollout items: thread \S{36} not found$",
    )
    .expect("constant pattern")
});

/// Makes the reviewer read no `AGENTS.md`. It has no setting that excludes single files.
const NO_INSTRUCTIONS: &str = "project_doc_max_bytes=0";

/// Provider for the reviewer, the program `codex`.
#[derive(Debug)]
pub struct Reviewer;

impl Provider for Reviewer {
    fn id(&self) -> &ProviderId {
        &ProviderId::REVIEWER
    }

    fn default_model(&self) -> &str {
        "gpt-5.3-codex"
    }

    fn supports_model(&self, model: &str) -> bool {
        ["gpt-", "codex-", "o"].iter().any(|prefix| model.starts_with(prefix))
    }

    fn command(&self, turn: &TurnRequest, guard: &TrustGuard) -> ProviderCommand {
        let mut args: Vec<OsString> = vec!["exec".into()];
        if let Some(session) = &turn.session {
            args.extend(["resume".into(), session.into()]);
        }
        let sandbox = match turn.access {
            FileAccess::ReadOnly => "read-only",
            FileAccess::ReadWrite => "workspace-write",
        };
        // `--image` splits its value at commas; such an image is skipped, because the prompt lists it as
        // well. Another option must follow, because `--image` consumes all arguments up to the next option.
        for image in turn.images.iter().filter(|image| !image.to_string_lossy().contains(',')) {
            args.extend(["--image".into(), image.into()]);
        }
        // `exec resume` has no `--sandbox` flag, so the sandbox is set as a configuration override.
        args.extend(["--json", "--skip-git-repo-check", "-c"].map(OsString::from));
        args.push(format!("sandbox_mode=\"{sandbox}\"").into());
        if guard.leaves_out_instructions() {
            args.extend(["-c".into(), NO_INSTRUCTIONS.into()]);
        }
        if let Some(effort) = &turn.effort {
            args.extend(["-c".into(), format!("model_reasoning_effort={effort}").into()]);
        }
        if let Some(model) = &turn.model {
            args.extend(["-m".into(), model.into()]);
        }
        args.push("-".into());
        ProviderCommand {
            program: ProviderProgram::Known(Program::Reviewer),
            args,
            stdin: turn.prompt.clone(),
            variables: vec![("FORCE_COLOR".into(), "0".into())],
        }
    }

    fn reader(&self) -> Box<dyn OutputReader> {
        Box::new(JsonReader)
    }

    fn is_session_missing(&self, stderr: &str) -> bool {
        contains_any(stderr, &SESSION_MISSING)
    }

    fn session_in_stderr(&self, stderr: &str) -> Option<String> {
        session_in_banner(stderr)
    }

    fn readable_stderr(&self, stderr: &str) -> String {
        final_errors(&strip_noise(stderr))
    }
}

/// Extracts the session id from the banner that the program prints when it does not print JSON.
#[must_use]
pub fn session_in_banner(text: &str) -> Option<String> {
    SESSION.captures(text).map(|captures| captures[1].to_lowercase())
}

/// Removes the log lines in which the program reports that it cannot record its own session.
#[must_use]
pub fn strip_noise(text: &str) -> String {
    text.lines().filter(|line| !NOISE.is_match(line.trim())).collect::<Vec<_>>().join("\n")
}

/// Reads one JSON object per line, in the formats of current and older versions. Other lines are text.
struct JsonReader;

impl OutputReader for JsonReader {
    fn read_line(&mut self, line: &str, output: &mut TurnOutput) -> Vec<ChatEvent> {
        let line = line.trim();
        if line.is_empty() {
            return Vec::new();
        }
        let mut events = Vec::new();
        let Some(record) = serde_json::from_str::<Value>(line).ok().filter(Value::is_object) else {
            // A record that is cut off is not an answer.
            if line.starts_with('{') {
                return events;
            }
            let session = session_in_banner(line);
            set_session(output, session, &mut events);
            add_text(output, &format!("{line}\n"), &mut events);
            return events;
        };
        let ids = ["/thread_id", "/session_id", "/item/session_id", "/item/sessionId"];
        let session = ids.iter().find_map(|pointer| record.pointer(pointer)?.as_str());
        set_session(output, session.map(str::to_owned), &mut events);
        match record["type"].as_str() {
            // Only completed items count: started and updated ones contain partial text.
            Some("thread.started" | "turn.started" | "item.started" | "item.updated") => {}
            Some("item.completed") => read_item(output, &record["item"], &mut events),
            Some("turn.completed") => read_usage(output, &record["usage"], &mut events),
            Some("turn.failed") => {
                read_error(output, &record["error"]["message"]);
                (output.failed, output.phase) = (true, RunPhase::Over);
            }
            Some("error") => read_error(output, &record["message"]),
            Some("done") => output.phase = RunPhase::Over,
            _ => {
                let members = ["/output_text", "/text", "/item/text"];
                if let Some(text) = members.iter().find_map(|pointer| record.pointer(pointer)?.as_str()) {
                    add_text(output, text, &mut events);
                }
            }
        }
        events
    }
}

fn set_session(output: &mut TurnOutput, session: Option<String>, events: &mut Vec<ChatEvent>) {
    if let Some(session) = session
        && output.session_id.as_ref() != Some(&session)
    {
        output.session_id = Some(session.clone());
        events.push(ChatEvent::session_status(session));
    }
}

fn read_item(output: &mut TurnOutput, item: &Value, events: &mut Vec<ChatEvent>) {
    let text = item["text"].as_str().unwrap_or_default();
    match item["type"].as_str() {
        Some("agent_message") if !text.is_empty() => {
            output.blocks.push(json!({"type": "text", "text": text}));
            // Messages are separated like paragraphs, unless the text ends with a line break already.
            let is_separate = !output.text.is_empty() && !output.text.ends_with('\n');
            let text = if is_separate { format!("\n\n{text}") } else { text.to_owned() };
            add_text(output, &text, events);
        }
        Some("reasoning") if !text.is_empty() => {
            output.blocks.push(json!({"type": "thinking", "thinking": text}));
            events.push(ChatEvent::Reasoning { content: text.to_owned() });
        }
        Some("command_execution") => {
            let id = item["id"].as_str().unwrap_or_default().to_owned();
            let input = json!({"command": item["command"]});
            let result = item["aggregated_output"].as_str().unwrap_or_default();
            let is_error = item["exit_code"].as_i64().is_some_and(|code| code != 0);
            output.blocks.push(json!({"type": "tool_use", "id": id, "name": "shell", "input": input}));
            output
                .blocks
                .push(json!({"type": "tool_result", "id": id, "content": result, "is_error": is_error}));
            events.push(ChatEvent::ToolUse { id: id.clone(), name: "shell".to_owned(), input });
            events.push(ChatEvent::ToolResult { id, content: result.into(), is_error: Some(is_error) });
        }
        None if !text.is_empty() => add_text(output, text, events),
        _ => {}
    }
}

fn add_text(output: &mut TurnOutput, text: &str, events: &mut Vec<ChatEvent>) {
    output.text.push_str(text);
    events.push(ChatEvent::Text { content: text.to_owned() });
}

fn read_error(output: &mut TurnOutput, message: &Value) {
    // The program repeats the request by itself.
    if message.as_str().is_some_and(is_reconnect) {
        return;
    }
    // The program reports a failure as `error`, then as `turn.failed`, possibly without a message.
    let earlier = output.error.as_ref().map(|error| error.text.as_str());
    let text = message.as_str().or(earlier).unwrap_or(UNKNOWN_ERROR).to_owned();
    output.fail(TurnError::new(text));
}

fn read_usage(output: &mut TurnOutput, usage: &Value, events: &mut Vec<ChatEvent>) {
    output.phase = RunPhase::Over;
    (output.failed, output.error) = (false, None);
    let count = |name: &str| usage[name].as_u64().unwrap_or(0);
    let total = count("input_tokens").saturating_add(count("output_tokens"));
    // Zero tokens mean that the program reported no usage.
    if total > 0 {
        let context_percent = total.saturating_mul(100) / CONTEXT_WINDOW;
        output.context_percent = Some(context_percent);
        events.push(ChatEvent::Usage { context_percent });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(lines: &[&str]) -> (TurnOutput, Vec<Value>) {
        let mut output = TurnOutput::default();
        let events: Vec<_> = lines.iter().flat_map(|line| JsonReader.read_line(line, &mut output)).collect();
        (output, events.iter().map(|event| serde_json::to_value(event).unwrap()).collect())
    }

    #[test]
    fn current_output_becomes_events() {
        let (output, events) = read(&[
            r#"{"type":"thread.started","thread_id":"t-1"}"#,
            r#"{"type":"turn.started"}"#,
            r#"{"type":"item.started","item":{"id":"i","type":"agent_message","text":"half"}}"#,
            r#"{"type":"item.completed","item":{"type":"reasoning","text":"hm"}}"#,
            r#"{"type":"item.completed","item":{"id":"c","type":"command_execution","command":"ls","aggregated_output":"a\n","exit_code":0}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"One."}}"#,
            r#"{"type":"item.completed","item":{"type":"agent_message","text":"Two."}}"#,
            r#"{"type":"turn.completed","usage":{"input_tokens":27200,"output_tokens":0}}"#,
        ]);
        assert_eq!((output.text.as_str(), output.session_id.as_deref()), ("One.\n\nTwo.", Some("t-1")));
        assert!(output.phase == RunPhase::Over && output.context_percent == Some(10));
        let expected = [
            json!({"type": "status", "sessionId": "t-1"}),
            json!({"type": "reasoning", "content": "hm"}),
            json!({"type": "tool_use", "id": "c", "name": "shell", "input": {"command": "ls"}}),
            json!({"type": "tool_result", "id": "c", "content": "a\n", "is_error": false}),
            json!({"type": "text", "content": "One."}),
            json!({"type": "text", "content": "\n\nTwo."}),
            json!({"type": "usage", "contextPercent": 10}),
        ];
        assert_eq!(events, expected);
    }

    #[test]
    fn older_output_becomes_events() {
        let session = "0123abcd-0123-0123-0123-0123456789ab";
        let (output, events) = read(&[
            &format!("Session ID: {session}"),
            r#"{"output_text":"a"}"#,
            r#"{"text":"b","session_id":"s-2"}"#,
            r#"{"item":{"text":"c","sessionId":"s-2"}}"#,
            r#"{"type":"turn.failed","error":{"message":"usage limit"}}"#,
            r#"{"type":"error"}"#,
            "",
        ]);
        assert!(output.failed && output.text.ends_with("abc"));
        assert_eq!(events[0], json!({"type": "status", "sessionId": session}));
        assert_eq!(output.error.unwrap().text, "usage limit", "the message of the first report");
        assert_eq!(output.session_id.as_deref(), Some("s-2"));
    }

    #[test]
    fn reconnects_are_progress_and_the_failed_turn_decides() {
        let reconnect = r#"{"type":"error","message":"Reconnecting... 1/2 (stream disconnected)"}"#;
        let denied = r#"{"type":"error","message":"unexpected status 401 Unauthorized"}"#;
        let answer = r#"{"type":"item.completed","item":{"type":"agent_message","text":"Fine."}}"#;
        let completed = r#"{"type":"turn.completed","usage":{}}"#;
        let (output, events) = read(&[reconnect, denied, answer, completed]);
        assert_eq!((output.text.as_str(), output.error), ("Fine.", None));
        assert_eq!(events, [json!({"type": "text", "content": "Fine."})]);
        let failed = r#"{"type":"turn.failed","error":{"message":"stream disconnected"}}"#;
        let (output, events) = read(&[reconnect, denied, failed]);
        assert!(output.failed && output.phase == RunPhase::Over && events.is_empty());
        assert_eq!(output.error.unwrap().text, "stream disconnected");
    }

    #[test]
    fn cut_record_is_not_an_answer() {
        let (output, events) = read(&[r#"{"type":"item.completed","item":{"type":"agent_me"#]);
        assert!(output.text.is_empty() && events.is_empty());
    }

    #[test]
    fn session_recording_errors_are_removed() {
        let noise = "2026-01-01T00:00:00Z ERROR codex_core::session: failed to record rollout items: thread 0123abcd-0123-0123-0123-0123456789ab not found";
        assert_eq!(strip_noise(&format!("one\n{noise}\ntwo")), "one\ntwo");
    }

    proptest! {
        #[test]
        fn reader_accepts_any_line(line in ".*") {
            JsonReader.read_line(&line, &mut TurnOutput::default());
        }
    }
}
