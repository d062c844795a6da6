//! Formats the assistant's `stream-json` output as readable text.
//!
//! Each record yields a few lines; the end lists the tokens per model. Programs parse the labels of the
//! totals, so these are stable. No decision about a loop depends on this text.

use std::collections::BTreeMap;
use std::io::{self, BufRead, IsTerminal as _, Write};
use std::process::ExitCode;

use serde_json::Value;

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

#[derive(Debug, Default, Clone, Copy)]
struct TokenCounts {
    input: u64,
    output: u64,
    cache_creation: u64,
    cache_read: u64,
}

/// Formatter for one stream, with its token counts.
#[derive(Debug, Default)]
pub struct Formatter {
    color: bool,
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
        match serde_json::from_slice::<Value>(line) {
            Ok(record) => self.record(&record, out),
            Err(_) => Ok(()),
        }
    }

    /// Formats a record.
    ///
    /// # Errors
    /// Fails when the writer fails.
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
            "result" => self.put(
                Style::Green,
                &format!("Result: {}", truncate(text(record, "result"), MAX_EXCERPT)),
                out,
            ),
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

    fn count(&mut self, record: &Value) {
        let Some(usage) = record.pointer("/message/usage") else { return };
        let count = |name: &str| usage.get(name).and_then(Value::as_u64).unwrap_or(0);
        let model = record.pointer("/message/model").and_then(Value::as_str).unwrap_or("unknown");
        let tokens = self.by_model.entry(model.to_owned()).or_default();
        tokens.input += count("input_tokens");
        tokens.output += count("output_tokens");
        // Cached tokens are billed differently, so they are not part of the input.
        tokens.cache_creation += count("cache_creation_input_tokens");
        tokens.cache_read += count("cache_read_input_tokens");
    }

    fn assistant_block(&self, block: &Value, out: &mut dyn Write) -> io::Result<()> {
        match text(block, "type") {
            "text" if !text(block, "text").trim().is_empty() => {
                self.put(Style::Plain, text(block, "text"), out)
            }
            "thinking" => {
                let thought = truncate(&text(block, "thinking").replace('\n', " "), MAX_EXCERPT);
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
        // An empty result is only worth a line when the tool failed.
        let failed = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
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

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn blocks(record: &Value) -> impl Iterator<Item = &Value> {
    record.pointer("/message/content").and_then(Value::as_array).into_iter().flatten()
}

/// Formats the name of a tool with its most relevant argument.
pub fn tool(block: &Value) -> String {
    let name = text(block, "name");
    let input = block.get("input").unwrap_or(&Value::Null);
    let context = match name {
        "Read" | "Edit" | "Write" | "NotebookEdit" => {
            text(input, "file_path").rsplit(['/', '\\']).next().unwrap_or_default().to_owned()
        }
        "Glob" | "Grep" => text(input, "pattern").to_owned(),
        "Bash" => truncate(&text(input, "command").replace('\n', " "), MAX_COMMAND),
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

fn truncate(text: &str, max: usize) -> String {
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

    fn excerpt(records: &[Value]) -> String {
        let mut formatter = Formatter::default();
        let mut out = Vec::new();
        formatter.line(b"{broken", &mut out).unwrap();
        records.iter().for_each(|record| formatter.record(record, &mut out).unwrap());
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
