//! Extracts facts from the assistant's output as it arrives.
//!
//! Every line that starts with `{` is immediately appended to `assistant-output.jsonl` as a whole, displayed,
//! and parsed for the facts that decide about the iteration.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write};
use std::path::Path;
use std::time::Duration;

use loopgate_api::assistant_record::{AssistantRecord, RecordKind, ResultRecord, SystemEvent, ToolResult};
use loopgate_api::ledger::Ledger;
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_api::run_phase::{RunPhase, RunTracker};
use loopgate_home::untrusted;
use loopgate_tools::process::LineBuffer;

use super::agent_results::AgentResults;
use super::display::Display;
use super::failure::{self, KnownFailure};
use super::session_check;

/// Longest line in bytes; the assistant embeds whole images in one. Longer lines are skipped.
pub const MAX_LINE: usize = 32 * 1024 * 1024;
/// Indentation of a code block in Markdown.
const CODE_INDENT: &str = "    ";
/// Command of the plugin with which each iteration starts.
const COMMAND: &str = "code:code";
/// Minimum length of a Markdown code fence.
const FENCE: usize = 3;

/// The last `result` record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunResult {
    /// Whether the assistant reports its run as failed.
    pub is_error: bool,
    /// Result text; for a failure the reason, possibly empty.
    pub text: String,
}

/// Facts about the stream of one assistant run.
#[derive(Debug, Default)]
pub struct RunSummary {
    /// Most recent session id of the stream.
    pub session_id: Option<String>,
    /// The last `result` record.
    pub result: Option<RunResult>,
    /// Whether any `result` record had a text.
    pub has_result_text: bool,
    /// Whether the last text of the main session ends with the promise.
    pub promised: bool,
    /// Whether the model has answered.
    pub answered: bool,
    /// Whether the run has exhausted its budget.
    pub used_up_budget: bool,
    /// Token usage and cost.
    pub ledger: Ledger,
    /// First failure of the kind with the highest precedence; among rate limits, the first with a reset time.
    pub failure: Option<KnownFailure>,
    /// Text of the assistant program instead of an answer of the model, for instance because set-up failed.
    pub refusal: Option<String>,
    /// Why the assistant does not run the command of its prompt: its answer, or the missing command.
    pub unknown_command: Option<String>,
    /// Tools of the session, from the record with which the assistant starts it.
    pub tools: Option<Vec<String>>,
    /// Tools of which the assistant's permissions refused a use.
    pub refused_tools: BTreeSet<String>,
    /// Phase of the run.
    pub tracker: RunTracker,
    /// Answers of subagents, as the assistant prints them.
    pub agent_results: AgentResults,
}

impl RunSummary {
    /// Updates the facts from one record. `promise` is the text inside the promise tag.
    pub fn feed(&mut self, record: &AssistantRecord, promise: &str) {
        self.ledger.feed(record);
        self.tracker.feed(record);
        self.agent_results.feed(record);
        if let Some(id) = &record.session_id {
            self.session_id = Some(id.clone());
        }
        match &record.kind {
            RecordKind::Assistant(message) => {
                self.answered |= !message.is_synthetic() && message.error.is_none();
                let text = message.content.texts().rfind(|text| !text.trim().is_empty());
                if let Some(text) = text.filter(|_| !message.is_of_subagent) {
                    self.promised = ends_with_promise(text, promise);
                }
            }
            RecordKind::Result(result) => self.feed_result(result),
            RecordKind::System(system) => self.feed_event(&system.event),
            RecordKind::User(content) => {
                // A refusal is the only text of the assistant in a user record of a run that did not start.
                self.refusal = content.texts().find_map(refusal).or_else(|| self.refusal.take());
                let results = content.tool_results().flat_map(ToolResult::texts);
                self.refused_tools.extend(results.filter_map(session_check::refused_tool).map(str::to_owned));
            }
            _ => {}
        }
        let refused = self.refusal.as_deref().and_then(session_check::mentioned_refusal);
        self.refused_tools.extend(refused.map(str::to_owned));
        if let Some(failure) = failure::in_record(record)
            && self.failure.as_ref().is_none_or(|known| takes_precedence(&failure, known))
        {
            self.failure = Some(failure);
        }
    }

    /// Returns how long the assistant may be silent before its run is ended; `None` while the model works. After the
    /// promise the loop does not wait for commands in the background, such as a development server.
    #[must_use]
    pub fn silence_limit(&self) -> Option<Duration> {
        match self.tracker.phase() {
            RunPhase::WaitingForTasks if self.promised => RunPhase::Over.silence_limit(),
            phase => phase.silence_limit(),
        }
    }

    /// Returns a failure that the run did not recover from. A successful result clears earlier failures.
    #[must_use]
    pub fn final_failure(&self) -> Option<&KnownFailure> {
        let recovered = self.result.as_ref().is_some_and(|result| !result.is_error && self.has_result_text);
        self.failure.as_ref().filter(|_| !recovered)
    }

    fn feed_event(&mut self, event: &SystemEvent) {
        let SystemEvent::Init { commands, tools, .. } = event else { return };
        // Newer versions pass the text of an unknown command to the model, as if it were a request.
        if commands.as_ref().is_some_and(|commands| !commands.iter().any(|name| name == COMMAND)) {
            self.unknown_command = Some(format!("unknown command: /{COMMAND}"));
        }
        self.tools = tools.clone().or_else(|| self.tools.take());
    }

    fn feed_result(&mut self, result: &ResultRecord) {
        let text = result.reason().unwrap_or_default();
        // Without a turn of the model, the result is a message of the assistant program.
        let is_of_program = !self.answered && result.turns == Some(0);
        self.has_result_text |= !is_of_program && !text.trim().is_empty();
        if is_unknown_command(result, text) {
            self.unknown_command = Some(text.to_owned());
        } else if is_of_program && !text.trim().is_empty() {
            self.refusal = Some(text.to_owned());
        }
        self.used_up_budget = result.is_budget_used_up();
        self.result = Some(RunResult { is_error: result.is_error, text: text.to_owned() });
    }
}

/// Returns whether a later failure takes precedence over the recorded one.
fn takes_precedence(failure: &KnownFailure, known: &KnownFailure) -> bool {
    let is_first_end = failure.resets_at.is_some() && known.resets_at.is_none();
    failure.kind < known.kind || (failure.kind == known.kind && is_first_end)
}

/// Returns whether a text ends with the promise on its own line. In a code block, in a quotation or within a
/// sentence the promise is only mentioned.
fn ends_with_promise(text: &str, promise: &str) -> bool {
    let text = text.trim_end();
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let is_promise = last.trim_start_matches(' ') == format!("<promise>{promise}</promise>");
    is_promise && !last.starts_with(CODE_INDENT) && !is_in_fence(before)
}

/// Returns whether a Markdown code fence is open at the end of a text.
fn is_in_fence(text: &str) -> bool {
    let mut open: Option<&str> = None;
    for line in text.lines().map(str::trim_start) {
        let fence = |sign: char| &line[..line.len() - line.trim_start_matches(sign).len()];
        let Some(marker) = [fence('`'), fence('~')].into_iter().find(|fence| fence.len() >= FENCE) else {
            continue;
        };
        match open {
            None => open = Some(marker),
            Some(opening) if marker.starts_with(opening) && line.len() == marker.len() => open = None,
            Some(_) => {}
        }
    }
    open.is_some()
}

/// Detects a rejected slash command. Such a result has no model turns, so the model cannot imitate it.
fn is_unknown_command(result: &ResultRecord, text: &str) -> bool {
    let unknown = ["Unknown command: /", "Unknown slash command: ", "Unknown skill: "];
    result.turns == Some(0) && unknown.iter().any(|beginning| text.starts_with(beginning))
}

fn refusal(text: &str) -> Option<String> {
    let inner = text.strip_prefix("<local-command-stderr>")?;
    Some(inner.trim_end_matches("</local-command-stderr>").trim().to_owned())
}

/// Destination of a run's output: stream file, display and facts.
pub struct Sink<'a> {
    lines: LineBuffer,
    file: File,
    display: &'a Display,
    promise: &'a str,
    facts: RunSummary,
    failed: Option<io::Error>,
}

impl<'a> Sink<'a> {
    /// Opens the stream file of a work directory for appending, readable by its owner only.
    ///
    /// # Errors
    /// Fails on any file system error.
    pub fn open(workdir: &Path, promise: &'a str, display: &'a Display) -> io::Result<Self> {
        let mut file = untrusted::append(&workdir.join(ASSISTANT_OUTPUT))?;
        // A record that follows half a line would make both unreadable.
        end_last_line(&mut file)?;
        Ok(Self {
            lines: LineBuffer::new(MAX_LINE),
            file,
            display,
            promise,
            facts: RunSummary::default(),
            failed: None,
        })
    }

    /// Processes a piece of the assistant's output.
    pub fn feed(&mut self, piece: &[u8]) {
        // Taken out of `self`, because the closure borrows `self` while the buffer is fed.
        let mut lines = std::mem::replace(&mut self.lines, LineBuffer::new(MAX_LINE));
        let mut whole = Vec::with_capacity(piece.len());
        lines.feed(piece, |line, _| {
            if let Some(line) = line {
                self.line(line, &mut whole);
            }
        });
        self.lines = lines;
        self.flush(&whole);
    }

    /// Returns whether the model has answered.
    pub const fn has_answer(&self) -> bool {
        self.facts.answered
    }

    /// Returns the facts so far.
    pub const fn facts(&self) -> &RunSummary {
        &self.facts
    }

    /// Returns whether output could not be stored.
    pub const fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Returns how long the assistant may be silent before its run is ended; `None` if there is no limit.
    pub fn silence_limit(&self) -> Option<Duration> {
        // Without the plugin's command, the model would work without its instructions.
        if self.facts.unknown_command.is_some() { Some(Duration::ZERO) } else { self.facts.silence_limit() }
    }

    /// Ends the stream and returns the facts and the first write error. A last line without a line break is
    /// included when it is a complete record.
    pub fn finish(mut self) -> (RunSummary, Option<io::Error>) {
        let rest = self.lines.partial().to_vec();
        if serde_json::from_slice::<AssistantRecord>(&rest).is_ok() {
            let mut whole = Vec::new();
            self.line(&rest, &mut whole);
            self.flush(&whole);
        }
        self.display.end_run();
        (self.facts, self.failed)
    }

    fn line(&mut self, line: &[u8], whole: &mut Vec<u8>) {
        // The assistant prints warnings to standard output too; they are not records.
        if line.first() != Some(&b'{') {
            return;
        }
        whole.extend_from_slice(line);
        whole.push(b'\n');
        // A malformed line stays in the file for diagnosis, but is not evaluated.
        if let Ok(record) = serde_json::from_slice(line) {
            self.facts.feed(&record, self.promise);
            self.display.record(&record);
        }
    }

    /// Appends the complete lines of a piece in one write, so that a reader never sees half a line.
    fn flush(&mut self, whole: &[u8]) {
        if !whole.is_empty()
            && let Err(error) = self.file.write_all(whole)
        {
            self.failed.get_or_insert(error);
        }
    }
}

/// Reads the records of a stream file. Malformed lines are skipped.
///
/// # Errors
/// Fails when the file cannot be read.
pub fn read(file: File, mut visit: impl FnMut(&AssistantRecord)) -> io::Result<()> {
    for line in BufReader::new(file).split(b'\n') {
        let line = line?;
        // Same limit as for the live stream, so that a resumed driver sees the same records.
        if line.len() <= MAX_LINE
            && let Ok(record) = serde_json::from_slice(&line)
        {
            visit(&record);
        }
    }
    Ok(())
}

/// Terminates a partial last line of a killed driver, so that the first new record starts on a line of its
/// own.
fn end_last_line(file: &mut File) -> io::Result<()> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    if file.metadata()?.len() == 0 {
        return Ok(());
    }
    let mut last = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut last)?;
    if last[0] == b'\n' { Ok(()) } else { file.write_all(b"\n") }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::formatter::Formatter;

    fn facts(records: &[Value]) -> RunSummary {
        let mut facts = RunSummary::default();
        records.iter().for_each(|record| facts.feed(&record.clone().into(), "COMPLETE"));
        facts
    }

    fn says(text: &str) -> Value {
        json!({"type": "assistant", "parent_tool_use_id": null, "session_id": "s",
               "message": {"content": [{"type": "text", "text": text}]}})
    }

    #[test]
    fn promise_counts_only_in_text_of_the_main_session() {
        assert!(facts(&[says("Done.\n<promise>COMPLETE</promise>\n")]).promised);
        let mut of_subagent = says("<promise>COMPLETE</promise>");
        of_subagent["parent_tool_use_id"] = json!("toolu_1");
        let quoted = json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": "<promise>COMPLETE</promise>"}]}});
        let called = json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "name": "Bash", "input": {"command": "echo '<promise>COMPLETE</promise>'"}}]}});
        for record in [
            of_subagent,
            quoted,
            called,
            says("I will say `<promise>COMPLETE</promise>` later"),
            says("<promise>OTHER</promise>"),
        ] {
            assert!(!facts(std::slice::from_ref(&record)).promised, "{record}");
        }
    }

    #[test]
    fn promise_is_the_last_line_of_the_last_text() {
        let promise = "<promise>COMPLETE</promise>";
        for text in [
            promise.to_owned(),
            format!("```\nlet x;\n```\n\n{promise}\n\n"),
            format!("~~~~\n~~~\n```\n~~~~\n  {promise}"),
            format!("I said {promise}.\n{promise}"),
        ] {
            assert!(facts(&[says(&text)]).promised, "{text}");
        }
        for text in [
            format!("done {promise}"),
            format!("{promise} is what I will say"),
            format!("{promise}\nBut one task is left."),
            format!("I will say\n```\n{promise}\n```"),
            format!("I will say\n```\n{promise}"),
            format!("````text\n```\n{promise}"),
            format!("The rule is:\n\n    {promise}"),
            format!("> {promise}"),
            format!("- {promise}"),
            format!("\"{promise}\""),
        ] {
            assert!(!facts(&[says(&text)]).promised, "{text}");
        }
        assert!(
            !facts(&[says(promise), says("Wait, the tests fail.")]).promised,
            "a later text withdraws the promise"
        );
        assert!(facts(&[says("Not yet."), says(promise)]).promised);
        let tool =
            json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}});
        assert!(facts(&[says(promise), tool]).promised, "a tool call does not withdraw the promise");
    }

    #[test]
    fn successful_result_clears_an_earlier_failure() {
        let limit = json!({"type": "assistant", "error": "rate_limit"});
        let good = json!({"type": "result", "subtype": "success", "is_error": false, "result": "fine"});
        assert!(facts(std::slice::from_ref(&limit)).final_failure().is_some());
        assert!(facts(&[limit, good]).final_failure().is_none());
    }

    #[test]
    fn promise_ends_the_wait_for_commands_in_the_background() {
        let started = json!({"type": "system", "subtype": "task_started", "task_id": "b"});
        let result = json!({"type": "result", "subtype": "success", "result": "ok"});
        let ended = json!({"type": "system", "subtype": "task_notification", "task_id": "b"});
        let over = RunPhase::Over.silence_limit();
        let working = facts(&[started.clone(), says("Not yet.")]);
        assert_eq!(working.silence_limit(), None);
        let waiting = [started.clone(), says("Not yet."), result.clone()];
        assert_eq!(facts(&waiting).silence_limit(), RunPhase::WaitingForTasks.silence_limit());
        let promised = facts(&[started.clone(), says("<promise>COMPLETE</promise>"), result.clone()]);
        assert_eq!(promised.silence_limit(), over);
        assert_eq!(facts(&[started, says("Not yet."), result, ended]).silence_limit(), over);
    }

    #[test]
    fn stream_file_contains_complete_lines_only() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(ASSISTANT_OUTPUT);
        std::fs::write(&path, "{\"half\":").unwrap();
        let display = Display::stream_to(Box::new(io::sink()), Formatter::default());
        let mut sink = Sink::open(dir.path(), "COMPLETE", &display).unwrap();
        sink.feed(b"noise\n{\"type\":\"x\"}\n{\"type\":");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "{\"half\":\n{\"type\":\"x\"}\n");
        sink.feed(b"\"result\",\"result\":\"ok\"}\n{\"cut");
        let (facts, error) = sink.finish();
        assert!(error.is_none() && facts.has_result_text);
        assert_eq!(
            std::fs::read_to_string(&path).unwrap(),
            "{\"half\":\n{\"type\":\"x\"}\n{\"type\":\"result\",\"result\":\"ok\"}\n"
        );
    }

    #[test]
    fn missing_command_and_messages_of_the_program_are_recorded() {
        let init =
            |commands: &[&str]| json!({"type": "system", "subtype": "init", "slash_commands": commands});
        assert!(facts(&[init(&["compact", "code:code"])]).unknown_command.is_none());
        assert!(facts(&[json!({"type": "system", "subtype": "init"})]).unknown_command.is_none());
        assert_eq!(
            facts(&[init(&["compact"])]).unknown_command.as_deref(),
            Some("unknown command: /code:code")
        );
        let failed = json!({"type": "result", "is_error": false, "num_turns": 0,
            "result": "Shell command failed for pattern: Error: no workdir"});
        let facts = facts(&[failed]);
        assert!(facts.refusal.unwrap().contains("no workdir") && !facts.has_result_text);
    }

    #[test]
    fn refusal_of_setup_is_recorded() {
        let record = json!({"type": "user", "message": {"role": "user",
            "content": "<local-command-stderr>Error: no workdir</local-command-stderr>"}});
        assert_eq!(facts(&[record]).refusal.as_deref(), Some("Error: no workdir"));
    }
}
