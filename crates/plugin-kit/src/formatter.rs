//! Readable text from the assistant's `stream-json` output.
//!
//! One record in, a few lines out; at the end the tokens a model. The labels of the totals are read by
//! programs and never change. Nothing here decides about a loop.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::process::ExitCode;

use serde_json::Value;

/// Characters of a thought or result that are shown.
const EXCERPT: usize = 200;
/// Characters of a command that are shown.
const COMMAND: usize = 80;
/// Lines of a tool's answer that are shown.
const ANSWER_LINES: usize = 5;

/// `loopgate stream format`: reads `stream-json` from standard input and prints readable text.
#[derive(Debug, clap::Args)]
pub struct FormatArgs {}

impl FormatArgs {
    /// Runs until the input ends; a reader that leaves early is no error.
    #[must_use]
    pub fn run(self) -> ExitCode {
        let mut out = io::stdout().lock();
        let mut formatter = Formatter::for_stdout();
        // Lines that are no text are skipped like any other broken record.
        for line in io::stdin().lock().split(b'\n').map_while(Result::ok) {
            if formatter.line(&line, &mut out).and_then(|()| out.flush()).is_err() {
                return ExitCode::SUCCESS;
            }
        }
        let _ = formatter.totals(&mut out);
        ExitCode::SUCCESS
    }
}

#[derive(Debug, Default, Clone, Copy)]
struct TokenCounts {
    input: u64,
    output: u64,
    cache_creation: u64,
    cache_read: u64,
}

/// Formats one stream.
#[derive(Debug, Default)]
pub struct Formatter {
    colour: bool,
    by_model: BTreeMap<String, TokenCounts>,
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
    /// Coloured when standard output is a terminal and `NO_COLOR` is not set.
    #[must_use]
    pub fn for_stdout() -> Self {
        let colour = io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none();
        Self { colour, ..Self::default() }
    }

    /// A formatter of the same style that has counted nothing yet.
    #[must_use]
    pub fn renewed(&self) -> Self {
        Self { colour: self.colour, ..Self::default() }
    }

    /// Formats a line; what is no record is skipped.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn line(&mut self, line: &[u8], out: &mut dyn Write) -> io::Result<()> {
        match serde_json::from_slice::<Value>(line) {
            Ok(record) => self.record(&record, out),
            Err(_) => Ok(()),
        }
    }

    /// Formats a record.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn record(&mut self, record: &Value, out: &mut dyn Write) -> io::Result<()> {
        match text(record, "type") {
            "assistant" => {
                self.count(record);
                blocks(record).try_for_each(|block| self.assistant_block(block, out))
            }
            "user" => blocks(record)
                .filter(|block| text(block, "type") == "tool_result")
                .try_for_each(|block| self.answer(block, out)),
            "system" => {
                let name =
                    ["hook_name", "hook_event"].iter().map(|name| text(record, name)).find(|n| !n.is_empty());
                let name = name.map(|name| format!(": {name}")).unwrap_or_default();
                self.put(Style::Dim, &format!("[system] {}{name}", text(record, "subtype")), out)
            }
            "result" => {
                self.put(Style::Green, &format!("Result: {}", cut(text(record, "result"), EXCERPT)), out)
            }
            _ => Ok(()),
        }
    }

    /// Prints the tokens a model, then the totals.
    ///
    /// # Errors
    /// Those of the writer.
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

    fn count(&mut self, record: &Value) {
        let Some(usage) = record.pointer("/message/usage") else { return };
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let model = record.pointer("/message/model").and_then(Value::as_str).unwrap_or("unknown");
        let tokens = self.by_model.entry(model.to_owned()).or_default();
        tokens.input += count("input_tokens");
        tokens.output += count("output_tokens");
        tokens.cache_creation += count("cache_creation_input_tokens");
        tokens.cache_read += count("cache_read_input_tokens");
    }

    fn assistant_block(&self, block: &Value, out: &mut dyn Write) -> io::Result<()> {
        match text(block, "type") {
            "text" if !text(block, "text").trim().is_empty() => {
                self.put(Style::Plain, text(block, "text"), out)
            }
            "thinking" => {
                let thought = cut(&text(block, "thinking").replace('\n', " "), EXCERPT);
                self.put(Style::Dim, &format!("[thinking] {thought}"), out)
            }
            "tool_use" => self.put(Style::Cyan, &tool(block), out),
            _ => Ok(()),
        }
    }

    fn answer(&self, block: &Value, out: &mut dyn Write) -> io::Result<()> {
        let content = match block.get("content") {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => parts
                .iter()
                .map(|part| text(part, "text"))
                .filter(|t| !t.is_empty())
                .collect::<Vec<_>>()
                .join("\n"),
            _ => String::new(),
        };
        let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
        let (style, prefix) = if failed { (Style::Red, "ERR ") } else { (Style::Dim, "") };
        let lines: Vec<&str> = content.lines().collect();
        let mut shown = lines.iter().take(ANSWER_LINES).copied().collect::<Vec<_>>().join("\n");
        if lines.len() > ANSWER_LINES {
            shown = format!("{shown}\n... {} more lines", lines.len() - ANSWER_LINES);
        }
        if shown.is_empty() && !failed { Ok(()) } else { self.put(style, &format!("{prefix}{shown}"), out) }
    }

    fn put(&self, style: Style, text: &str, out: &mut dyn Write) -> io::Result<()> {
        let code = match style {
            Style::Plain => 0,
            Style::Dim => 2,
            Style::Cyan => 36,
            Style::Green => 32,
            Style::Red => 31,
        };
        if self.colour && code != 0 {
            writeln!(out, "\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            writeln!(out, "{text}")
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn blocks(record: &Value) -> impl Iterator<Item = &Value> {
    record.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// Name of a tool and what it works on.
pub fn tool(block: &Value) -> String {
    let name = text(block, "name");
    let input = block.get("input").unwrap_or(&Value::Null);
    let context = match name {
        "Read" | "Edit" | "Write" | "NotebookEdit" => {
            text(input, "file_path").rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
        }
        "Glob" | "Grep" => text(input, "pattern").to_owned(),
        "Bash" => cut(&text(input, "command").replace('\n', " "), COMMAND),
        "Task" | "Agent" => format!("[{}] {}", text(input, "subagent_type"), text(input, "description")),
        _ => ["url", "query", "skill"]
            .iter()
            .map(|member| text(input, member))
            .find(|value| !value.is_empty())
            .unwrap_or_default()
            .to_owned(),
    };
    format!("{name} {context}").trim_end().to_owned()
}

fn cut(text: &str, max: usize) -> String {
    let mut short: String = text.chars().take(max).collect();
    if short.len() < text.len() {
        short.push_str("...");
    }
    short
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shown(records: &[Value]) -> String {
        let mut formatter = Formatter::default();
        let mut out = Vec::new();
        formatter.line(b"{broken", &mut out).unwrap();
        records.iter().for_each(|record| formatter.record(record, &mut out).unwrap());
        formatter.totals(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    // PL-34
    #[test]
    fn two_models_are_counted_apart() {
        let said = |model: &str, read: u64| {
            json!({"type": "assistant", "message": {"model": model, "content": [],
                "usage": {"input_tokens": 10, "output_tokens": 2, "cache_read_input_tokens": read}}})
        };
        assert_eq!(
            shown(&[said("b", 0), said("a", 7), said("b", 0)]),
            "Model: a  Input: 10  Output: 2  Cache read: 7\nModel: b  Input: 20  Output: 4\n\
             Total input tokens: 30\nTotal output tokens: 6\n"
        );
    }

    #[test]
    fn each_record_has_its_form() {
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
            shown(&[assistant, user, hook, result]),
            format!(
                "Hello\n[thinking] a b\nRead y.rs\nTask [code:x] draft\n1\n2\n3\n4\n5\n... 2 more lines\nERR no\n\
                 [system] hook_started: SessionStart:startup\nResult: {}...\n",
                "x".repeat(200)
            )
        );
    }
}
