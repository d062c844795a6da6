//! Timing events of a loop, as lines of `perf.jsonl` and as telemetry.
//!
//! Members are snake case on disk and camel case in telemetry; absent members stay absent. All strings are
//! cleaned during deserialization, so a parsed event is safe to send.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

use crate::redact;

/// Maximum length of a string in bytes; bounds the size of a telemetry event.
const MAX_TEXT: usize = 1024;
/// Maximum length of a command name in bytes.
const MAX_COMMAND: usize = 64;
/// Maximum length in bytes of the excerpt of an unparsable line.
const MAX_RAW: usize = 1024;
/// Maximum length in bytes of the parse error.
const MAX_REASON: usize = 512;
/// Replaces a whole string that contains a credential.
const REDACTED: &str = "[redacted]";

/// A string without ANSI sequences, control characters and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct CleanText(String);

impl CleanText {
    /// Cleans a string, then truncates it to `max_bytes` at a character boundary.
    #[must_use]
    pub fn clean(text: &str, max_bytes: usize) -> Self {
        let mut plain = redact::strip_ansi(text);
        plain.retain(|letter| !letter.is_control());
        // The whole string is replaced, and before truncation: a truncated credential no longer matches a
        // pattern, and part of it would remain.
        if redact::credentials(&plain) != plain {
            return Self(REDACTED.to_owned());
        }
        // `String::truncate` panics within a character.
        plain.truncate(plain.floor_char_boundary(max_bytes));
        Self(plain)
    }

    /// Returns the cleaned string as a slice.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl<'de> Deserialize<'de> for CleanText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::clean(&String::deserialize(deserializer)?, MAX_TEXT))
    }
}

fn command<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<CleanText>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    Ok(text.map(|text| CleanText::clean(&text, MAX_COMMAND)))
}

/// A timing event with the members that all events share.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
pub struct PerfRecord {
    /// The event and its specific members.
    #[serde(flatten)]
    pub event: PerfEvent,
    /// Id of the loop's run.
    pub run_id: CleanText,
    /// Name of the loop command, for example `PLAN`; absent when the writer omits it.
    #[serde(default, deserialize_with = "command", skip_serializing_if = "Option::is_none")]
    pub command: Option<CleanText>,
    /// Provider that runs the loop: `assistant` or `reviewer`; absent on disk.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<CleanText>,
}

/// Kind of a timing event. Times are ISO 8601, durations are seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields(serialize = "camelCase", deserialize = "snake_case")
)]
#[expect(missing_docs, reason = "the members are those of a line of perf.jsonl")]
pub enum PerfEvent {
    /// The loop's run started.
    Run {
        started_at: CleanText,
        #[serde(skip_serializing_if = "Option::is_none")]
        repo: Option<CleanText>,
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<CleanText>,
    },
    /// The assistant's orchestrator entered a phase.
    Phase {
        iteration: u64,
        phase: CleanText,
        status: CleanText,
        started_at: CleanText,
        #[serde(skip_serializing_if = "Option::is_none")]
        start_sha: Option<CleanText>,
    },
    /// One run of the assistant ended.
    Iteration {
        iteration: u64,
        started_at: CleanText,
        ended_at: CleanText,
        duration_s: Number,
        #[serde(skip_serializing_if = "Option::is_none")]
        assistant_exit_code: Option<i64>,
        status: CleanText,
    },
    /// A pipeline step between two iterations, or a step of a judge, ended.
    PipelineStep {
        iteration: u64,
        step: Number,
        step_name: CleanText,
        started_at: CleanText,
        ended_at: CleanText,
        duration_s: Number,
        #[serde(skip_serializing_if = "Option::is_none")]
        exit_code: Option<i64>,
        skipped: bool,
        #[serde(skip_serializing_if = "Option::is_none")]
        sub_step: Option<Number>,
        #[serde(skip_serializing_if = "Option::is_none")]
        sub_step_name: Option<CleanText>,
    },
    /// A subagent of the assistant ended.
    Agent {
        iteration: u64,
        agent_id: CleanText,
        agent_type: CleanText,
        agent_name: CleanText,
        started_at: CleanText,
        ended_at: CleanText,
        duration_s: Number,
        #[serde(skip_serializing_if = "Option::is_none")]
        model: Option<CleanText>,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_session_id: Option<CleanText>,
        #[serde(skip_serializing_if = "Option::is_none")]
        input_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        output_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_creation_input_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        cache_read_input_tokens: Option<u64>,
        #[serde(skip_serializing_if = "Option::is_none")]
        total_context_tokens: Option<u64>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        phase: Option<CleanText>,
    },
    /// A tool was called. `ended_at`, `duration_s` and `ok` are null for a call that never ended.
    Tool {
        iteration: u64,
        agent_id: CleanText,
        tool_name: CleanText,
        started_at: CleanText,
        #[serde(default, deserialize_with = "non_null", skip_serializing_if = "Option::is_none")]
        ended_at: Option<Option<CleanText>>,
        #[serde(default, deserialize_with = "non_null", skip_serializing_if = "Option::is_none")]
        duration_s: Option<Option<Number>>,
        #[serde(default, deserialize_with = "non_null", skip_serializing_if = "Option::is_none")]
        ok: Option<Option<bool>>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        phase: Option<CleanText>,
    },
    /// A skill of the assistant was used.
    Skill {
        iteration: u64,
        agent_id: CleanText,
        tool_name: CleanText,
        skill_name: CleanText,
        started_at: CleanText,
        ended_at: CleanText,
        duration_s: Number,
        ok: bool,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        phase: Option<CleanText>,
    },
    /// The assistant requested a subagent.
    Spawn {
        iteration: u64,
        parent_agent_id: CleanText,
        started_at: CleanText,
        #[serde(skip_serializing_if = "Option::is_none")]
        parent_session_id: Option<CleanText>,
        #[serde(skip_serializing_if = "Option::is_none")]
        planned_subagent_type: Option<CleanText>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        phase: Option<CleanText>,
    },
    /// Review after the loop; not sent in telemetry.
    PostLoopReview {},
    /// Fix after such a review; not sent in telemetry.
    PostLoopFix {},
}

/// Deserializes a present member; null counts as absent.
fn non_null<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    // On disk null means "not recorded". The outer `Some` is reserved for calls that never ended, which are
    // sent with an explicit null.
    Ok(Option::<T>::deserialize(deserializer)?.map(Some))
}

/// Content of the file that records a tool call in flight.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ToolCall {
    run_id: CleanText,
    agent_id: CleanText,
    tool_name: CleanText,
    started_at: CleanText,
    iteration: u64,
    #[serde(default, deserialize_with = "command")]
    command: Option<CleanText>,
}

impl From<ToolCall> for PerfRecord {
    /// Returns the event of a call that never ended.
    fn from(call: ToolCall) -> Self {
        let event = PerfEvent::Tool {
            iteration: call.iteration,
            agent_id: call.agent_id,
            tool_name: call.tool_name,
            started_at: call.started_at,
            ended_at: Some(None),
            duration_s: Some(None),
            ok: Some(None),
            phase: None,
        };
        Self { event, run_id: call.run_id, command: call.command, harness: None }
    }
}

impl PerfEvent {
    /// Returns the event's name in the file; `None` for events that are not sent in telemetry.
    #[must_use]
    pub const fn name(&self) -> Option<&'static str> {
        Some(match self {
            Self::Run { .. } => "run",
            Self::Phase { .. } => "phase",
            Self::Iteration { .. } => "iteration",
            Self::PipelineStep { .. } => "pipeline_step",
            Self::Agent { .. } => "agent",
            Self::Tool { .. } => "tool",
            Self::Skill { .. } => "skill",
            Self::Spawn { .. } => "spawn",
            Self::PostLoopReview {} | Self::PostLoopFix {} => return None,
        })
    }

    /// Returns iteration and name of the phase that this event starts.
    #[must_use]
    pub const fn started_phase(&self) -> Option<(u64, &CleanText)> {
        match self {
            Self::Phase { iteration, phase, .. } => Some((*iteration, phase)),
            _ => None,
        }
    }

    /// Returns the iteration of an event that belongs to a phase, and the member to store the phase's name
    /// in.
    pub const fn phase_slot(&mut self) -> Option<(u64, &mut Option<CleanText>)> {
        match self {
            Self::Agent { iteration, phase, .. }
            | Self::Tool { iteration, phase, .. }
            | Self::Skill { iteration, phase, .. }
            | Self::Spawn { iteration, phase, .. } => Some((*iteration, phase)),
            _ => None,
        }
    }
}

/// An unparsable line of `perf.jsonl`, as sent in telemetry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "parse_failure", rename_all = "camelCase")]
pub struct ParseFailure {
    /// Line number in the whole file, from 1.
    pub line_number: u64,
    /// Start of the line, cleaned and truncated to 1024 bytes.
    pub raw_bytes: CleanText,
    /// Error of the parser, cleaned and truncated.
    pub error_message: CleanText,
}

impl ParseFailure {
    /// Describes an unparsable line and the reason.
    #[must_use]
    pub fn new(line_number: u64, line: &[u8], reason: &str) -> Self {
        // Read more than the excerpt shows, so that a credential across its end is still recognized, but
        // bounded: a line can have any length.
        let excerpt = &line[..line.len().min(4 * MAX_RAW)];
        Self {
            line_number,
            raw_bytes: CleanText::clean(&String::from_utf8_lossy(excerpt), MAX_RAW),
            error_message: CleanText::clean(reason, MAX_REASON),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn telemetry(line: &Value) -> Value {
        serde_json::to_value(serde_json::from_value::<PerfRecord>(line.clone()).unwrap()).unwrap()
    }

    #[test]
    fn members_are_renamed_and_absent_members_stay_absent() {
        let line = json!({"event": "iteration", "run_id": "r", "iteration": 2, "started_at": "a",
            "ended_at": "b", "duration_s": 7, "assistant_exit_code": 0, "status": "ok"});
        let expected = json!({"event": "iteration", "runId": "r", "iteration": 2, "startedAt": "a",
            "endedAt": "b", "durationS": 7, "assistantExitCode": 0, "status": "ok"});
        assert_eq!(telemetry(&line), expected);
        // A null member on disk is dropped, and `phase` is set by the reader only.
        let line = json!({"event": "tool", "run_id": "r", "iteration": 1, "agent_id": "x",
            "tool_name": "Bash", "started_at": "a", "ok": null, "phase": "made up"});
        let expected = json!({"event": "tool", "runId": "r", "iteration": 1, "agentId": "x",
            "toolName": "Bash", "startedAt": "a"});
        assert_eq!(telemetry(&line), expected);
        let step = json!({"event": "pipeline_step", "run_id": "r", "iteration": 1, "step": 8.5,
            "step_name": "s", "started_at": "a", "ended_at": "b", "duration_s": 0, "skipped": true});
        assert_eq!(telemetry(&step)["step"], 8.5);
    }

    #[test]
    fn unfinished_tool_call_has_null_members() {
        let call = json!({"run_id": "r", "agent_id": "x", "tool_name": "Bash", "started_at": "a",
            "iteration": 1, "command": "P".repeat(100)});
        let record = PerfRecord::from(serde_json::from_value::<ToolCall>(call).unwrap());
        let event = serde_json::to_value(record).unwrap();
        for name in ["endedAt", "durationS", "ok"] {
            assert_eq!(event.get(name), Some(&Value::Null), "{event}");
        }
        assert_eq!(event["command"], "P".repeat(MAX_COMMAND));
    }

    #[test]
    fn strings_are_cleaned_before_truncation() {
        let secret = format!("\u{1b}[31mghp_{}", "a".repeat(24));
        assert_eq!(CleanText::clean(&secret, 8).as_str(), REDACTED);
        assert_eq!(CleanText::clean("\u{1b}[1mone\u{1b}[0m\ntwo\u{7}", 64).as_str(), "onetwo");
        assert_eq!(CleanText::clean("äää", 3).as_str(), "ä");
        let failure = ParseFailure::new(3, format!("{{{}", "x".repeat(5000)).as_bytes(), "bad");
        assert_eq!(failure.raw_bytes.as_str().len(), MAX_RAW);
        let event = serde_json::to_value(failure).unwrap();
        assert_eq!((&event["event"], &event["lineNumber"]), (&json!("parse_failure"), &json!(3)));
    }

    #[test]
    fn event_with_missing_member_or_unknown_name_is_rejected() {
        for (line, cause) in [
            (json!({"event": "run", "started_at": "a"}), "run_id"),
            (
                json!({"event": "phase", "run_id": "r", "iteration": 1, "phase": "p", "status": "s"}),
                "started_at",
            ),
            (json!({"event": "sideways", "run_id": "r"}), "sideways"),
            (json!({"run_id": "r"}), "event"),
        ] {
            let error = serde_json::from_value::<PerfRecord>(line).unwrap_err().to_string();
            assert!(error.contains(cause), "{error}");
        }
    }
}
