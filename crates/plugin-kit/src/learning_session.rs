//! `loopgate learnings capture`: learnings from a session of a user, without a loop.
//!
//! A program collects the commands that failed in the session and passed later. Without one, no model is asked.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, BufRead as _};
use std::path::{Path, PathBuf};

use loopgate_api::assistant_record::{AssistantRecord, Content, RecordKind, ToolResult};
use loopgate_home::{default_data_dir, files};
use loopgate_learnings::{
    CorrectionAnswer, Excerpt, ExcerptKind, LearningSource, PendingBatch, question, repository_key,
    system_prompt,
};
use serde::{Deserialize, Serialize};
use tokio_util::sync::CancellationToken;

use crate::hook::is_name;
use crate::judges::{ArtifactTexts, JudgeModel};
use crate::loop_run::{assistant, environment, patterns};
use crate::model_calls::{CallOutcome, IsolatedAssistant, ModelQuestion};
use crate::variables as var;

/// Directory of the records of sessions in the data directory.
const SESSIONS: &str = "learning-sessions";
/// Age after which the record of a session is removed.
const ABANDONED_AFTER: std::time::Duration = std::time::Duration::from_hours(7 * 24);
/// Model of the request, as in loops.
const MODEL: JudgeModel = JudgeModel::Sonnet;
/// Characters of the output of a failed command in a correction; its end names the reason.
const OUTPUT_CHARS: usize = 700;
/// Characters of each edit in a correction.
const EDIT_CHARS: usize = 200;
/// Edits in a correction.
const MAX_EDITS: usize = 4;
/// Tools that change files, with the argument that contains the new text.
const EDITING: [(&str, &str); 2] = [("Edit", "new_string"), ("Write", "content")];

/// Record of a session.
#[derive(Debug, Serialize, Deserialize)]
struct SessionTranscript {
    transcript: PathBuf,
}

/// Records where the transcript of a session is.
///
/// # Errors
/// Fails on any file system error.
pub(crate) fn record_start(session: &str, transcript: &Path) -> std::io::Result<()> {
    let directory = directory()?;
    for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
        let modified = entry.metadata().and_then(|file| file.modified());
        if modified.is_ok_and(|at| crate::clock::age(at) > ABANDONED_AFTER) {
            // Best-effort: the next session tries again.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let record = SessionTranscript { transcript: transcript.to_owned() };
    files::create_private_dir(&directory)?;
    files::write_private(&directory.join(format!("{session}.json")), &serde_json::to_vec(&record)?)
}

fn directory() -> std::io::Result<PathBuf> {
    Ok(default_data_dir().map_err(std::io::Error::other)?.join(SESSIONS))
}

/// Learns from the current session, and returns the result for the user. Creates an async runtime, so it must not be called
/// from within one.
///
/// # Errors
/// Returns why nothing was learned.
pub fn capture() -> Result<String, String> {
    let session = var::text(var::ASSISTANT_SESSION).filter(|session| is_name(session));
    let session = session.ok_or("this command works in a session of the assistant only")?;
    let record = directory().and_then(|directory| std::fs::read(directory.join(format!("{session}.json"))));
    let record: Option<SessionTranscript> = record.ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let record = record.ok_or(
        "the start of this session is not recorded: switch learnings on with /self-learning:sessions, and start a new session",
    )?;
    let file = std::fs::File::open(&record.transcript)
        .map_err(|error| format!("cannot read the transcript of this session: {error}"))?;
    let lines = std::io::BufReader::new(file).split(b'\n').map_while(Result::ok);
    let excerpts = Excerpt::list(corrections(lines.filter_map(|line| serde_json::from_slice(&line).ok())));
    if excerpts.is_empty() {
        return Ok("Nothing to learn: no command failed in this session and passed later.".to_owned());
    }
    let project = std::env::current_dir().map_err(|error| error.to_string())?;
    let answer = ask(&question(&excerpts))?;
    let contains = |text: &str, words: &str| {
        let mut texts = ArtifactTexts::default();
        texts.add(text);
        texts.contain(words)
    };
    let answer = CorrectionAnswer::read(&answer, &excerpts, contains)?;
    let source = LearningSource {
        repo: repository_key(&project),
        ticket: session,
        chat: "session".to_owned(),
        ..LearningSource::default()
    };
    let work_dir = tempfile::tempdir().map_err(|error| error.to_string())?;
    answer.write(work_dir.path(), &source).map_err(|error| error.to_string())?;
    // Each of these learnings has a category, so nothing is classified.
    let report = PendingBatch::take(work_dir.path(), &source).merge(&patterns(), Ok(Vec::new()))?;
    let mut text = format!(
        "{} learnings from {} corrections: {} added, {} merged, {} deleted earlier, {} rejected.",
        answer.count(),
        excerpts.len(),
        report.added,
        report.merged,
        report.skipped,
        report.rejected
    );
    for reason in &answer.dropped {
        let _ = write!(text, "\nA learning does not count: {reason}");
    }
    let _ = write!(text, "\nThe learnings are in {}.", patterns().path().display());
    Ok(text)
}

/// Asks the model once, without tools and outside of the project.
fn ask(request: &str) -> Result<String, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    let cannot_store = |error: io::Error| format!("cannot store the prompt: {error}");
    let assistant = IsolatedAssistant::new(assistant(), environment(), None, CancellationToken::new());
    let assistant = assistant.map_err(cannot_store)?;
    let shared_part = assistant.share("learnings", &system_prompt()).map_err(cannot_store)?;
    let question = ModelQuestion { model: MODEL.name(), shared_part: &shared_part, text: request };
    match runtime.block_on(assistant.ask(question, None)).outcome {
        CallOutcome::Answer(text) => Ok(text),
        CallOutcome::Failed(reason) | CallOutcome::Fatal(reason) => Err(reason),
        CallOutcome::Oversized => Err("the answer is too long".to_owned()),
        CallOutcome::Stopped => Err("the request was interrupted".to_owned()),
    }
}

/// A command that failed, and the edits since.
struct FailedSessionCommand {
    output: String,
    edits: Vec<String>,
}

/// Collects the commands that failed and passed later, with the edits in between.
fn corrections(records: impl Iterator<Item = AssistantRecord>) -> Vec<(ExcerptKind, String)> {
    let mut calls: BTreeMap<String, String> = BTreeMap::new();
    let mut failed: BTreeMap<String, FailedSessionCommand> = BTreeMap::new();
    let mut corrections = Vec::new();
    for record in records {
        match &record.kind {
            RecordKind::Assistant(message) => {
                for call in message.content.tool_calls() {
                    if call.name == "Bash" {
                        calls.insert(call.id.clone(), call.argument("command").trim().to_owned());
                    }
                    let edit = EDITING.iter().find(|(name, _)| *name == call.name);
                    if let Some((_, argument)) = edit {
                        let text: String = call.argument(argument).chars().take(EDIT_CHARS).collect();
                        let edit = format!("{}:\n{text}", call.argument("file_path"));
                        failed.values_mut().for_each(|command| command.edits.push(edit.clone()));
                    }
                }
            }
            RecordKind::User(content) => corrections.extend(results(content, &calls, &mut failed)),
            _ => {}
        }
    }
    corrections
}

fn results(
    content: &Content,
    calls: &BTreeMap<String, String>,
    failed: &mut BTreeMap<String, FailedSessionCommand>,
) -> Vec<(ExcerptKind, String)> {
    let mut corrections = Vec::new();
    for result in content.tool_results() {
        let Some(command) = calls.get(&result.call) else { continue };
        if result.is_error == Some(true) {
            let output = ToolResult::texts(result).collect::<Vec<_>>().join("\n");
            let excess = output.chars().count().saturating_sub(OUTPUT_CHARS);
            let output = output.chars().skip(excess).collect();
            failed.entry(command.clone()).or_insert(FailedSessionCommand { output, edits: Vec::new() });
        } else if let Some(FailedSessionCommand { output, edits }) = failed.remove(command)
            // Without an edit, the command failed for another reason than the code.
            && !edits.is_empty()
        {
            let edits = edits.into_iter().take(MAX_EDITS).collect::<Vec<_>>().join("\n\n");
            corrections.push((
                ExcerptKind::RepairedCheck,
                format!("The command `{command}` failed, and passed later:\n{output}\n\nEdits in between:\n{edits}"),
            ));
        }
    }
    corrections
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(id: &str, name: &str, input: Value) -> Value {
        json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": id, "name": name, "input": input}]}})
    }

    fn result(id: &str, is_error: bool, text: &str) -> Value {
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": id, "is_error": is_error, "content": text}]}})
    }

    #[test]
    fn command_that_failed_and_passes_after_an_edit_is_a_correction() {
        let test = || json!({"command": "npm test"});
        let edit = || json!({"file_path": "pay.js", "new_string": "cents"});
        let records = [
            call("1", "Bash", test()),
            result("1", true, "expected 100, got 1.0"),
            call("2", "Bash", json!({"command": "ls"})),
            result("2", true, "no such directory"),
            call("3", "Edit", edit()),
            call("4", "Bash", test()),
            result("4", false, "ok"),
        ];
        let of = |records: &[Value]| corrections(records.iter().map(|record| record.clone().into()));
        let found = of(&records);
        assert_eq!(found.len(), 1);
        assert!(found[0].1.contains("npm test") && found[0].1.contains("expected 100, got 1.0"), "{found:?}");
        assert!(found[0].1.contains("pay.js:\ncents"));
        let without_edit: Vec<Value> =
            records.iter().filter(|record| !record.to_string().contains("cents")).cloned().collect();
        assert_eq!(of(&without_edit), []);
        assert_eq!(of(&records[..5]), []);
    }
}
