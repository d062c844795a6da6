//! Answers of subagents as the assistant's stream reports them.
//!
//! The answers that the hooks store are files, and every program that the assistant starts can write files. The driver
//! reads the stream itself, so an answer that completes a task must also be in it.

use std::collections::HashMap;
use std::io;
use std::path::Path;

use loopgate_api::assistant_record::{AssistantRecord, Content, RecordKind, SystemEvent, ToolResult};
use loopgate_api::names::ASSISTANT_OUTPUT;
use loopgate_home::untrusted;
use serde::Deserialize;

use super::stream;
use crate::plan::AgentStatement;

/// Names of the tool that starts a subagent, the earlier one last.
const AGENT_TOOLS: [&str; 2] = ["Agent", "Task"];
/// Text before the answer of a subagent that a message continued.
const ANSWER_MARK: &str = "Result:\n\n";
/// Start of the line after which newer assistants print the answer. Only the lines of the answer are indented.
const FRAME: &str = "[Subagent hand-back]";
const INDENTATION: &str = "  ";

/// Answers of subagents that ran in the foreground.
#[derive(Debug, Default)]
pub struct AgentResults {
    /// Types of the subagents by the id of the call that started or continued them.
    calls: HashMap<String, String>,
    statements: Vec<AgentStatement>,
}

impl AgentResults {
    /// Reads the answers from the stream file of an interrupted loop.
    ///
    /// # Errors
    /// Fails on any file system error except a missing file.
    pub fn of_stream(workdir: &Path) -> io::Result<Self> {
        let mut results = Self::default();
        match untrusted::open(&workdir.join(ASSISTANT_OUTPUT)) {
            Ok(file) => stream::read(file, |record| results.feed(record))?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(results)
    }

    /// Takes the subagents and their answers from a record.
    pub fn feed(&mut self, record: &AssistantRecord) {
        match &record.kind {
            RecordKind::System(system) => {
                if let SystemEvent::TaskStarted { call: Some(call), agent_type: Some(agent_type), .. } =
                    &system.event
                {
                    self.calls.insert(call.clone(), agent_type.clone());
                }
            }
            RecordKind::Assistant(message) if !message.is_of_subagent => {
                let calls = message.content.tool_calls();
                let starts = calls.filter(|call| AGENT_TOOLS.contains(&call.name.as_str()));
                self.calls
                    .extend(starts.map(|call| (call.id.clone(), call.argument("subagent_type").to_owned())));
            }
            RecordKind::User(content) => self.feed_results(content),
            _ => {}
        }
    }

    fn feed_results(&mut self, content: &Content) {
        for result in content.tool_results() {
            if let Some(agent_type) = self.calls.get(&result.call) {
                let text = ToolResult::texts(result).map(answer).collect::<Vec<_>>().join("\n");
                self.statements.push(AgentStatement { agent_type: agent_type.clone(), text });
            }
        }
    }

    /// Adds the answers of a later run.
    pub fn append(&mut self, later: Self) {
        self.statements.extend(later.statements);
    }

    /// Returns the answers, in order.
    pub fn statements(&self) -> &[AgentStatement] {
        &self.statements
    }
}

/// Returns the answer in the text of a result. The result of a message to a subagent is a JSON object.
fn answer(text: &str) -> String {
    #[derive(Deserialize)]
    struct Continued {
        message: String,
    }
    let continued = serde_json::from_str::<Continued>(text);
    let answer = continued.ok().and_then(|it| Some(it.message.split_once(ANSWER_MARK)?.1.to_owned()));
    without_frame(answer.as_deref().unwrap_or(text))
}

/// Removes what an assistant prints around an answer. The notes before the frame may quote other texts.
fn without_frame(text: &str) -> String {
    let mut lines = text.lines().skip_while(|line| !line.starts_with(FRAME));
    if lines.next().is_none() {
        return text.to_owned();
    }
    let of_answer = lines.map_while(|line| match line.strip_prefix(INDENTATION) {
        Some(line) => Some(line),
        None => line.is_empty().then_some(line),
    });
    of_answer.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn statements(records: &[Value]) -> Vec<(String, String)> {
        let mut results = AgentResults::default();
        records.iter().for_each(|record| results.feed(&record.clone().into()));
        let pair = |statement: &AgentStatement| (statement.agent_type.clone(), statement.text.clone());
        results.statements().iter().map(pair).collect()
    }

    fn started(call: &str) -> Value {
        json!({"type": "system", "subtype": "task_started", "task_id": "a", "tool_use_id": call,
               "subagent_type": "code:task-reviewer"})
    }

    fn ended(call: &str, text: &str) -> Value {
        json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "tool_use_id": call, "content": [{"type": "text", "text": text}]}]}})
    }

    #[test]
    fn answers_of_started_and_continued_agents_are_read() {
        let continued = json!({"success": true, "message": "Agent \"a\" ran.\nResult:\n\nVERIFIED: T-1.1"});
        let records = [started("1"), ended("1", "UNCLEAR"), started("2"), ended("2", &continued.to_string())];
        let reviewer = |text: &str| ("code:task-reviewer".to_owned(), text.to_owned());
        assert_eq!(statements(&records), [reviewer("UNCLEAR"), reviewer("VERIFIED: T-1.1")]);
    }

    #[test]
    fn answers_are_read_without_their_frame() {
        let framed = "A note quotes VERIFIED: T-9.9\n[Subagent hand-back] The report follows:\n  NOT_IMPLEMENTED: T-1.1\n\n  \
                      missing:\n  - all\nagentId: a\nVERIFIED: T-9.9";
        let continued = format!(
            "{}\n  <tools-used-before-summary>Write</tools-used-before-summary>\n{framed}",
            json!({"message": "Resumed."})
        );
        for text in [framed, &continued] {
            let answer = "NOT_IMPLEMENTED: T-1.1\n\nmissing:\n- all".to_owned();
            assert_eq!(
                statements(&[started("1"), ended("1", text)]),
                [("code:task-reviewer".to_owned(), answer)]
            );
        }
    }

    #[test]
    fn type_of_an_agent_is_also_read_from_its_call() {
        let call = json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "1", "name": "Task", "input": {"subagent_type": "x"}}]}});
        assert_eq!(statements(&[call, ended("1", "done")]), [("x".to_owned(), "done".to_owned())]);
    }

    #[test]
    fn results_of_other_tools_are_no_answers() {
        let call = json!({"type": "assistant", "message": {"content": [
            {"type": "tool_use", "id": "1", "name": "Bash", "input": {"subagent_type": "x"}}]}});
        assert_eq!(statements(&[call, ended("1", "VERIFIED"), ended("2", "VERIFIED")]), []);
    }
}
