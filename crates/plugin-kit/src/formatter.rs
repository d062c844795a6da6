//! Formats the assistant's `stream-json` output as readable text.
//!
//! Each record yields a few lines; the end lists the tokens per model. Programs parse the labels of the
//! totals, so these are stable. No decision about a loop depends on this text.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::process::ExitCode;

use loopgate_api::assistant_record::{
    AssistantMessage, AssistantRecord, Block, RecordKind, SystemEvent, ToolResult, ToolUse,
};
use loopgate_api::tokens::ModelTokens;

/// Characters shown of a thought or a result.
const MAX_EXCERPT: usize = 200;
/// Characters shown of a shell command.
const MAX_COMMAND: usize = 80;
/// Lines shown of a tool's result.
const MAX_ANSWER_LINES: usize = 5;

/// Reads `stream-json` from standard input and prints readable text
#[derive(Debug, clap::Args)]
pub struct FormatArgs {}

impl FormatArgs {
    /// Runs until the end of the input. A closed output ends it with exit code 0.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let mut out = io::stdout().lock();
        let mut formatter = Formatter::for_stdout();
        // `split` instead of `lines`: invalid UTF-8 must not end the input; such lines are skipped as
        // malformed.
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if formatter.line(&line, &mut out).and_then(|()| out.flush()).is_err() {
                return ExitCode::SUCCESS;
            }
        }
        let _ = formatter.totals(&mut out);
        ExitCode::SUCCESS
    }
}

/// Formatter for one stream, with its token counts.
#[derive(Debug, Default)]
pub struct Formatter {
    color: bool,
    by_model: BTreeMap<String, ModelTokens>,
}

#[derive(Clone, Copy)]
enum Style {
    Plain,
    Dim,
    Cyan,
    Green,
    Red,
}

impl Formatter {
    /// Creates a formatter with colors if standard output is a terminal and `NO_COLOR` is not set.
    #[must_use]
    pub fn for_stdout() -> Self {
        let color = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { color, ..Self::default() }
    }

    /// Returns a formatter with the same style and no token counts.
    #[must_use]
    pub fn reset(&self) -> Self {
        Self { color: self.color, ..Self::default() }
    }

    /// Formats a line; malformed records are skipped.
    ///
    /// # Errors
    /// Fails when the writer fails.
    pub fn line(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match serde_json::from_slice(line) {
            Ok(record) => self.record(&record, out),
            Err(_) => Ok(()),
        }
    }

    /// Formats a record.
    ///
    /// # Errors
    /// Fails when the writer fails.
    pub fn record(&mut self, record: &AssistantRecord, out: &mut dyn Write) -> io::Result<()> {
        match &record.kind {
            RecordKind::Assistant(message) => {
                self.count(message);
                message.content.blocks().iter().try_for_each(|block| self.assistant_block(block, out))
            }
            RecordKind::User(content) => {
                content.tool_results().try_for_each(|result| self.tool_result(result, out))
            }
            RecordKind::System(system) => {
                let name = match &system.event {
                    SystemEvent::Hook(name) => format!(": {name}"),
                    _ => String::new(),
                };
                self.put(Style::Dim, &format!("[system] {}{name}", system.subtype), out)
            }
            RecordKind::Result(result) => {
                let text = truncate(result.reason().unwrap_or_default(), MAX_EXCERPT);
                self.put(Style::Green, &format!("Result: {text}"), out)
            }
            _ => Ok(()),
        }
    }

    /// Prints the tokens per model and the totals.
    ///
    /// # Errors
    /// Fails when the writer fails.
    pub fn totals(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let (mut input, mut output) = (0, 0);
        for (model, tokens) in &self.by_model {
            input += tokens.input;
            output += tokens.output;
            write!(out, "Model: {model}  Input: {}  Output: {}", tokens.input, tokens.output)?;
            if tokens.cache_creation > 0 {
                write!(out, "  Cache creation: {}", tokens.cache_creation)?;
            }
            if tokens.cache_read > 0 {
                write!(out, "  Cache read: {}", tokens.cache_read)?;
            }
            writeln!(out)?;
        }
        if !self.by_model.is_empty() {
            writeln!(out, "Total input tokens: {input}")?;
            writeln!(out, "Total output tokens: {output}")?;
        }
        Ok(())
    }

    fn count(&mut self, message: &AssistantMessage) {
        let Some(usage) = message.usage else { return };
        let model = message.model.as_deref().unwrap_or("unknown");
        *self.by_model.entry(model.to_owned()).or_default() += usage;
    }

    fn assistant_block(&self, block: &Block, out: &mut dyn Write) -> io::Result<()> {
        match block {
            Block::Text(text) if !text.trim().is_empty() => self.put(Style::Plain, text, out),
            Block::Thinking(thought) => {
                let thought = truncate(&thought.replace('\n', " "), MAX_EXCERPT);
                self.put(Style::Dim, &format!("[thinking] {thought}"), out)
            }
            Block::ToolUse(call) => self.put(Style::Cyan, &tool(call), out),
            _ => Ok(()),
        }
    }

    fn tool_result(&self, result: &ToolResult, out: &mut dyn Write) -> io::Result<()> {
        let content = result.texts().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
        // An empty result is only worth a line when the tool failed.
        let failed = result.is_error == Some(true);
        let (style, prefix) = if failed { (Style::Red, "ERR ") } else { (Style::Dim, "") };
        let lines: Vec<&str> = content.lines().collect();
        let mut excerpt = lines.iter().take(MAX_ANSWER_LINES).copied().collect::<Vec<_>>().join("\n");
        if lines.len() > MAX_ANSWER_LINES {
            excerpt = format!("{excerpt}\n... {} more lines", lines.len() - MAX_ANSWER_LINES);
        }
        if excerpt.is_empty() && !failed {
            Ok(())
        } else {
            self.put(style, &format!("{prefix}{excerpt}"), out)
        }
    }

    fn put(&self, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let code = match style {
            Style::Plain => 0,
            Style::Dim => 2,
            Style::Cyan => 36,
            Style::Green => 32,
            Style::Red => 31,
        };
        if self.color && code != 0 {
            writeln!(out, "\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            writeln!(out, "{text}")
        }
    }
}

/// Formats the name of a tool with its most relevant argument.
pub fn tool(call: &ToolUse) -> String {
    let name = call.name.as_str();
    let context = match name {
        "Read" | "Edit" | "Write" | "NotebookEdit" => {
            call.argument("file_path").rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
        }
        "Glob" | "Grep" => call.argument("pattern").to_owned(),
        "Bash" => truncate(&call.argument("command").replace('\n', " "), MAX_COMMAND),
        "Task" | "Agent" => format!("[{}] {}", call.argument("subagent_type"), call.argument("description")),
        _ => {
            let arguments = ["url", "query", "skill"].map(|member| call.argument(member));
            arguments.into_iter().find(|value| !value.is_empty()).unwrap_or_default().to_owned()
        }
    };
    format!("{name} {context}").trim_end().to_owned()
}

fn truncate(text: &str, max: usize) -> String {
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn excerpt(records: &[Value]) -> String {
        let mut formatter = Formatter::default();
        let mut out = Vec::new();
        formatter.line(b"{broken", &mut out).unwrap();
        records.iter().for_each(|record| formatter.record(&record.clone().into(), &mut out).unwrap());
        formatter.totals(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    // PL-34
    #[test]
    fn tokens_are_counted_per_model() {
        let answer_of = |model: &str, read: u64| {
            json!({"type": "assistant", "message": {"model": model, "content": [],
                "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": read}}})
        };
        assert_eq!(
            excerpt(&[answer_of("b", 0), answer_of("a", 7), answer_of("b", 0)]),
            "Model: a  Input: 10  Output: 2  Cache read: 7\nModel: b  Input: 20  Output: 4\n\
             Total input tokens: 30\nTotal output tokens: 6\n"
        );
    }

    #[test]
    fn each_kind_of_record_is_formatted() {
        let assistant = json!({"type": "assistant", "message": {"content": [
            {"type": "text", "text": "Hello"},
            {"type": "thinking", "thinking": "a\nb"},
            {"type": "tool_use", "name": "Read", "input": {"file_path": "/x/y.rs"}},
            {"type": "tool_use", "name": "Task", "input": {"subagent_type": "code:x", "description": "draft"}}]}});
        let user = json!({"type": "user", "message": {"content": [
            {"type": "tool_result", "content": [{"type": "text", "text": "1\n2\n3\n4\n5\n6\n7"}]},
            {"type": "tool_result", "is_error": true, "content": "no"}]}});
        let hook = json!({"type": "system", "subtype": "hook_started", "hook_name": "SessionStart:startup"});
        let result = json!({"type": "result", "result": "x".repeat(201)});
        assert_eq!(
            excerpt(&[assistant, user, hook, result]),
            format!(
                "Hello\n[thinking] a b\nRead y.rs\nTask [code:x] draft\n1\n2\n3\n4\n5\n... 2 more lines\nERR no\n\
                 [system] hook_started: SessionStart:startup\nResult: {}...\n",
                "x".repeat(200)
            )
        );
    }
}
