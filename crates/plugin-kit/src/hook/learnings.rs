//! Hooks of self-learning: which learnings agents receive, and what they answer to them.
//!
//! In a loop, the driver's variable with the repository switches them on; without it, they open no file. In a session of a
//! user, `hooks/run.sh` of the plugin `self-learning` calls them if the user has switched them on.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use loopgate_home::untrusted;
use loopgate_learnings::{
    Acknowledgement, AcknowledgementEntry, FailureEntry, Goal, LearningOutcome, NoteQuery, Notes,
    OutcomeStatus, ToolSubject, append_acknowledgement, append_failure, append_outcomes, repository_key,
};
use serde_json::{Value, json};

use super::agents::LOOP_AGENTS;
use super::input::{HookInput, Loop, is_name};
use crate::clock::now;
use crate::loop_run::patterns;
use crate::variables as var;

/// Agents without rounds that have to acknowledge learnings; those with rounds have to as well.
const MORE_LEARNING_AGENTS: [&str; 2] = ["code:cross-repo-coordinator", "code:generic-discovery"];
/// How often an agent is sent back for an acknowledgement.
const MAX_RETRIES: u32 = 2;
/// Tools before whose use learnings are shown.
const TOOLS: [&str; 3] = ["Bash", "Write", "Edit"];
/// Variables of a loop. Its sessions have hooks of their own.
const LOOP_VARIABLES: [&str; 2] = [var::RUN_ID, loopgate_api::names::env::LOOP_ID];

/// Returns the repository if the loop learns.
fn repository() -> Option<String> {
    var::text(var::LEARNINGS_REPO)
}

fn is_learning_agent(agent_type: &str) -> bool {
    LOOP_AGENTS.iter().any(|agent| agent.name == agent_type) || MORE_LEARNING_AGENTS.contains(&agent_type)
}

/// Returns the text with the learnings for an agent that starts, and records them.
pub fn for_agent(context: &Loop, input: &HookInput) -> Option<String> {
    let notes = select(&repository()?, &input.agent_type, &context.workdir)?;
    let shown: Vec<(&str, &str)> =
        notes.notes.iter().map(|note| (note.id.as_str(), note.summary.as_str())).collect();
    let record = record_of(context, &input.agent_id)?;
    untrusted::write(&record, json!(shown).to_string().as_bytes()).ok()?;
    Some(if is_learning_agent(&input.agent_type) { notes.for_agent() } else { notes.for_session() })
}

fn select(repo: &str, agent: &str, workdir: &Path) -> Option<Notes> {
    let goal = Goal::load(workdir);
    patterns().notes(&NoteQuery { repo, agent, priority: &goal.priority })
}

fn record_of(context: &Loop, agent_id: &str) -> Option<PathBuf> {
    Some(context.agent_note(agent_id)?.with_file_name(format!("{agent_id}-learnings")))
}

/// Adds the learnings about the use of a tool to the answer of the hook. Each is shown to an agent once.
pub fn with_tool_notes(answer: Option<Value>, input: &HookInput) -> Option<Value> {
    let is_denied = answer.as_ref().is_some_and(|answer| {
        answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str) == Some("deny")
    });
    let notes = if is_denied { None } else { tool_notes(input) };
    let Some(notes) = notes else { return answer };
    let mut answer = answer.unwrap_or_else(|| json!({"hookSpecificOutput": {"hookEventName": "PreToolUse"}}));
    answer["hookSpecificOutput"]["additionalContext"] = notes.into();
    Some(answer)
}

fn tool_notes(input: &HookInput) -> Option<String> {
    let repo = repository()?;
    let tool = TOOLS.iter().find(|tool| **tool == input.tool_name)?;
    let context = input.loop_context()?;
    let member = if *tool == "Bash" { "command" } else { "file_path" };
    let subject = input.tool_input.get(member)?.as_str()?;
    let reader = if input.agent_id.is_empty() { &input.session_id } else { &input.agent_id };
    let seen_record = context.agent_note(reader)?.with_file_name(format!("{reader}-tool-notes"));
    let mut seen: BTreeSet<String> = untrusted::read_json(&seen_record).unwrap_or_default();
    // What the agent received at its start is not repeated.
    let at_start: Vec<(String, String)> =
        record_of(&context, reader).and_then(|path| untrusted::read_json(&path)).unwrap_or_default();
    seen.extend(at_start.into_iter().map(|(id, _)| id));
    let goal = Goal::load(&context.workdir);
    let query = NoteQuery { repo: &repo, agent: &input.agent_type, priority: &goal.priority };
    let notes = patterns().tool_notes(&query, ToolSubject { tool, subject }, &seen)?;
    seen.extend(notes.notes.iter().map(|note| note.id.clone()));
    untrusted::write(&seen_record, json!(seen).to_string().as_bytes()).ok()?;
    Some(notes.for_tool(tool))
}

/// Records what an agent that stops did with its learnings. Returns the answer that sends it back if it has to acknowledge
/// them and did not.
pub fn at_stop(context: &Loop, input: &HookInput, agent_type: &str, message: &str) -> Option<Value> {
    repository()?;
    let record = record_of(context, &input.agent_id)?;
    let shown: Vec<(String, String)> = untrusted::read_json(&record)?;
    let acknowledgement = Acknowledgement::parse(message, &shown);
    let retries_record = record.with_file_name(format!("{}-learning-retries", input.agent_id));
    let entry = LogContext { agent: agent_type, agent_id: &input.agent_id, workdir: &context.workdir };
    if acknowledgement.is_none() && is_learning_agent(agent_type) {
        let retries: u32 = untrusted::read_json(&retries_record).unwrap_or_default();
        // An agent that cannot be counted must not be sent back without an end.
        if retries < MAX_RETRIES
            && untrusted::write(&retries_record, (retries + 1).to_string().as_bytes()).is_ok()
        {
            return Some(back_for_acknowledgement(retries + 1));
        }
        entry.failure("max_retries_exceeded: no acknowledgement of the learnings");
    }
    let applied = match &acknowledgement {
        Some(acknowledgement) => acknowledgement.applied.clone(),
        None => Acknowledgement::citations(message, &shown),
    };
    if is_learning_agent(agent_type) {
        entry.acknowledgement(acknowledgement.as_ref());
    }
    let outcomes: Vec<LearningOutcome> = shown
        .into_iter()
        .map(|(id, summary)| {
            let citation = applied.iter().find(|applied| applied.id == id);
            LearningOutcome {
                timestamp: now(),
                run_id: run_id(),
                iteration: iteration(),
                agent: agent_type.to_owned(),
                agent_id: input.agent_id.clone(),
                pattern_id: id,
                pattern: summary,
                status: if citation.is_some() { OutcomeStatus::Applied } else { OutcomeStatus::Injected },
                citations: citation.map(|applied| applied.citations.clone()).unwrap_or_default(),
                verified: None,
                relevance: None,
                goal_score: None,
                build: None,
            }
        })
        .collect();
    // Best-effort like every hook: without a log, nothing is counted.
    let _ = append_outcomes(&context.workdir, &outcomes);
    for path in [record, retries_record] {
        let _ = untrusted::remove(&path);
    }
    None
}

fn back_for_acknowledgement(retry: u32) -> Value {
    let status = format!("Learnings not acknowledged ({retry} of {MAX_RETRIES})");
    let reason = format!(
        "{status}. Give your complete final answer again, in the required form and with its promise if it has one, and end \
         it with the line LEARNINGS_ACKNOWLEDGED and one line `Applied: \"P-001\" -> [path/to/file:12]` for each note that \
         you used, or with LEARNINGS_ACKNOWLEDGED: no_learnings (reason)."
    );
    json!({"decision": "block", "reason": reason, "systemMessage": status})
}

/// What all lines of an agent have in common.
struct LogContext<'a> {
    agent: &'a str,
    agent_id: &'a str,
    workdir: &'a Path,
}

impl LogContext<'_> {
    fn failure(&self, reason: &str) {
        let entry = FailureEntry {
            timestamp: now(),
            run_id: run_id(),
            iteration: iteration(),
            agent: format!("{} {}", self.agent, self.agent_id),
            reason: reason.to_owned(),
        };
        let _ = append_failure(self.workdir, &entry);
    }

    fn acknowledgement(&self, acknowledgement: Option<&Acknowledgement>) {
        let patterns =
            acknowledgement.map(|it| it.applied.iter().map(|applied| applied.id.clone()).collect());
        let entry = AcknowledgementEntry {
            timestamp: now(),
            run_id: run_id(),
            iteration: iteration(),
            agent: self.agent.to_owned(),
            acknowledged: acknowledgement.is_some(),
            patterns: patterns.unwrap_or_default(),
            evidence: acknowledgement
                .map_or_else(|| "missing acknowledgment".to_owned(), |it| it.evidence.clone()),
        };
        let _ = append_acknowledgement(self.workdir, &entry);
    }
}

fn run_id() -> String {
    var::text(var::RUN_ID).unwrap_or_default()
}

fn iteration() -> u64 {
    var::text(var::ITERATION).and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Returns the learnings for a session or a subagent of a user. `event` is the name of the hook.
pub fn for_session(input: &HookInput, event: &str) -> Option<Value> {
    let is_of_loop = LOOP_VARIABLES.iter().any(|name| var::text(name).is_some());
    if is_of_loop || input.project().as_os_str().is_empty() {
        return None;
    }
    if event == "SessionStart"
        && let Some(transcript) = &input.transcript_path
        && is_name(&input.session_id)
    {
        // Best-effort: without it, `learnings capture` names what is missing.
        let _ = crate::learning_session::record_start(&input.session_id, transcript);
    }
    let repo = repository_key(input.project());
    let notes = patterns().notes(&NoteQuery { repo: &repo, agent: &input.agent_type, priority: &[] })?;
    Some(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": notes.for_session()}}))
}
