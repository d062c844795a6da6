//! Timing events of a loop: a line of `perf.jsonl`, and the same as it travels in telemetry.
//!
//! Members have snake case on disk and camel case in telemetry; what is absent stays absent. Every
//! text is cleaned while it is read, so that whoever holds an event may send it.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Number;

use crate::redact;

/// Bytes of a text.
const MAX_TEXT: usize = 1024;
/// Bytes of a command's name.
const MAX_COMMAND: usize = 64;
/// Bytes that are shown of a line that cannot be read.
const MAX_RAW: usize = 1024;
/// Bytes of the reason why a line cannot be read.
const MAX_REASON: usize = 512;
/// Stands for a text that looks like a credential.
const REDACTED: &str = "[redacted]";

/// A text without colours, control characters and credentials.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct CleanText(String);

impl CleanText {
    /// Cleans a text, then cuts it.
    #[must_use]
    pub fn clean(text: &str, max_bytes: usize) -> Self {
        let mut plain = redact::strip_ansi(text);
        plain.retain(|letter| !letter.is_control());
        if redact::credentials(&plain) != plain {
            return Self(REDACTED.to_owned());
        }
        plain.truncate(plain.floor_char_boundary(max_bytes));
        Self(plain)
    }

    /// The text.
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

/// One event with what all of them have.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all(serialize = "camelCase", deserialize = "snake_case"))]
pub struct PerfRecord {
    /// What happened.
    #[serde(flatten)]
    pub event: PerfEvent,
    /// The run of the loop.
    pub run_id: CleanText,
    /// The loop's command.
    #[serde(default, deserialize_with = "command", skip_serializing_if = "Option::is_none")]
    pub command: Option<CleanText>,
    /// The provider that runs the loop.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub harness: Option<CleanText>,
}

/// What happened. Times are ISO 8601, durations seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    tag = "event",
    rename_all = "snake_case",
    rename_all_fields(serialize = "camelCase", deserialize = "snake_case")
)]
#[expect(missing_docs, reason = "the members are those of the file, whose page explains them")]
pub enum PerfEvent {
    /// The loop began.
    Run {
        started_at: CleanText,
        #[serde(skip_serializing_if = "Option::is_none")]
        repo: Option<CleanText>,
        #[serde(skip_serializing_if = "Option::is_none")]
        branch: Option<CleanText>,
    },
    /// The assistant's orchestrator began a phase.
    Phase {
        iteration: u64,
        phase: CleanText,
        status: CleanText,
        started_at: CleanText,
        #[serde(skip_serializing_if = "Option::is_none")]
        start_sha: Option<CleanText>,
    },
    /// A run of the assistant ended.
    Iteration {
        iteration: u64,
        started_at: CleanText,
        ended_at: CleanText,
        duration_s: Number,
        #[serde(skip_serializing_if = "Option::is_none")]
        assistant_exit_code: Option<i64>,
        status: CleanText,
    },
    /// A step between two iterations ended, or one of a judge.
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
    /// A subagent ended.
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
    /// A tool was called. The three members that tell of its end are null for a call that never
    /// ended.
    Tool {
        iteration: u64,
        agent_id: CleanText,
        tool_name: CleanText,
        started_at: CleanText,
        #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
        ended_at: Option<Option<CleanText>>,
        #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
        duration_s: Option<Option<Number>>,
        #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
        ok: Option<Option<bool>>,
        #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
        phase: Option<CleanText>,
    },
    /// A skill was used.
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
    /// A subagent was asked for.
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
    /// A review after the loop; stays on this machine.
    PostLoopReview {},
    /// A fix after such a review; stays on this machine.
    PostLoopFix {},
}

/// A member that is there and not null.
fn known<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Ok(Option::<T>::deserialize(deserializer)?.map(Some))
}

/// A file of a tool call that is under way.
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
    /// A call that never ended.
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
    /// Its name, as in the file; none for what stays on this machine.
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

    /// The phase that this event begins, with its iteration.
    #[must_use]
    pub const fn begins_phase(&self) -> Option<(u64, &CleanText)> {
        match self {
            Self::Phase { iteration, phase, .. } => Some((*iteration, phase)),
            _ => None,
        }
    }

    /// The iteration, and the place for the phase, of an event that belongs to one.
    pub const fn belongs_to_phase(&mut self) -> Option<(u64, &mut Option<CleanText>)> {
        match self {
            Self::Agent { iteration, phase, .. }
            | Self::Tool { iteration, phase, .. }
            | Self::Skill { iteration, phase, .. }
            | Self::Spawn { iteration, phase, .. } => Some((*iteration, phase)),
            _ => None,
        }
    }
}

/// A line that cannot be read, as it travels in telemetry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "event", rename = "parse_failure", rename_all = "camelCase")]
pub struct ParseFailure {
    /// Number of the line in the whole file, from 1.
    pub line_number: u64,
    /// Its beginning.
    pub raw_bytes: CleanText,
    /// What is wrong.
    pub error_message: CleanText,
}

impl ParseFailure {
    /// Describes a line.
    #[must_use]
    pub fn new(line_number: u64, line: &[u8], reason: &str) -> Self {
        // A credential may be longer than what is shown of the line, but not of any length.
        let known = &line[..line.len().min(4 * MAX_RAW)];
        Self {
            line_number,
            raw_bytes: CleanText::clean(&String::from_utf8_lossy(known), MAX_RAW),
            error_message: CleanText::clean(reason, MAX_REASON),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn told(line: &Value) -> Value {
        serde_json::to_value(serde_json::from_value::<PerfRecord>(line.clone()).unwrap()).unwrap()
    }

    #[test]
    fn members_are_renamed_and_what_is_absent_stays_absent() {
        let line = json!({"event": "iteration", "run_id": "r", "iteration": 2, "started_at": "a",
            "ended_at": "b", "duration_s": 7, "assistant_exit_code": 0, "status": "ok"});
        let wanted = json!({"event": "iteration", "runId": "r", "iteration": 2, "startedAt": "a",
            "endedAt": "b", "durationS": 7, "assistantExitCode": 0, "status": "ok"});
        assert_eq!(told(&line), wanted);
        let line = json!({"event": "tool", "run_id": "r", "iteration": 1, "agent_id": "x",
            "tool_name": "Bash", "started_at": "a", "ok": null, "phase": "made up"});
        let wanted = json!({"event": "tool", "runId": "r", "iteration": 1, "agentId": "x",
            "toolName": "Bash", "startedAt": "a"});
        assert_eq!(told(&line), wanted);
        let step = json!({"event": "pipeline_step", "run_id": "r", "iteration": 1, "step": 8.5,
            "step_name": "s", "started_at": "a", "ended_at": "b", "duration_s": 0, "skipped": true});
        assert_eq!(told(&step)["step"], 8.5);
    }

    #[test]
    fn unfinished_tool_call_has_null_members() {
        let call = json!({"run_id": "r", "agent_id": "x", "tool_name": "Bash", "started_at": "a",
            "iteration": 1, "command": "P".repeat(100)});
        let record = PerfRecord::from(serde_json::from_value::<ToolCall>(call).unwrap());
        let told = serde_json::to_value(record).unwrap();
        for name in ["endedAt", "durationS", "ok"] {
            assert_eq!(told.get(name), Some(&Value::Null), "{told}");
        }
        assert_eq!(told["command"], "P".repeat(MAX_COMMAND));
    }

    #[test]
    fn texts_are_cleaned_and_then_cut() {
        let secret = format!("\u{1b}[31mghp_{}", "a".repeat(24));
        assert_eq!(CleanText::clean(&secret, 8).as_str(), REDACTED);
        assert_eq!(CleanText::clean("\u{1b}[1mone\u{1b}[0m\ntwo\u{7}", 64).as_str(), "onetwo");
        assert_eq!(CleanText::clean("äää", 3).as_str(), "ä");
        let failure = ParseFailure::new(3, format!("{{{}", "x".repeat(5000)).as_bytes(), "bad");
        assert_eq!(failure.raw_bytes.as_str().len(), MAX_RAW);
        let told = serde_json::to_value(failure).unwrap();
        assert_eq!((&told["event"], &told["lineNumber"]), (&json!("parse_failure"), &json!(3)));
    }

    #[test]
    fn what_lacks_a_member_or_is_unknown_is_no_event() {
        for (line, named) in [
            (json!({"event": "run", "started_at": "a"}), "run_id"),
            (
                json!({"event": "phase", "run_id": "r", "iteration": 1, "phase": "p", "status": "s"}),
                "started_at",
            ),
            (json!({"event": "sideways", "run_id": "r"}), "sideways"),
            (json!({"run_id": "r"}), "event"),
        ] {
            let error = serde_json::from_value::<PerfRecord>(line).unwrap_err().to_string();
            assert!(error.contains(named), "{error}");
        }
    }
}
